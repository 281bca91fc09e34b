"""The pages that show a conflict: the three versions of each place, and what to do."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .manifest import base_path, conflict_path, pending_path
from .merge.result import MergeResult
from .merge.split import with_lf
from .paths import STATE

CONFLICTS_NOTE: Final = f"{STATE}/conflicts/README.md"


def conflict_page(path: str, result: MergeResult, *, base: str, new: str) -> bytes:
    """Return the page of one file: what clashes, on which lines, in three versions."""
    lines = [f"# Conflict in {_code(path)}", ""]
    if result.broken:
        lines += [
            f"Python can't read this file ({_code(result.broken)}), so nothing was",
            "merged into it. Mend it and run helix-gen again. Or take the new version,",
            "which puts yours aside:",
            "",
            f"    helix-gen resolve {path} --theirs",
            "",
            f"The new version stands in {_code(pending_path(path))}.",
        ]
        return _page(lines)
    lines += [
        "You and helix-gen changed the same. Yours stands in the file, everything else",
        "that is new has arrived. It comes again with each run until you say, in the",
        "suite's folder, one of:",
        "",
        f"    helix-gen resolve {path} --ours     # yours stays as it is",
        f"    helix-gen resolve {path} --theirs   # the new version takes its place",
        f"    helix-gen resolve {path} --edited   # you brought both together by hand",
        "",
        f"The whole texts: {_code(base_path(path))} is what both started from,",
        f"{_code(pending_path(path))} what is generated now.",
    ]
    language = "python" if path.endswith(".py") else ""
    for number, conflict in enumerate(result.conflicts, 1):
        lines += ["", f"## {number}. {_code(conflict.unit)}", ""]
        for title, text, whole in (
            ("As it was generated", conflict.base, base),
            ("Yours", conflict.yours, result.text),
            ("New", conflict.new, new),
        ):
            lines += [f"### {title}{_place(text, whole)}", ""]
            lines += _fenced(text, language) if text.strip() else ["(nothing)"]
            lines.append("")
        lines.pop()
    return _page(lines)


def conflicts_note(files: Sequence[tuple[str, Sequence[str]]]) -> bytes:
    """Return the page over all files in conflict, each with what clashes in it."""
    lines = [
        "# Conflicts",
        "",
        "You and helix-gen changed the same places of these files. Yours stand where",
        "they stood and the suite runs with them; each page shows the versions and what",
        "to do:",
        "",
    ]
    for path, units in files:
        page = conflict_path(path).removeprefix(f"{STATE}/conflicts/")
        names = ", ".join(_code(unit) for unit in units)
        lines.append(f"- {_code(path)} ({names}): [{page}]({page})")
    return _page(lines)


def _lines(part: str, whole: str) -> tuple[int, int] | None:
    part = with_lf(part)
    stripped = part.strip("\n")
    if not stripped:
        return None
    at = with_lf(whole).find(stripped)
    if at < 0:
        return None
    first = with_lf(whole).count("\n", 0, at) + 1
    return first, first + stripped.count("\n")


def _place(part: str, whole: str) -> str:
    found = _lines(part, whole)
    if found is None:
        return ""
    first, last = found
    return f" (line {first})" if first == last else f" (lines {first}-{last})"


def _fenced(text: str, language: str) -> Iterator[str]:
    # The text may hold fences of its own.
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence + language
    yield text.strip("\n")
    yield fence


def _code(text: str) -> str:
    shown = " ".join(text.split())
    if "`" in shown:
        return f"`` {shown} ``"
    return f"`{shown}`"


def _page(lines: Iterable[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
