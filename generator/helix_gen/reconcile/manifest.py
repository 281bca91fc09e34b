"""The manifest: what was generated, from what, and what was left on disk.

`.helix/manifest.json` lives with the suite in version control. It has no clock, no
absolute path and one order, so that the same inputs give the same bytes. Beside it
stand `.helix/base/<path>.base` (the pristine text of each merged file) and
`.helix/rows.txt` (each dataset row that was ever generated).

It is read as input from a stranger: paths that could lead out of the folder,
duplicate keys and a newer format are refused, and a manifest that can't be read is
explained and never overwritten.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from ..problems import Problem
from .paths import STATE, Folder, path_fault

FORMAT: Final = 1
MANIFEST: Final = f"{STATE}/manifest.json"
SUMMARY: Final = f"{STATE}/summary.json"
ROWS: Final = f"{STATE}/rows.txt"
STAGING: Final = f"{STATE}/staging"
OWNERSHIPS: Final = ("owned", "merged", "seeded", "append-only")


def base_path(path: str) -> str:
    """Return where the pristine text of a merged file stands."""
    return f"{STATE}/base/{path}.base"


def pending_path(path: str) -> str:
    """Return where the pristine text stands that an open conflict waits for."""
    return f"{STATE}/base/{path}.pending"


def conflict_path(path: str) -> str:
    """Return where the conflicts of a file are shown to its owner."""
    return f"{STATE}/conflicts/{path}.md"


def kept_path(path: str, number: int) -> str:
    """Return where an edited text is kept before it is replaced."""
    suffix = "" if number == 1 else str(number)
    return f"{STATE}/kept/{path}.kept{suffix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the manifest knows of one file.

    `generated` is the checksum of the pristine text and `left` that of the file when
    the run ended (None: its owner had deleted it). `pending` is the checksum of a
    newer pristine text that waits for a conflict to be resolved, `report` that of the
    page that shows the conflict. `retired` marks a file that is generated no more but
    was kept for its edits. `units` maps the names of a Python file's units to the ids
    in the spec that they come from. `settings` is what of the overlay a file of its
    owner's is known to follow.
    """

    ownership: str
    generated: str
    left: str | None
    pending: str | None = None
    report: str | None = None
    retired: bool = False
    units: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def to_record(self) -> dict[str, Any]:
        """Return the entry's JSON; what is empty is left out."""
        record: dict[str, Any] = {
            "generated": self.generated,
            "left": self.left,
            "ownership": self.ownership,
        }
        if self.pending is not None:
            record["pending"] = self.pending
        if self.report is not None:
            record["report"] = self.report
        if self.retired:
            record["retired"] = True
        if self.units:
            record["units"] = dict(self.units)
        if self.settings:
            record["settings"] = dict(self.settings)
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest: the generator, the checksums of its inputs, and the files.

    `inputs` is plain data that two runs compare: spec, overlay, items and options.
    `slug` names the suite; `summary` is the checksum of `.helix/summary.json`.
    """

    generator: Mapping[str, str]
    inputs: Mapping[str, Any]
    slug: str
    files: Mapping[str, Entry]
    summary: str = ""

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The files whose conflict is still open, sorted."""
        return tuple(p for p, e in sorted(self.files.items()) if e.pending is not None)

    def to_bytes(self) -> bytes:
        """Return the one text of the manifest."""
        record = {
            "files": {path: entry.to_record() for path, entry in self.files.items()},
            "format": FORMAT,
            "generator": dict(self.generator),
            "inputs": dict(self.inputs),
            "slug": self.slug,
            "summary": self.summary,
        }
        return (json.dumps(record, indent=2, sort_keys=True) + "\n").encode()


class ManifestFault(Exception):
    """Why a manifest can't be used; the message is for the user."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


REBUILD_HINT: Final = (
    "restore it from version control; or run again with --rebuild, which makes it anew "
    "from what is there and overwrites no edit"
)


def read_manifest(folder: Folder) -> Manifest | None:
    """Return the manifest of a folder, or None where there is none.

    A manifest that can't be used is a problem of the folder, and None.
    """
    before = len(folder.problems)
    data = folder.read(MANIFEST)
    if data is None or len(folder.problems) > before:
        return None
    try:
        return parse_manifest(data)
    except ManifestFault as fault:
        folder.problems.append(
            Problem(
                code=fault.code,
                level="error",
                message=str(fault),
                file=os.path.join(folder.root, MANIFEST),
                hint=fault.hint,
            )
        )
        return None


def parse_manifest(data: bytes) -> Manifest:
    """Return the manifest of its text. Raises ManifestFault that says what is wrong."""
    try:
        record = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        raise _broken(f"it is not valid JSON ({error})") from error
    if not isinstance(record, dict):
        raise _broken("it is not a JSON object")
    version = record.get("format")
    if isinstance(version, int) and not isinstance(version, bool) and version > FORMAT:
        raise ManifestFault(
            "HX705",
            f"this suite was written by a newer helix-gen (manifest format {version}; "
            f"this one reads up to {FORMAT})",
            "upgrade helix-gen; nothing was touched",
        )
    if version != FORMAT:
        raise _broken(f"its `format` is {version!r}, not {FORMAT}")
    generator = record.get("generator")
    if not _is_texts(generator):
        raise _broken("`generator` must be an object of texts")
    inputs = record.get("inputs")
    if not isinstance(inputs, dict):
        raise _broken("`inputs` must be an object")
    slug, summary = record.get("slug"), record.get("summary")
    if not isinstance(slug, str) or not isinstance(summary, str):
        raise _broken("`slug` and `summary` must be texts")
    return Manifest(
        generator=generator,
        inputs=inputs,
        slug=slug,
        files=_files(record.get("files")),
        summary=summary,
    )


def _files(record: object) -> dict[str, Entry]:
    if not isinstance(record, dict):
        raise _broken("`files` must be an object")
    files: dict[str, Entry] = {}
    folded: dict[str, str] = {}
    for path, entry in record.items():
        fault = path_fault(path)
        if fault is None and path.split("/")[0] == STATE:
            fault = "it names the generator's own memory"
        if fault is not None:
            raise _broken(f"the path {path[:80]!r} is refused: {fault}")
        # Two names that are one file where the file system ignores case.
        other = folded.setdefault(path.casefold(), path)
        if other != path:
            raise _broken(f"the paths {other!r} and {path!r} are duplicates")
        files[path] = _entry(path, entry)
    return files


def _entry(path: str, record: object) -> Entry:
    if not isinstance(record, dict):
        raise _broken(f"the entry of {path!r} must be an object")
    ownership = record.get("ownership")
    if ownership not in OWNERSHIPS:
        raise _broken(f"{path!r} has the ownership {ownership!r}")
    left, pending = record.get("left"), record.get("pending")
    report = record.get("report")
    generated = record.get("generated")
    if not _is_checksum(generated):
        raise _broken(f"the checksum `generated` of {path!r} is not one")
    if left is not None and not _is_checksum(left):
        raise _broken(f"the checksum `left` of {path!r} is not one")
    if pending is not None and not _is_checksum(pending):
        raise _broken(f"the checksum `pending` of {path!r} is not one")
    if report is not None and not _is_checksum(report):
        raise _broken(f"the checksum `report` of {path!r} is not one")
    units = record.get("units", {})
    if not _is_texts(units):
        raise _broken(f"the `units` of {path!r} must be an object of texts")
    settings = record.get("settings", {})
    if not _is_texts(settings):
        raise _broken(f"the `settings` of {path!r} must be an object of texts")
    return Entry(
        ownership=ownership,
        generated=generated,
        left=left,
        pending=pending,
        report=report,
        retired=record.get("retired") is True,
        units=units,
        settings=settings,
    )


def _is_checksum(value: object) -> TypeGuard[str]:
    return (
        isinstance(value, str)
        and len(value) == 64
        and all(character in "0123456789abcdef" for character in value)
    )


def _is_texts(value: object) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key!r} stands twice")
            seen.add(key)
    return record


def _broken(what: str) -> ManifestFault:
    return ManifestFault(
        "HX704", f"the suite's manifest is broken: {what}", REBUILD_HINT
    )
