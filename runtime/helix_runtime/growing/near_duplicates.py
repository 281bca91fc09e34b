"""Near-duplicates among texts: exact, by the Jaccard index of their sets of tokens.

Two texts are near-duplicates where they share at least four fifths of their tokens:
|A ∩ B| / |A ∪ B| ≥ 0.8. Not every pair is compared. Each set is put in one order, the
rare tokens first. Two sets that are similar enough must share one of the first
n - ⌈0.8 n⌉ + 1 tokens (prefix filtering: Chaudhuri, Ganti and Kaushik, 2006), and what
stands behind the first shared token bounds how much they can share (positional
filtering: Xiao et al., 2008). Sets that share their token at one position are kept
together, so that a whole group of them is passed over at once.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, Generic, TypeVar

THRESHOLD: Final = (4, 5)
"""The share of tokens from which on two texts are near-duplicates, as a fraction."""

Tokens = frozenset[str]
Share = tuple[int, int]
"""A share of tokens as a fraction, above 0 and at most 1."""
_Key = TypeVar("_Key")

_WORD: Final = re.compile(r"\w+")
# Scripts that put no space between words: Thai to Myanmar, Khmer, kana, ideographs.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def tokens_of(text: str) -> Tokens:
    """Return the set of a text's tokens: its words, without case and punctuation.

    Where a script has no spaces, each two neighbouring characters are a token. A text
    without any word is one token by itself, an empty one has none.
    """
    from unicodedata import normalize

    found: set[str] = set()
    for word in _WORD.findall(normalize("NFKC", text).casefold()):
        for run in _UNSPACED.findall(word):
            found.update(run[i : i + 2] for i in range(max(len(run) - 1, 1)))
        found.update(_WORD.findall(_UNSPACED.sub(" ", word)))
    text = text.strip()
    return frozenset(found) if found or not text else frozenset((text,))


def _needed(first: int, second: int, threshold: Share) -> int:
    """How many tokens sets of these sizes must share to be near-duplicates."""
    share, whole = threshold
    return -(-share * (first + second) // (share + whole))


class NearDuplicates(Generic[_Key]):
    """Sets of tokens that were added under keys, found again by their likeness.

    `corpus` is what will be added and looked for, as far as it is known: its rare
    tokens make the search quick. What is found does not depend on it.
    `threshold` is the share from which on two sets are near-duplicates.
    """

    def __init__(
        self, corpus: Iterable[Tokens] = (), *, threshold: Share = THRESHOLD
    ) -> None:
        self._threshold = threshold
        self._count: Counter[str] = Counter()
        for tokens in corpus:
            self._count.update(tokens)
        self._sets: list[Tokens] = []
        self._keys: list[_Key] = []
        self._same: dict[Tokens, int] = {}
        # token → (size of the set, the token's position in it) → numbers of sets
        self._groups: dict[str, dict[tuple[int, int], list[int]]] = {}

    def add(self, tokens: Tokens, key: _Key) -> None:
        """Add a set under a key. An equal set is found under its first key."""
        if not tokens or tokens in self._same:
            return
        number = self._same[tokens] = len(self._sets)
        self._sets.append(tokens)
        self._keys.append(key)
        for position, token in enumerate(self._prefix(tokens)):
            groups = self._groups.setdefault(token, {})
            groups.setdefault((len(tokens), position), []).append(number)

    def find(self, tokens: Tokens) -> _Key | None:
        """Return the key of the first set added that is a near-duplicate, or None."""
        size = len(tokens)
        share, whole = self._threshold
        best = self._same.get(tokens, len(self._sets))
        compared: set[int] = set()
        for position, token in enumerate(self._prefix(tokens)):
            for (other, place), numbers in self._groups.get(token, {}).items():
                if other * whole < share * size or size * whole < share * other:
                    continue
                needed = _needed(size, other, self._threshold)
                # As if this token were the first that they share: where it is not,
                # the pair was looked at when that one's turn was.
                if min(size - position, other - place) < needed:
                    continue
                for number in numbers:
                    if number >= best:
                        break
                    if number in compared:
                        continue
                    compared.add(number)
                    if len(tokens & self._sets[number]) >= needed:
                        best = number
                        break
        return self._keys[best] if best < len(self._keys) else None

    def _prefix(self, tokens: Tokens) -> list[str]:
        share, whole = self._threshold
        ordered = sorted(tokens, key=lambda token: (self._count[token], token))
        return ordered[: len(tokens) - -(-share * len(tokens) // whole) + 1]
