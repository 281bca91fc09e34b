"""What of a dataset is still to be worded: its placeholders, and tuples without a case.

A dataset's rows say what its dimensions are: the names and the values in their tuples,
as the spec declared and required them. A new row takes from the rows of its scenario
what belongs to the scenario; it never gets an expectation of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..case import Case, content_id
from ..record import replace
from ..refusal import Refusal, close_match
from .derive import EDGE, STRUCTURAL
from .expand import Dimension, Space
from .writing import Situation

_NEVER: Final = frozenset(("origin", "dataset", EDGE))

HOW_TO_SAY: Final = (
    "give --dimensions FILE, a JSON file such as "
    '{"dimensions": [{"name": "tone", "values": ["polite", "angry"]}, …]}'
)


def dataset_of(cases: Iterable[Case], wanted: str | None, *, whose: str) -> str | None:
    """Return the dataset that new cases belong to: the one wanted, or the only one.

    `whose` is what named it. Raises Refusal where there are several and none is named,
    or not that one: criteria are mapped to datasets, and a case in none is judged by
    none of those.
    """
    known = list(dict.fromkeys(c.dataset for c in cases if c.dataset is not None))
    if wanted is not None:
        if known and wanted not in known:
            raise Refusal(
                f"{whose}: there is no dataset {wanted!r}{close_match(wanted, known)}; "
                f"there is {', '.join(known)}"
            )
        return wanted
    if len(known) > 1:
        raise Refusal(
            f"the suite has several datasets: say with --dataset which of {', '.join(known)}"
            " the new cases belong to"
        )
    return known[0] if known else None


def space_of(
    cases: Iterable[Case], dataset: str | None, over: Sequence[str] = ()
) -> Space:
    """Return the space that the rows of a dataset span.

    `over` names the dimensions; without it they are all that the subject has, and the
    scenario. Raises Refusal where there are none, or not these.
    """
    values: dict[str, dict[str, None]] = {}
    for case in cases:
        if case.dataset == dataset and case.source != "derived":
            for name, value in case.dimensions.items():
                values.setdefault(name, {})[value] = None
    known = [name for name in values if name not in _NEVER]
    unknown = [name for name in over if name not in known]
    if unknown:
        raise Refusal(
            *(
                f"--over {name!r}: no row has that dimension{close_match(name, known)}; "
                f"there is {', '.join(known) or 'none'}"
                for name in unknown
            )
        )
    names = list(over) or _default(known)
    if not names:
        there = f" (only {', '.join(known)})" if known else ""
        raise Refusal(
            f"the dataset's rows have no dimensions to combine{there}: {HOW_TO_SAY}, or "
            "name some of them with --over"
        )
    return Space(
        dimensions=[Dimension(name=n, values=tuple(values[n])) for n in names],
        dataset=dataset,
    )


def _default(known: Sequence[str]) -> list[str]:
    own = [name for name in known if name not in STRUCTURAL]
    return [name for name in known if name in own or name == "scenario"] if own else []


def placeholders_of(cases: Iterable[Case]) -> list[Situation]:
    """Return what is to be worded of cases whose query only describes a situation."""
    return [
        Situation(
            tuple=case.dimensions,
            dataset=case.dataset,
            case_id=case.id,
            told=case.query,
        )
        for case in cases
        if case.placeholder
    ]


def case_of(situation: Situation, query: str, cases: Iterable[Case]) -> Case:
    """Return the row of a tuple and its message, with its content's id.

    What belongs to the scenario (its category where it is always the same, whether it
    is an edge case, the behaviour that the spec expects in it) comes from its rows.
    """
    values = situation.tuple
    scenario = values.get("scenario")
    category = values.get("category")
    dimensions: dict[str, str] = {}
    behavior = None
    if scenario is not None:
        dimensions["scenario"] = scenario
        same = [case for case in cases if case.scenario == scenario]
        if category is None:
            category = _shared(
                [case.category for case in same if case.dataset == situation.dataset]
            )
        behavior = _shared([case.expected_behavior for case in same])
        edge = _shared([case.dimensions.get(EDGE) for case in same])
    else:
        edge = None
    if category is not None:
        dimensions["category"] = category
    if edge is not None:
        dimensions[EDGE] = edge
    dimensions.update(
        (name, value) for name, value in values.items() if name not in dimensions
    )
    case = Case(
        id="",
        query=query,
        dimensions=dimensions,
        source="synthetic",
        dataset=situation.dataset,
        category=category,
        scenario=scenario,
        expected_behavior=behavior,
    )
    return replace(case, id=content_id(case))


def _shared(values: Sequence[str | None]) -> str | None:
    """Return the value that all have, None where they differ."""
    return values[0] if values and len(set(values)) == 1 else None


def descriptions_of(space: Space) -> Mapping[str, str]:
    """Return what the dimensions of a space mean, as far as it says so."""
    return {d.name: d.description for d in space.dimensions if d.description}
