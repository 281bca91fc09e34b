"""Names for what a spec names: ASCII identifiers, one allocator for each scope.

A name depends on its own id alone wherever it can, so that a name stays when other ids
come and go: where ids collide, the one that reads most like the name keeps it and the
others carry a hash of their id, in whatever order they stand.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from helix_runtime.canonical import content_key

from .literal import Code, name

MAX_LENGTH: Final = 46
"""So that `def NAME(case: Case, trace: Trace) -> Verdict:` fits into a line."""

_HASH_DIGITS: Final = 8

# Spelt out, not asked of the running Python: the names must not depend on its version.
KEYWORDS: Final = frozenset("""
    False None True and as assert async await break class continue def del elif else
    except finally for from global if import in is lambda nonlocal not or pass raise
    return try while with yield match case type print exec
    """.split())
BUILTINS: Final = frozenset("""
    abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr
    classmethod compile complex copyright credits delattr dict dir divmod enumerate eval
    exit filter float format frozenset getattr globals hasattr hash help hex id input int
    isinstance issubclass iter len license list locals map max memoryview min next object
    oct open ord pow property quit range repr reversed round set setattr slice sorted
    staticmethod str sum super tuple vars zip self cls
    """.split())
# What a reader expects these words to mean in a Python file, above all in one that a
# check's author adds imports to.
MODULES: Final = frozenset("""
    abc argparse ast asyncio base64 bisect builtins calendar cmath collections conftest
    contextlib copy csv dataclasses datetime decimal difflib email enum fractions
    functools hashlib heapq html http importlib inspect io itertools json locale logging
    math operator os pathlib pickle pprint pytest random re secrets shutil site socket
    sqlite3 statistics string struct subprocess sys tempfile test tests textwrap threading
    time tomllib traceback types typing unicodedata unittest urllib uuid warnings xml
    zipfile zoneinfo
    """.split())
# A name may become a file's name one day; Windows has no file of these names.
DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", "conin", "conout", "clock"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in range(10)]
)
RESERVED: Final = KEYWORDS | BUILTINS | MODULES | DEVICES

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SEPARATORS: Final = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Scope:
    """A scope that names live in.

    `kind` is the word for what is named (`check`, `judge`): it disambiguates a name
    that is taken, and stands in for an id that leaves nothing. `taken` holds the
    names that the scope's own code uses; they are compared without case.
    """

    kind: str
    taken: frozenset[str] = field(default_factory=frozenset)

    def allocate(self, ids: Iterable[str]) -> Mapping[str, Code]:
        """Return a name for each id: distinct, also where case doesn't count."""
        claims: dict[str, list[str]] = {}
        for spec_id in dict.fromkeys(ids):
            claims.setdefault(self._wish(spec_id), []).append(spec_id)
        names: dict[str, Code] = {}
        used = set(claims)
        for wish, claimants in claims.items():
            first, *others = sorted(claimants, key=lambda i: _distance(i, wish))
            names[first] = name(wish)
            for spec_id in others:
                names[spec_id] = name(_suffixed(wish, spec_id, used))
        return names

    def _wish(self, spec_id: str) -> str:
        """The name that an id would have if it were alone."""
        text = ascii_words(spec_id)
        if not text:
            return f"{self.kind}_{_digits(spec_id)}"
        if text[0].isdigit():
            text = f"{self.kind}_{text}"
        if text in RESERVED or text in self.taken:
            text = f"{text}_{self.kind}"
        if len(text) > MAX_LENGTH:
            cut = text[: MAX_LENGTH - _HASH_DIGITS - 1]
            # At a word's end, where one is near.
            whole = cut.rpartition("_")[0]
            if len(whole) > MAX_LENGTH // 2:
                cut = whole
            text = f"{cut.rstrip('_')}_{_digits(spec_id)}"
        return text


def ascii_words(text: str) -> str:
    """Return the ASCII words of a text in snake case; empty where there are none.

    Compatibility forms are folded first (NFKC: a mathematical or full-width letter is
    the letter), then accents are dropped.
    """
    if not text.isascii():
        # The tables of Unicode 3.2 are the same in every Python.
        from unicodedata import ucd_3_2_0 as table

        folded = table.normalize("NFKC", text)
        text = "".join(
            character
            for character in table.normalize("NFD", folded)
            if not table.combining(character)
        )
    return _SEPARATORS.sub("_", _HUMP.sub("_", text)).strip("_").lower()


def _distance(spec_id: str, wish: str) -> tuple[int, str]:
    """How far an id is from its name: kebab case, snake case, then any other."""
    if spec_id == wish.replace("_", "-"):
        return 0, ""
    return (1, "") if spec_id == wish else (2, content_key(spec_id))


def _suffixed(wish: str, spec_id: str, used: set[str]) -> str:
    key = content_key(spec_id)
    stem = wish[: MAX_LENGTH - _HASH_DIGITS - 1].rstrip("_")
    for digits in range(_HASH_DIGITS, len(key) + 1):
        candidate = f"{stem}_{key[:digits]}"
        if candidate not in used:
            used.add(candidate)
            return candidate
    raise AssertionError("two ids of one content hash")


def _digits(spec_id: str) -> str:
    return content_key(spec_id)[:_HASH_DIGITS]


def taken(*groups: Sequence[str]) -> frozenset[str]:
    """Return names that a file's own code uses, ready for `Scope.taken`."""
    return frozenset(word.lower() for group in groups for word in group)
