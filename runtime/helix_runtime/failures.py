"""How the subject failed: runs that ended in an error, grouped by their cause.

A subject that crashes on every case leaves every criterion open with the same words.
Here it is one finding: on how many runs, why, and on which cases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .earliest import Earliest, Order
from .safe_text import ELLIPSIS

if TYPE_CHECKING:
    from .case import Case
    from .trace import Trace

MAX_CAUSES: Final = 5
"""How many causes a scorecard names, the most frequent first."""
MAX_COUNTED: Final = 1_000
"""How many different causes are told apart; more of them are counted as one."""
MAX_CASES: Final = 5
MAX_CAUSE: Final = 600
MAX_TRACEBACK: Final = 8_000
OTHER: Final = "other errors: see traces.jsonl"

_PLACE: Final = re.compile(r"([^\s:]+:\d+): (.+)", re.DOTALL)
_FRAME: Final = re.compile(r'^\s*File "([^"\n]+)", line (\d+)', re.MULTILINE)
_TRACEBACK: Final = "Traceback (most recent call last)"


class SubjectFailures:
    """Counts the failed runs of a subject by their causes; in flat memory."""

    def __init__(self) -> None:
        self._failed = 0
        self._causes: dict[str, _Cause] = {}

    def add(self, trace: Trace, *, case: Case, sequence: int, repeat: int) -> None:
        """Count a run, where it is a failed one."""
        if trace.status != "error" or trace.incomplete is None:
            return
        self._failed += 1
        text = cause_of(error_of(trace) or "it ended with the status error")
        if text not in self._causes and len(self._causes) >= MAX_COUNTED:
            text = OTHER
        cause = self._causes.get(text)
        if cause is None:
            cause = self._causes[text] = _Cause()
        cause.runs += 1
        if cause.cases.wants(sequence):
            order = (sequence, case.id, repeat, 0)
            cause.first = order if cause.first is None else min(cause.first, order)
            cause.cases.add(order, case.id, (case.id, case.item or case.scenario))

    def to_record(self, runs: int) -> dict[str, Any] | None:
        """Return the block of the scorecard, of so many runs; None where none failed."""
        if not self._failed:
            return None
        causes = sorted(
            self._causes.items(), key=lambda entry: (-entry[1].runs, entry[1].first)
        )
        return {
            "failed": self._failed,
            "of": runs,
            "causes": [
                {"text": text, "runs": cause.runs, "cases": cause.named()}
                for text, cause in causes[:MAX_CAUSES]
            ],
            "more": len(causes[MAX_CAUSES:]),
        }


class _Cause:
    __slots__ = ("cases", "first", "runs")

    def __init__(self) -> None:
        self.runs = 0
        self.first: Order | None = None
        self.cases: Earliest[str, tuple[str, str | None]] = Earliest(MAX_CASES)

    def named(self) -> list[dict[str, str]]:
        """Return the earliest of its cases."""
        return [
            {"caseId": case_id, **({} if name is None else {"name": name})}
            for case_id, name in self.cases.values()
        ]


def error_of(trace: Trace) -> str | None:
    """Return what the runner kept of a subject's failure, or None."""
    helix = trace.ext.get("helix")
    error = helix.get("error") if isinstance(helix, Mapping) else None
    return error if isinstance(error, str) and error.strip() else None


def cause_of(error: str) -> str:
    """Return why, in one line with its place last: `KeyError: 'x' (target.py:22)`.

    Of a traceback on stderr that is its last line, not its first ones.
    """
    found = _PLACE.fullmatch(error)
    if found is not None and _TRACEBACK not in error:
        return f"{bounded(_one_line(found[2]))} ({found[1]})"
    head, mark, traceback = error.partition(_TRACEBACK)
    if not mark:
        return bounded(_one_line(error))
    lines = [line for line in traceback.splitlines() if line.strip()]
    head = _one_line(head.removesuffix(" ")).removesuffix("stderr:").strip("; ")
    last = _one_line(lines[-1]) if lines else ""
    frames = _FRAME.findall(traceback)
    place = ""
    if frames:
        name = re.split(r"[\\/]", frames[-1][0])[-1]
        place = f" ({name}:{frames[-1][1]})"
    return bounded(": ".join(part for part in (head, last) if part)) + place


def traceback_of(error: BaseException) -> str:
    """Return an exception's traceback from the user's own code on, bounded."""
    from pathlib import Path
    from traceback import format_exception

    here = str(Path(__file__).parent)
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(here):
        trace = trace.tb_next
    try:
        text = "".join(format_exception(type(error), error, trace))
    except Exception:  # its `__str__` raises
        text = type(error).__name__
    return bounded(text.rstrip(), MAX_TRACEBACK)


def bounded(text: str, limit: int = MAX_CAUSE) -> str:
    """Return a text cut in its middle: what matters stands at its ends."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return text[:head] + f" {ELLIPSIS} " + text[len(text) - (limit - head - 3) :]


def _one_line(text: str) -> str:
    return " ".join(text.split())
