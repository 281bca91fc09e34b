"""What a merge gives back."""

from dataclasses import dataclass


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

    `retired` names the user's edited units that the generator no longer makes: kept.
    `deleted` names the units that the user deleted and the generator still makes:
    they stay deleted.
    """

    text: str
    conflicts: tuple[Conflict, ...] = ()
    retired: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
