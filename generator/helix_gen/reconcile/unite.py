"""The one place where a file that both sides changed comes to its next text.

`merge` is the seam: whatever decides more finely than by the whole file goes here,
and nothing else in this package needs to know.
"""

from collections.abc import Mapping
from typing import Final

from .merge.result import Conflict, MergeResult
from .texts import in_style_of

WHOLE_FILE: Final = "the whole file"
"""The unit of a conflict in which nothing of the new version arrived."""


def merge(
    *,
    path: str,
    base: bytes | None,
    yours: bytes,
    new: bytes,
    renames: Mapping[str, str],
) -> MergeResult:
    """Return the next text of a file that its owner and the generator both changed.

    `base` is the pristine text that both started from, None where it is lost;
    `renames` maps a unit's name in `base` to its name in `new`. The owner's text
    stays whole, and the conflict says so.
    """
    return MergeResult(
        text=_text(yours),
        conflicts=(
            Conflict(
                unit=WHOLE_FILE,
                base=_text(base or b""),
                yours=_text(yours),
                new=_text(in_style_of(new, yours)),
            ),
        ),
    )


def _text(data: bytes) -> str:
    # A user's file may hold any bytes; none of them may get lost on the way through.
    return data.decode("utf-8", "surrogateescape")
