"""The JSON of one line of a dataset: strict, and read for each case of a run.

NaN and infinities are no JSON and could not be hashed or written again. Of a key that
stands twice readers keep the one or the other: the case that is run would not be the one
that somebody read.
"""

import json
from typing import Any, Final


def row_data(text: str) -> Any:
    """Return the data of a JSON text without white space around it.

    Raises ValueError with a sentence that says why, and RecursionError.
    """
    try:
        value, end = _scan_once(text, 0)
    except StopIteration:
        end = -1
    if end != len(text):
        return _decoder.decode(text)  # says what is wrong, and where
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        from .strict_json import once_each

        once_each(pairs)
    return data


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large a number")
    return number


_decoder: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse, parse_float=_finite
)
_scan_once: Final = _decoder.scan_once  # type: ignore[attr-defined]
