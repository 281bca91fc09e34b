"""What a merge is told beside the three texts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from .result import Choice
from .source import References


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What references like `checks.is_brief` stand for in each of the three texts."""

    base: References = field(default_factory=dict)
    yours: References = field(default_factory=dict)
    new: References = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a merge is to go.

    `renames` maps a criterion's earlier id to its id now; `keep` are names that other
    files of the suite still use, so that they must not vanish; `restore` are names
    that their owner deleted and that something still uses; `references` serve the rows
    of criteria; `choice` is what stands where both sides changed one thing.
    """

    renames: Mapping[str, str] = field(default_factory=dict)
    keep: Collection[str] = ()
    restore: Collection[str] = ()
    references: Sides = field(default_factory=Sides)
    choice: Choice = "yours"
