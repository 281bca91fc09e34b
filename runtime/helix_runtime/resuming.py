"""Whether a run that is gone on with is still a run of the same subject.

What the journal holds was answered by the subject that the run began with. Another one
by now (another target, other options of it, traces in place of it) is another run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from .canonical import canonical, content_key
from .folder import SuiteFolder, read_run_record
from .refusal import Refusal
from .selection import OUTLIVED
from .settings import Settings

_SUBJECT: Final = "subject_digest"
_MODULE: Final = "target_py_digest"


def subject_record(
    ref: str | None, settings: Settings, folder: SuiteFolder, traces: Sequence[Path]
) -> dict[str, str]:
    """Return what `run.json` keeps of the subject: its digest, and that of `target.py`.

    `ref` is what the command line names; `traces` are the recorded runs in its place.
    """
    if traces:
        return {_SUBJECT: content_key("traces")}
    named = ref or settings.target or ""
    found = {_SUBJECT: content_key(named, canonical(settings.target_table))}
    own = folder.package_folder / "target.py"
    if named in ("", f"python:{folder.package}.target:target") and own.is_file():
        found[_MODULE] = content_key(own.read_bytes().hex())
    return found


def same_baseline(run: Path, record: dict[str, Any]) -> None:
    """Raise Refusal where a run would go on with another baseline than it began with."""
    from .baseline.chosen import CONTENT

    kept = read_run_record(run) or {}
    before = kept.get("arguments")
    before = before if isinstance(before, dict) else {}
    if before.get(CONTENT) != record.get(CONTENT):
        raise Refusal(
            f"{run.name} began with another baseline, or with none: name the one that it "
            "began with, or start a new run for it"
        )


def same_subject(run: Path, record: dict[str, Any]) -> list[str]:
    """Return what stands beside the gate of a run that goes on with `record`.

    Of an edited `target.py` the digest that the run began with is kept in `record`.
    Raises Refusal where it would be another subject that goes on.
    """
    kept = read_run_record(run) or {}
    before = kept.get("arguments")
    before = before if isinstance(before, dict) else {}
    if before.get(_SUBJECT, record[_SUBJECT]) != record[_SUBJECT]:
        was = kept.get("target") or "recorded traces"
        raise Refusal(
            f"{run.name} is a run of {was}, and evals.toml says something else of "
            "the subject by now: start a new run for it"
        )
    began = before.get(_MODULE)
    if _MODULE not in record or began in (None, record[_MODULE]):
        return []
    record[_MODULE] = began
    return [f"{OUTLIVED}target.py was edited after some of its runs were recorded"]
