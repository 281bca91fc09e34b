"""What a value reads as where it is shown: its text, and the numbers it may spell.

Two things are the same where they share a reading. A text reads as itself with white
space folded. A number reads as its value, however it is grouped (`1,234.50`, `1.234,5`,
`1 234.5`, `1'234.50`), signed (`−5`, `(5)`) or marked (`€ 5`, `5 %`, which is 5 and
0.05). What can be read in two ways (`1.234`) has both readings.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from .paths import fold, is_number

Reading = tuple[str, str]
"""`("text", TEXT)` or `("number", its digits)`."""

_LONGEST: Final = 60
_SPACES: Final = " \u00a0\u2009\u202f"
# Groups are bounded, so that no text is scanned twice from end to end.
_NUMBER: Final = re.compile(
    rf"(?<![^\W_])(?<![^\W_][.,])[-+\u2212]?"
    rf"(?:\d{{1,3}}(?:[{_SPACES}'\u2019.,]\d{{2,3}}){{1,12}}(?:[.,]\d{{1,30}})?"
    rf"|\d{{1,40}}(?:[.,]\d{{1,30}})?)"
    rf"(?:[eE][-+]?\d{{1,3}}(?!\d))?(?![^\W\d_]{{0,8}}\d)"
)
_PERCENT: Final = re.compile(rf"[{_SPACES}]?[%\u066a]")


def numbers_in(text: str) -> Iterator[frozenset[Reading]]:
    """Yield the readings of each number in a text, in order."""
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        found = _read(
            match.group(),
            text[start - 1 : start] == "(" and text[end : end + 1] == ")",
            _PERCENT.match(text, end) is not None,
        )
        if found:
            yield found


@lru_cache(maxsize=4096)
def _read(text: str, in_brackets: bool, percent: bool) -> frozenset[Reading]:
    if text.isascii() and text.isdecimal() and not in_brackets and not percent:
        return frozenset((("number", str(int(text))),))
    found = set(_spelled(text))
    if in_brackets:
        found |= {-value for value in found}
    if percent:
        found |= {value / 100 for value in found}
    return frozenset(map(_reading, found))


def _spelled(text: str) -> Iterator[Any]:
    """Yield the values that a number's text may spell."""
    from decimal import Decimal

    plain = text.replace("\u2212", "-").replace("\u2019", "'")
    plain = re.sub(rf"[{_SPACES}']", "", plain)
    points, commas = plain.count("."), plain.count(",")
    if len(plain) > _LONGEST or "e" in plain[-4:].lower() and points + commas > 1:
        return
    if points and commas:
        last = max(plain.rfind("."), plain.rfind(","))
        whole = plain[:last].replace(".", "").replace(",", "")
        yield Decimal(f"{whole}.{plain[last + 1 :]}")
        return
    if points + commas > 1:
        yield Decimal(plain.replace(".", "").replace(",", ""))
        return
    yield Decimal(plain.replace(",", "."))
    whole, _, rest = plain.replace(",", ".").partition(".")
    digits = whole.lstrip("+-")
    if len(rest) == 3 and rest.isdecimal() and digits != "0" and len(digits) < 4:
        yield Decimal(whole + rest)


def _reading(value: Any) -> Reading:
    """Return the one spelling of a number: plain digits, or with an exponent if huge."""
    from decimal import localcontext

    with localcontext() as context:
        context.prec = 2 * _LONGEST
        plain = value.normalize()
        if plain.is_zero():
            return "number", "0"
        if abs(plain.adjusted()) > _LONGEST:
            return "number", str(plain)
        return "number", f"{plain:f}"


def readings_of_text(text: str, *, ignore_case: bool = False) -> frozenset[Reading]:
    """Return the readings of a text that is shown, or computed as a text.

    It reads as a number where it spells one and has no other letters or digits.
    """
    found = {("text", fold(text, ignore_case=ignore_case))}
    if len(text) <= 2 * _LONGEST:
        spelled = list(_NUMBER.finditer(text))
        if len(spelled) == 1:
            rest = text[: spelled[0].start()] + text[spelled[0].end() :]
            if not any(letter.isalnum() for letter in rest):
                for each in numbers_in(text):
                    found |= each
    return frozenset(found)


def readings_of(
    value: Any, *, decimals: int | None = None, ignore_case: bool = False
) -> frozenset[Reading]:
    """Return the readings of a computed scalar; none for bools, nulls and blank text.

    With `decimals` a number also reads as what it is rounded to so many decimals, half
    up and half to even.
    """
    if isinstance(value, str):
        if not value.strip():
            return frozenset()
        return readings_of_text(value, ignore_case=ignore_case)
    if not is_number(value):
        return frozenset()
    from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext

    if isinstance(value, int) and value.bit_length() > 200:
        return frozenset()
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    found = {exact}
    if decimals is not None and abs(exact) < Decimal(10) ** _LONGEST:
        with localcontext() as context:
            context.prec = 2 * _LONGEST + decimals
            step = Decimal(1).scaleb(-decimals)
            found.add(exact.quantize(step, rounding=ROUND_HALF_UP))
            found.add(exact.quantize(step, rounding=ROUND_HALF_EVEN))
    return frozenset(map(_reading, found))
