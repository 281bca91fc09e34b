"""Whether a run that is gone on with is still a run of the same subject.

What the journal holds was answered by the subject that the run began with. Another one
by now (another target, other options of it, traces in place of it) is another run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .canonical import canonical, content_key
from .folder import read_run_record
from .refusal import Refusal
from .selection import OUTLIVED
from .settings import Settings

_SUBJECT: Final = "subject_digest"
_CODE: Final = "target_code"
_NAMED: Final = 5


def subject_record(
    ref: str | None, settings: Settings, traces: Sequence[Path]
) -> dict[str, str]:
    """Return what `run.json` keeps of the subject before it is loaded: its digest.

    `ref` is what the command line names; `traces` are the recorded runs in its place.
    """
    if traces:
        return {_SUBJECT: content_key("traces")}
    named = ref or settings.target or ""
    return {_SUBJECT: content_key(named, canonical(settings.target_table))}


def same_baseline(run: Path, record: dict[str, Any]) -> None:
    """Raise Refusal where a run would go on with another baseline than it began with."""
    from .baseline.chosen import CONTENT

    kept = read_run_record(run) or {}
    if _arguments(kept).get(CONTENT) != record.get(CONTENT):
        raise Refusal(
            f"{run.name} began with another baseline, or with none: name the one that it "
            "began with, or start a new run for it"
        )


def same_subject(run: Path, record: dict[str, Any]) -> None:
    """Raise Refusal where it would be another subject that goes on with a run."""
    kept = read_run_record(run) or {}
    before = _arguments(kept)
    if before.get(_SUBJECT, record[_SUBJECT]) != record[_SUBJECT]:
        was = kept.get("target") or "recorded traces"
        raise Refusal(
            f"{run.name} is a run of {was}, and evals.toml says something else of "
            "the subject by now: start a new run for it"
        )


def same_code(
    run: Path | None, record: dict[str, Any], code: Mapping[str, str]
) -> list[str]:
    """Put the code that the target was loaded from into `record`; return what to say.

    That stands beside the gate of a `run` that is gone on with where a file of it was
    edited since: of such a file the key that the run began with is kept.
    """
    began = {} if run is None else _arguments(read_run_record(run) or {}).get(_CODE)
    if not isinstance(began, dict):
        began = {}
    edited = [name for name, key in code.items() if began.get(name, key) != key]
    record[_CODE] = dict(sorted({**code, **began}.items()))
    if not edited:
        return []
    more = f" and {len(edited) - _NAMED} more" if len(edited) > _NAMED else ""
    were = "was" if len(edited) == 1 else "were"
    return [
        f"{OUTLIVED}{', '.join(edited[:_NAMED])}{more} {were} edited after some of its "
        "runs were recorded"
    ]


def _arguments(record: Mapping[str, Any]) -> Mapping[str, Any]:
    found = record.get("arguments")
    return found if isinstance(found, dict) else {}
