"""Keys of a dataset's rows with a slip in them: what they say is asked of nobody.

What a case does not expect is never missed, and unknown keys are the user's own data. So
a key that is nearly one that is read is told; one that resembles none is not.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from .nearly import meant_by

EXPECTED: Final = (
    "actionCalls",
    "hostActions",
    "path",
    "nodeOutputs",
    "workflowNodeOutputs",
    "memberOutputs",
)
"""The names in `expected` that derived checks read by themselves."""


def slips_in(
    data: Mapping[Any, Any], known: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Yield (key, what was meant) of each key that is nearly a known one.

    One that stands beside what would be meant is a name of its own.
    """
    for key in data:
        if key not in known and isinstance(key, str):
            meant = meant_by(key, known)
            if meant is not None and meant not in data:
                yield key, meant


def dataset_slips(path: Path, package: Path) -> list[str]:
    """Return a line for each key of a dataset's rows that has a slip: `FILE:LINE: …`.

    Each is told once, with its first line. Rows that can't be read are passed over, and
    so is a key that the suite's own modules (in `package`) name: a check may read it.
    Raises OSError.
    """
    import json

    from .case import ROW_KEYS

    first: dict[tuple[str, str], int] = {}
    count: dict[tuple[str, str], int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if not isinstance(row, dict):
                continue
            found = list(slips_in(row, ROW_KEYS))
            expected = row.get("expected")
            if isinstance(expected, dict):
                found += [
                    (f"expected.{key}", meant)
                    for key, meant in slips_in(expected, EXPECTED)
                ]
            for slip in found:
                first.setdefault(slip, number)
                count[slip] = count.get(slip, 0) + 1
    code = _code(package) if first else ""
    return [
        f"{path.name}:{number}: nothing reads `{key}`"
        + (f" ({count[key, meant]} rows)" if count[key, meant] > 1 else "")
        + f": did you mean `{meant}`?"
        for (key, meant), number in first.items()
        if not _names(code, key.removeprefix("expected."))
    ]


def _code(package: Path) -> str:
    modules = sorted(package.glob("*.py"))
    return "\n".join(one.read_text("utf-8", "replace") for one in modules)


def _names(code: str, key: str) -> bool:
    """Whether a key stands in code as a text, or as a step of a path."""
    return re.search(rf"[\"'.\[]{re.escape(key)}(?!\w)", code) is not None
