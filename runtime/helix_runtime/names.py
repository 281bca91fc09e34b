"""What people call a case: the spec's item or scenario beside its id, and its query.

An id is a content hash, and nobody knows a case by its hash.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from .canonical import fnv1a_64
from .safe_text import ELLIPSIS

if TYPE_CHECKING:
    from .case import Case

MAX_NAMES: Final = 50_000
"""How many cases of a dataset are known by name, the first ones: memory stays flat."""
MAX_NAME: Final = 120
MAX_QUERY: Final = 160
SHORT: Final = 8
"""How many digits of a hash tell one case from another."""

RECORDED: Final = "trace-"
"""How the id of a case begins that a recorded run stands for by itself."""

_HEX: Final = frozenset("0123456789abcdef")


class CaseNames:
    """The names of a run's cases, by id, in the order of the dataset."""

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self._names: dict[str, tuple[str | None, str]] = {}
        for case in cases:
            if len(self._names) >= MAX_NAMES:
                break
            self.add(case)

    def add(self, case: Case) -> None:
        """Take a case in, unless there are too many."""
        names = self._names
        if len(names) < MAX_NAMES:
            # Of a long query only its beginning is kept.
            query = case.query
            if len(query) > MAX_QUERY:
                query = query[: MAX_QUERY + 1]
            names[case.id] = (case.item or case.scenario, query)

    def label(self, case_id: str) -> str:
        """Return the case as people know it; may hold a stranger's text."""
        return case_label(case_id, self._names.get(case_id, _NOTHING)[0])

    def query(self, case_id: str) -> str:
        """Return the beginning of its query, empty where it is not known."""
        return beginning(self._names.get(case_id, _NOTHING)[1])

    def ids(self) -> Iterable[str]:
        """Return the ids of the cases, in their order."""
        return self._names.keys()

    def in_order(self, case_ids: Collection[str]) -> list[str]:
        """Return cases as the dataset orders them, unknown ones last by their ids."""
        names = self._names
        known = [name for name in names if name in case_ids]
        if len(known) < len(case_ids):
            known += sorted(name for name in case_ids if name not in names)
        return known


_NOTHING: Final[tuple[None, str]] = (None, "")


def case_label(case_id: str, name: str | None) -> str:
    """Return `item (65333ebb…)`; the id alone where the spec gives no name."""
    if not name or name == case_id:
        return case_id
    return f"{_cut(name, MAX_NAME)} ({short_id(case_id)})"


def sample_label(sample: Mapping[str, Any]) -> str:
    """Return the case of a scorecard's sample as people know it.

    A recorded run that stands for itself is known by the id that its recorder gave it,
    which labels name too.
    """
    case_id, trace_id = sample["caseId"], sample.get("traceId")
    if case_id.startswith(RECORDED) and isinstance(trace_id, str):
        if case_id == recorded_case_id(trace_id):
            return trace_id
    return case_label(case_id, sample.get("name"))


def recorded_case_id(trace_id: str) -> str:
    """Return the id of the case that a recorded run stands for by itself."""
    return RECORDED + fnv1a_64(trace_id.encode("utf-8", "surrogatepass"))


def in_test_id(case_id: str, name: str | None) -> str:
    """Return the case as a part of a test's id: without blanks and parentheses."""
    if not name or name == case_id:
        return case_id
    words = "-".join(_cut(name, MAX_NAME).split())
    return f"{words}-{short_id(case_id).removesuffix(ELLIPSIS)}"


def short_id(case_id: str) -> str:
    """Return the beginning of an id that is a hash, else the id."""
    if len(case_id) > SHORT + 2 and not set(case_id) - _HEX:
        return case_id[:SHORT] + ELLIPSIS
    return case_id


def beginning(query: str) -> str:
    """Return the beginning of a query."""
    return _cut(query, MAX_QUERY)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS
