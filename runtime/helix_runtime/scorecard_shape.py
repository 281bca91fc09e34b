"""The shape of a scorecard: what every reader may count on.

A scorecard may have been edited by hand and given the digest of what it says then, so a
digest proves nothing of its keys. Whoever reads one asks here first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from .criterion import SEVERITIES
from .verdict import BLOCKED_KINDS, RESULTS

Finder = Callable[[Any], Iterator[tuple[str, str]]]
"""Yields (path below, what must stand there) for each fault of a value."""

MAX_NAMED: Final = 3
MAX_NUMBER: Final = 1e300
_MAX_COUNT: Final = 10**15


def shape_fault(scorecard: Mapping[str, Any]) -> str | None:
    """Return where a scorecard is not what one is, in words, or None."""
    faults = []
    for path, needed in _SCORECARD(scorecard):
        faults.append(f"`{path[:120]}` must be {needed}")
        if len(faults) == MAX_NAMED:
            break
    return "; ".join(faults) or None


# -- kinds of values --------------------------------------------------------------------


def _is(needed: str, holds: Callable[[Any], bool]) -> Finder:
    def find(value: Any) -> Iterator[tuple[str, str]]:
        if not holds(value):
            yield "", needed

    return find


def _one_of(*words: str) -> Finder:
    known = frozenset(words)
    return _is(
        "one of " + ", ".join(words), lambda v: isinstance(v, str) and v in known
    )


def _or_none(find: Finder) -> Finder:
    def find_some(value: Any) -> Iterator[tuple[str, str]]:
        for path, needed in find(value) if value is not None else ():
            yield path, needed if path else f"{needed}, or null"

    return find_some


def _list(find: Finder) -> Finder:
    def find_each(value: Any) -> Iterator[tuple[str, str]]:
        if not isinstance(value, list):
            yield "", "a list"
            return
        for place, item in enumerate(value):
            for path, needed in find(item):
                yield _below(str(place), path), needed

    return find_each


def _object(**keys: Finder) -> Finder:
    """An object with these keys; one whose name ends in `_` may be left out."""
    needed = {key.rstrip("_"): (find, key.endswith("_")) for key, find in keys.items()}

    def find_all(value: Any) -> Iterator[tuple[str, str]]:
        if not isinstance(value, dict):
            yield "", "an object"
            return
        for key, (find, optional) in needed.items():
            if key in value:
                for path, said in find(value[key]):
                    yield _below(key, path), said
            elif not optional:
                yield key, "there"

    return find_all


def _below(key: str, path: str) -> str:
    return f"{key}.{path}" if path else key


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -MAX_NUMBER < value < MAX_NUMBER


def _is_count(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and 0 <= value < _MAX_COUNT


_TEXT: Final = _is("a text", lambda value: isinstance(value, str))
_FLAT: Final = _is("a number", _is_number)
_COUNT: Final = _is("a whole number", _is_count)
_RANGE: Final = _is(
    "two numbers",
    lambda value: isinstance(value, list)
    and len(value) == 2
    and all(map(_is_number, value)),
)

# -- the scorecard ----------------------------------------------------------------------

_SEVERITY: Final = _one_of(*SEVERITIES)
_VERDICT: Final = _one_of("pass", "fail", "indeterminate")
_GATE: Final = _one_of("pass", "fail", "incomplete")
_STEADY: Final = _one_of("stable", "unstable", "under-sampled", "not-measured")
_REFS: Final = _list(_object(obs=_TEXT, path=_TEXT, value=_TEXT))
_BLOCKED: Final = _object(kind=_one_of(*BLOCKED_KINDS), text=_TEXT)
_SPREAD: Final = _object(stable=_COUNT, flapping=_COUNT, underSampled=_COUNT)
_SAMPLE: Final[Mapping[str, Finder]] = {
    "caseId": _TEXT,
    "name_": _TEXT,
    "query_": _TEXT,
    "traceId": _TEXT,
    "repeat": _COUNT,
    "critique": _TEXT,
    "refs": _REFS,
}
_CRITERION: Final = _object(
    criterionId=_TEXT,
    **{"class": _one_of("code", "judge", "hybrid")},
    severity=_SEVERITY,
    source=_one_of("spec", "derived"),
    verdict=_VERDICT,
    threshold=_TEXT,
    counts=_object(
        **{"pass": _COUNT, "fail": _COUNT},
        uncertain=_COUNT,
        na=_COUNT,
        error=_COUNT,
        missing=_COUNT,
    ),
    rate=_or_none(_FLAT),
    interval=_or_none(_RANGE),
    bounds=_or_none(_RANGE),
    critique=_TEXT,
    refs=_REFS,
    assumptions=_list(_object(text=_TEXT)),
    blockedBy=_or_none(_BLOCKED),
    sourceTraceIds=_list(_TEXT),
    validation=_object(
        status=_TEXT,
        tpr=_or_none(_FLAT),
        tnr=_or_none(_FLAT),
        corrected=_or_none(_FLAT),
        interval=_or_none(_RANGE),
    ),
)
_USED: Final = _object(
    calls=_COUNT,
    inputTokens=_or_none(_COUNT),
    outputTokens=_or_none(_COUNT),
    costUsd=_or_none(_FLAT),
    unknown=_COUNT,
    unpriced_=_COUNT,
)
_SCORECARD: Final = _object(
    subject=_object(id=_TEXT, name=_TEXT, version=_TEXT, spec_sha256=_TEXT),
    suite=_object(generator=_TEXT, sha256=_TEXT),
    run=_object(
        id=_TEXT,
        mode=_TEXT,
        started=_TEXT,
        target=_or_none(_TEXT),
        repeats=_COUNT,
        notes_=_list(_TEXT),
        failures_=_or_none(
            _object(
                failed=_COUNT,
                of=_COUNT,
                causes=_list(
                    _object(
                        text=_TEXT,
                        runs=_COUNT,
                        cases=_list(_object(caseId=_TEXT, name_=_TEXT)),
                    )
                ),
                more=_COUNT,
            )
        ),
    ),
    pin=_or_none(_object(provider=_TEXT, model=_TEXT, temperature=_or_none(_FLAT))),
    gate=_object(
        verdict=_GATE,
        components=_list(_object(id=_TEXT, verdict=_GATE, because=_list(_TEXT))),
    ),
    criteria=_list(_CRITERION),
    variance=_object(
        repeats=_COUNT,
        ceiling_=_FLAT,
        recordedRuns_=_COUNT,
        judgements_=_COUNT,
        verdict=_STEADY,
        subject=_SPREAD,
        judge=_SPREAD,
        criteria=_list(
            _object(
                criterionId=_TEXT,
                subject=_SPREAD,
                judge=_SPREAD,
                passHatK=_or_none(_FLAT),
                passAtK=_or_none(_FLAT),
                flapping=_list(
                    _object(caseId=_TEXT, name_=_TEXT, passes=_COUNT, decided=_COUNT)
                ),
                judgeFlapping_=_list(
                    _object(
                        caseId=_TEXT,
                        name_=_TEXT,
                        traceId=_TEXT,
                        results=_is(
                            "an object of whole numbers",
                            lambda value: isinstance(value, dict)
                            and all(map(_is_count, value.values())),
                        ),
                    )
                ),
            )
        ),
    ),
    usage=_object(subject=_USED, judge=_USED, verifier=_USED),
    handoff=_list(
        _object(
            criterionId=_TEXT,
            severity=_SEVERITY,
            statement=_TEXT,
            reason=_TEXT,
            critique=_TEXT,
            refs=_REFS,
            failing=_COUNT,
            failingCases=_list(_object(**_SAMPLE)),
        )
    ),
    calibration=_list(
        _object(
            criterionId=_TEXT,
            severity=_SEVERITY,
            statement=_TEXT,
            reason=_TEXT,
            blockedBy=_BLOCKED,
            open=_COUNT,
            openCases=_list(
                _object(
                    **_SAMPLE,
                    result=_one_of(*RESULTS, "missing"),
                    blockedBy=_or_none(_BLOCKED),
                )
            ),
        )
    ),
    digest=_TEXT,
)
