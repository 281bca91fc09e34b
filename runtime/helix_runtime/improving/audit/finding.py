"""A finding of the audit, what it is found in, and the words that findings share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ...case import Case
from ...criterion import Criterion
from ...labels.file import LabelSummary
from ...record import field, record
from ...report.words import plural
from ...suite import Suite
from ...trace import Trace
from ...trust.validation import Measurement
from ..finished_run import FinishedRun

Area = Literal["grounding", "design", "judges", "people", "labels", "hygiene"]


@record(kw_only=True)
class Finding:
    """One weakness of the suite: what was found, where, and what to do.

    `kind` names the check that found it; `items` are what it is about (criteria, cases,
    runs), all of them.
    """

    area: Area
    kind: str
    where: str
    found: str
    do: str
    items: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "area": self.area,
            "kind": self.kind,
            "where": self.where,
            "finding": self.found,
            "do": self.do,
            "items": list(self.items),
        }


@record(kw_only=True)
class Holdings:
    """What a suite holds.

    `package` is the name of its package. `runs` are its finished runs by start;
    `measured` is how the judge of each criterion did against labels, where it is known,
    and `outdated` says of which judges it is known no more. `labelled` are the labelled traces that
    are at hand. `cases` are those of the dataset that are not retired, `removed` the ids
    of rows that were taken out. `model` is the judge's of `evals.toml`.
    """

    package: str
    suite: Suite
    runs: Sequence[FinishedRun] = ()
    measured: Mapping[str, Measurement] = field(default_factory=dict)
    outdated: Sequence[str] = ()
    labels: LabelSummary
    labelled: Mapping[str, Sequence[Trace]] = field(default_factory=dict)
    cases: Sequence[Case] = ()
    removed: Sequence[str] = ()
    model: str | None = None

    @property
    def judged(self) -> list[Criterion]:
        """The criteria that a judge decides, or helps to decide."""
        return [c for c in self.suite.criteria if c.judge is not None]

    @property
    def live(self) -> list[Criterion]:
        """The criteria that somebody decides."""
        return [c for c in self.suite.criteria if not c.is_skipped]


def names_in(function: Any) -> Sequence[str]:
    """Return the names that a check uses, none where it is no plain function."""
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_names


def ids_of(criteria: Iterable[Criterion]) -> tuple[str, ...]:
    """Return the ids of criteria."""
    return tuple(criterion.id for criterion in criteria)


def named(criteria: Sequence[Criterion]) -> str:
    """Return criteria as a list in words, the first few."""
    return listed(ids_of(criteria))


_SHOWN: Final = 5


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words, the first few."""
    shown = [f"`{name}`" for name in names[:_SHOWN]]
    more = len(names) - _SHOWN
    if more > 0:
        shown.append(f"{more} more")
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def share_of(number: int, total: int, noun: str) -> str:
    """Return how many of a number, with the verb: `1 of 3 cases is`."""
    verb = "is" if number == 1 else "are"
    return f"{number:,} of {plural(total, noun)} {verb}"
