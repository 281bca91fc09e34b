"""What a merge gives back."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .split import split_lines

Choice = Literal["yours", "new", "markers"]
"""What stands in the text where both sides changed one thing."""

WHOLE_FILE = "the whole file"
"""The unit of a conflict of a file that can't be merged: one side stands as it is."""

MARK_YOURS = "<<<<<<< yours"
MARK_BASE = "||||||| as it was generated"
MARK_MIDDLE = "======="
MARK_NEW = ">>>>>>> helix-gen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """One thing that both sides changed. The merged text holds the user's version.

    `unit` names it (`no_unapproved_write`, `lines 10-12`); a side that deleted it is
    an empty text.
    """

    unit: str
    base: str
    yours: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """The merged text and what the user should hear about it.

    `base` is the text that the next merge starts from: the new one, but as before
    where both sides clashed, so that a conflict comes again until it is resolved and
    nothing else does. `retired` names the user's edited units that the generator no
    longer makes: kept. `deleted` names the units that the user deleted and the
    generator still makes: they stay deleted. `dropped` are texts of the user's that
    could not stay (the edited row of a criterion that is gone): the caller puts them
    aside. `names` says which name decides which criterion in the merged text; of those
    that are `unseen` the owner wrote the unit so that its id can't be read off it.
    `broken` says why a file could not be read, and so was left alone.
    """

    text: str
    base: str
    conflicts: tuple[Conflict, ...] = ()
    retired: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    unseen: Collection[str] = ()
    broken: str = ""

    @property
    def is_unmerged(self) -> bool:
        """Whether the text is one side as it is: nothing of the other arrived."""
        return any(conflict.unit == WHOLE_FILE for conflict in self.conflicts)


def with_markers(base: str, yours: str, new: str) -> str:
    """Return the three versions of one stretch of whole lines between markers."""
    pieces = [MARK_YOURS + "\n", yours, MARK_BASE + "\n", base]
    pieces += [MARK_MIDDLE + "\n", new, MARK_NEW + "\n"]
    return "".join(p if not p or p.endswith("\n") else p + "\n" for p in pieces)


def has_markers(text: str) -> bool:
    """Whether a text still holds the markers of a conflict."""
    return f"{MARK_YOURS}\n" in text.replace("\r\n", "\n")


def without_markers(text: str) -> str:
    """Return a text with the user's side of each conflict in place of its markers."""
    kept: list[str] = []
    side = "yours"
    for line in split_lines(text):
        word = line.rstrip("\r\n")
        if word == MARK_YOURS and side == "yours":
            side = "ours"
        elif side == "ours" and word == MARK_BASE:
            side = "base"
        elif side == "base" and word == MARK_MIDDLE:
            side = "new"
        elif side == "new" and word == MARK_NEW:
            side = "yours"
        elif side in ("yours", "ours"):
            kept.append(line)
    return "".join(kept)
