"""The decorator of all primitives: it checks arguments, so that none ever raises.

What a suite's author writes (an overlay, an edited `checks.py`) may be wrong: a text
where a list belongs, a pattern that does not compile. Each primitive's annotations
say what is right; `primitive` holds calls to them and turns a fault into an `error`
verdict. `fault` asks the same question ahead of any run.
"""

from _thread import allocate_lock
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    ParamSpec,
    Union,
    get_args,
    get_origin,
)

from ..case import Case
from ..record import replace
from ..trace import Trace
from ..verdict import Ref, Verdict, could_not_judge, uncertain
from .paths import is_list, is_number, shown

if TYPE_CHECKING:
    from re import Pattern

P = ParamSpec("P")
Finder = Callable[[Any], str | None]

MAX_MATCHED: Final = 100_000
MAX_REFS: Final = 8
_MANY: Final = 10


class TooLong(Exception):
    """A text is longer than a pattern may be matched against."""


class Unread(Exception):
    """What begins like JSON can't be read, so nobody knows what it holds."""


def primitive(**more: Finder) -> Callable[[Callable[P, Verdict]], Callable[P, Verdict]]:
    """Return a decorator that checks the keyword arguments of a primitive.

    `more` names a further check for an argument whose type alone does not say enough
    (a pattern). Data that nests too deeply is an `error`; a text too long to match
    is uncertain. A fail always cites something: where what it misses is nowhere, how
    much of the run was looked through.
    """

    def decorate(function: Callable[P, Verdict]) -> Callable[P, Verdict]:
        finders = _finders(function, more)
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> Verdict:
            for key, value in kwargs.items():
                for find in finders.get(key, ()):
                    wrong = find(value)
                    if wrong is not None:
                        return could_not_judge(f"{name}: `{key}` {wrong}.")
            try:
                verdict = _tidy(function(*args, **kwargs))
                if verdict.refs or verdict.result != "fail":
                    return verdict
                trace = args[1] if len(args) > 1 else kwargs["trace"]
                assert isinstance(trace, Trace)
                return replace(verdict, refs=(_searched(trace),))
            except RecursionError:
                return could_not_judge(f"{name}: the data is nested too deeply.")
            except TooLong as error:
                return uncertain(f"{name}: {error}", text="narrow the path")
            except Unread as error:
                return uncertain(
                    f"{name}: {error}", text="record the whole data in the trace"
                )

        return checked

    return decorate


def _searched(trace: Trace) -> Ref:
    """The citation of what is not there: so many spans were looked at."""
    return Ref("trace", "spans.length", str(len(trace.spans)))


def _tidy(verdict: Verdict) -> Verdict:
    """Return a verdict with few refs, each one once and with a value.

    A fail shows up to MAX_REFS places, a pass two: journals hold mostly passes.
    """
    if not verdict.refs or (len(verdict.refs) == 1 and verdict.refs[0].value):
        return verdict
    most = 2 if verdict.result == "pass" else MAX_REFS
    refs = tuple(dict.fromkeys(ref for ref in verdict.refs if ref.value))[:most]
    return verdict if refs == verdict.refs else replace(verdict, refs=refs)


def fault(function: Callable[..., Verdict], arguments: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the arguments of a primitive, or None.

    Also finds names that the primitive does not have or lacks. Every primitive looks
    at its arguments before it looks at the trace, so an empty trace is enough.
    """
    try:
        verdict = function(_NO_CASE, _NO_TRACE, **arguments)
    except TypeError as error:
        return str(error)
    return verdict.critique if verdict.result == "error" else None


_NO_CASE: Final = Case(id="none", query="none", dimensions={})
_NO_TRACE: Final = Trace(id="none", observed=frozenset())


def _finders(
    function: Callable[..., Any], more: Mapping[str, Finder]
) -> dict[str, list[Finder]]:
    finders: dict[str, list[Finder]] = {}
    for name, annotation in function.__annotations__.items():
        if name in ("case", "trace", "return"):
            continue
        find = _finder(annotation)
        finders[name] = [] if find is None else [find]
        if name in more:
            finders[name].append(more[name])
    return finders


def _finder(annotation: Any) -> Finder | None:
    """Return the check of an annotation; None where it takes anything."""
    if annotation is Any:
        return None
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _one_of(inner)
    if origin in (Union, UnionType):
        return _optional([a for a in inner if a is not type(None)])
    if origin is Sequence:
        return _each(_finder(inner[0]))
    if origin is Mapping:
        return _values(_finder(inner[1]))
    raise TypeError(f"a primitive can't have an argument of type {annotation!r}")


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else f"must be a text, not {_kind(value)}"


def _integer(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return f"must be a whole number, not {_kind(value)}"
    return None


def _number(value: Any) -> str | None:
    if is_number(value):
        return None
    return f"must be a finite number, not {_kind(value)}"


def _flag(value: Any) -> str | None:
    if isinstance(value, bool):
        return None
    return f"must be true or false, not {_kind(value)}"


def _verdict(value: Any) -> str | None:
    return (
        None if isinstance(value, Verdict) else f"must be a check, not {_kind(value)}"
    )


_SCALARS: Final[Mapping[Any, Finder]] = {
    str: _text,
    int: _integer,
    float: _number,
    bool: _flag,
    Verdict: _verdict,
}


def _one_of(allowed: tuple[Any, ...]) -> Finder:
    def find(value: Any) -> str | None:
        if isinstance(value, str) and value in allowed:
            return None
        return f"must be one of {', '.join(allowed)}, not {shown(value)}"

    return find


def _optional(choices: Sequence[Any]) -> Finder | None:
    (only,) = choices
    find = _finder(only)
    if find is None:
        return None
    return lambda value: None if value is None else find(value)


def _each(find: Finder | None) -> Finder:
    def find_each(value: Any) -> str | None:
        if not is_list(value):
            return f"must be a list, not {_kind(value)}"
        for index, item in enumerate(value):
            wrong = None if find is None else find(item)
            if wrong is not None:
                return f"item {index} {wrong}"
        return None

    return find_each


def _values(find: Finder | None) -> Finder:
    def find_values(value: Any) -> str | None:
        if not isinstance(value, Mapping):
            return f"must be an object, not {_kind(value)}"
        for key, item in value.items():
            if not isinstance(key, str):
                return f"has a key that is not a text: {shown(key)}"
            wrong = None if find is None else find(item)
            if wrong is not None:
                return f"{key!r} {wrong}"
        return None

    return find_values


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a bool"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if isinstance(value, (int, float)):
        return f"the number {shown(value)}" if is_number(value) else "NaN or infinite"
    if is_list(value):
        return "a list"
    return "an object" if isinstance(value, Mapping) else type(value).__name__


# -- checks of values, shared by primitives -----------------------------------------


def name_fault(name: Any) -> str | None:
    """Return why a text is no name, or None. A blank one is never met by anything."""
    return None if name.strip() else "is blank"


def names_fault(names: Any) -> str | None:
    """Return which of some names is none, or None; there may be no name."""
    blank = next((at for at, name in enumerate(names) if name_fault(name)), None)
    return None if blank is None else f"item {blank} is blank"


def some_names_fault(names: Any) -> str | None:
    """Return which of some names is none, or that there is no name, or None."""
    return names_fault(names) if names else "must hold at least one name"


_QUIET: Final = allocate_lock()


@lru_cache(maxsize=512)
def compiled(pattern: str, flags: int = 0) -> "Pattern[str]":
    """Return a regular expression of a suite's author, without Python's own warnings.

    `[[` may be a set of sets in a later Python; that is no news for who runs the suite.
    Raises re.error, OverflowError and RecursionError.
    """
    import re
    import warnings

    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern, flags)


def pattern_fault(pattern: Any) -> str | None:
    """Return why a regular expression does not compile, or None."""
    import re

    if not isinstance(pattern, str):
        return f"must be a text, not {_kind(pattern)}"
    try:
        compiled(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"
    return _explodes(pattern)


def telling_pattern_fault(pattern: Any) -> str | None:
    """Return why a pattern can't be looked for: a fault, or it is in every text."""
    return pattern_fault(pattern) or _tells_nothing(pattern)


@lru_cache(maxsize=256)
def _tells_nothing(pattern: str) -> str | None:
    if "(?!" in pattern or "(?<!" in pattern:
        return None  # it forbids something, which these texts do not hold either
    # What stands in texts that share nothing stands in all.
    find = compiled(pattern).search
    if all(find(text) for text in ("", "\0", "a", "\0 1\n\n~ é\n\n ")):
        return "matches every text"
    return None


@lru_cache(maxsize=256)
def _explodes(pattern: str) -> str | None:
    """Return why a pattern may take forever on a text that nearly matches, or None.

    It looks for the plain case, a repeat of what is itself a repeat and nothing else
    (`(a+)+`, `(\\w+\\s?)*`): each way to share a text out among the two is tried. A
    match can't be broken off, so nothing bounds it at run time.
    """
    import re
    import warnings

    parser: Any = re._parser  # type: ignore[attr-defined]
    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = parser.parse(pattern)
    if _nests(parsed):
        return (
            "repeats a repeat (like `(a+)+`), which may take forever on a text that "
            "nearly matches: write it with one repeat"
        )
    return None


def _nests(parsed: Any) -> bool:
    for operation, value in parsed:
        if str(operation) in ("MAX_REPEAT", "MIN_REPEAT"):
            _, most, body = value
            if int(most) >= _MANY and _is_bare_repeat(body):
                return True
            if _nests(body):
                return True
        elif any(_nests(inner) for inner in _bodies(str(operation), value)):
            return True
    return False


def _is_bare_repeat(body: Any) -> bool:
    """Whether a repeat without a bound stands in `body` with nothing beside it."""
    items = list(body)
    for at, (operation, value) in enumerate(items):
        rest = items[:at] + items[at + 1 :]
        if any(not _may_be_empty(*other) for other in rest):
            continue
        if str(operation) in ("MAX_REPEAT", "MIN_REPEAT") and int(value[1]) >= _MANY:
            return True
        if any(_is_bare_repeat(one) for one in _bodies(str(operation), value)):
            return True
    return False


def _may_be_empty(operation: Any, value: Any) -> bool:
    if str(operation) in ("MAX_REPEAT", "MIN_REPEAT"):
        return int(value[0]) == 0
    if str(operation) == "AT":
        return True
    bodies = _bodies(str(operation), value)
    return any(all(_may_be_empty(*one) for one in body) for body in bodies)


def _bodies(operation: str, value: Any) -> list[Any]:
    if operation == "SUBPATTERN":
        return [value[-1]]
    if operation == "BRANCH":
        return list(value[1])
    return [value[1]] if operation in ("ASSERT", "ASSERT_NOT") else []


def search(
    pattern: str,
    text: str,
    *,
    match: Literal["search", "full"] = "search",
    ignore_case: bool = False,
) -> tuple[int, str] | None:
    """Return (position, text) of the first match, or of the full one, or None.

    Raises TooLong for a text of more than MAX_MATCHED characters: a bad pattern's
    time grows with the text, and nothing can stop it once it runs.
    """
    import re

    if len(text) > MAX_MATCHED:
        raise TooLong(
            f"the text has {len(text)} characters; a pattern is matched against "
            f"at most {MAX_MATCHED}."
        )
    find = compiled(pattern, re.IGNORECASE if ignore_case else 0)
    found = find.fullmatch(text) if match == "full" else find.search(text)
    return None if found is None else (found.start(), found.group())


def limits_fault(at_least: float | None, at_most: float | None) -> str | None:
    """Return why two limits of what is counted leave nothing, or leave nothing out."""
    if at_most is None and at_least is None:
        return "give `at_least` or `at_most`: without a limit every run passes."
    if at_most is None and at_least is not None and at_least <= 0:
        return f"`at_least` {at_least} is no limit: no run can have less."
    return range_fault(at_least, at_most)


def range_fault(at_least: float | None, at_most: float | None) -> str | None:
    """Return why two limits leave no number, or None."""
    if at_least is not None and at_most is not None and at_least > at_most:
        return f"`at_least` {at_least} is more than `at_most` {at_most}."
    return None


def outside(number: float, at_least: float | None, at_most: float | None) -> str | None:
    """Return which limit a number breaks, or None."""
    if at_least is not None and number < at_least:
        return f"less than {at_least}"
    if at_most is not None and number > at_most:
        return f"more than {at_most}"
    return None
