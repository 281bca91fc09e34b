"""Which cases and criteria of a suite a command is about: globs on ids and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .record import record, replace
from .refusal import Refusal, close_match

if TYPE_CHECKING:
    from .case import Case
    from .criterion import Criterion
    from .suite import Suite

NARROWED: Final = "narrowed: "
"""How the note of a run begins that did not go over the whole suite."""
OUTLIVED: Final = "of before: "
"""How the note of a run begins whose verdicts are of an earlier state of the suite."""


@record(kw_only=True)
class Selection:
    """Globs; an empty list selects everything. Case matters, on every system.

    `cases` are on a case's id, on its item's and on its scenario's; `criteria` on a
    criterion's id, or on its class as `class:code`.
    """

    cases: Sequence[str] = ()
    category: Sequence[str] = ()
    criteria: Sequence[str] = ()

    def keeps(self, case: Case) -> bool:
        """Whether the case is selected."""
        if not (self.cases or self.category):
            return True
        return self._keeps((case.id, case.item, case.scenario), case.category)

    def keeps_row(self, row: Mapping[str, Any]) -> bool:
        """Whether the case of a row is selected, before it is read as a case."""
        if not (self.cases or self.category):
            return True
        names = (row["id"], row.get("item"), row.get("scenario"))
        return self._keeps(names, row.get("category"))

    def _keeps(self, names: Sequence[str | None], category: str | None) -> bool:
        if self.cases and not any(n and _matches(n, self.cases) for n in names):
            return False
        return not self.category or (
            category is not None and _matches(category, self.category)
        )

    def watched(self) -> Watched:
        """Return the selection as a filter that knows which globs matched nothing."""
        return Watched(self)

    def narrow(self, suite: Suite) -> Suite:
        """Return the suite with the selected criteria alone.

        Raises Refusal for a glob that no criterion matches: a misspelt one must not
        look like a pass.
        """
        if not self.criteria:
            return suite
        known = [name for criterion in suite.criteria for name in _names(criterion)]
        idle = [
            glob
            for glob in self.criteria
            if not any(_matches(k, [glob]) for k in known)
        ]
        if idle:
            raise Refusal(
                *(
                    f"--criteria {glob!r} matches no criterion{close_match(glob, known)}"
                    for glob in idle
                )
            )
        kept = [
            criterion
            for criterion in suite.criteria
            if any(_matches(name, self.criteria) for name in _names(criterion))
        ]
        return replace(suite, criteria=kept)

    def note(self, suite: Suite, *, kept: int, of: int, what: str) -> str | None:
        """Return what a run leaves out of the whole suite, None where it is nothing.

        `kept` of `of` cases (or runs: `what`) were selected.
        """
        narrow = self.narrow(suite).criteria
        parts = []
        for gates, kind in ((True, "gating"), (False, "advising")):
            some = sum(criterion.gates is gates for criterion in narrow)
            whole = sum(criterion.gates is gates for criterion in suite.criteria)
            if some < whole:
                parts.append(
                    f"{some:,} of {_plural(whole, f'{kind} criteri', 'on', 'a')}"
                )
        if kept < of:
            parts.append(f"{kept:,} of {_plural(of, what, '', 's')}")
        return NARROWED + ", ".join(parts) if parts else None

    def to_record(self) -> dict[str, Any]:
        """Return the selection as `run.json` keeps it."""
        return {
            "cases": list(self.cases),
            "category": list(self.category),
            "criteria": list(self.criteria),
        }


class Watched:
    """A selection over rows that remembers the globs no case has matched yet."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self._idle = {
            "--cases": list(selection.cases),
            "--category": list(selection.category),
        }

    def keeps_row(self, row: Mapping[str, Any]) -> bool:
        """Whether the case of a row is selected, before it is read as a case."""
        if not (self.selection.cases or self.selection.category):
            return True
        names = (row["id"], row.get("item"), row.get("scenario"))
        self._see(names, row.get("category"))
        return self.selection.keeps_row(row)

    def keeps(self, case: Case) -> bool:
        """Whether the case is selected."""
        self._see((case.id, case.item, case.scenario), case.category)
        return self.selection.keeps(case)

    def _see(self, names: Sequence[str | None], category: str | None) -> None:
        for option, own in (("--cases", names), ("--category", (category,))):
            if self._idle[option]:
                self._idle[option] = [
                    glob
                    for glob in self._idle[option]
                    if not any(name and _matches(name, [glob]) for name in own)
                ]

    @property
    def idle(self) -> list[str]:
        """A line for each glob that matched nothing: a misspelt one is no selection."""
        return [
            f"{option} {glob!r} matches no case: `cases` lists what there is"
            for option, globs in self._idle.items()
            for glob in globs
        ]


def _names(criterion: Criterion) -> tuple[str, str]:
    return criterion.id, f"class:{criterion.criterion_class}"


def _plural(count: int, stem: str, one: str, many: str) -> str:
    return f"{count:,} {stem}{one if count == 1 else many}"


def _matches(text: str, globs: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase

    # A name may hold what a glob takes for a set of letters.
    return any(text == glob or fnmatchcase(text, glob) for glob in globs)
