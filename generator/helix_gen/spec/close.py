"""Close matches: what a misspelt key or id was probably meant to be."""

from collections.abc import Iterable
from typing import Final

from ..problems import listed, quoted

MAX_LENGTH: Final = 80
BUDGET: Final = 200_000


class CloseMatches:
    """Finds close matches, with a bound on the work that a hostile file can cause.

    Each comparison of a word with a candidate counts; behind the budget, or for very
    long words, nothing is close.
    """

    def __init__(self, budget: int = BUDGET) -> None:
        self._left = budget

    def closest(self, word: str, candidates: Iterable[str]) -> str | None:
        """Return the candidate that is most like `word`, or None."""
        candidates = [c for c in candidates if len(c) <= MAX_LENGTH]
        if len(word) > MAX_LENGTH or len(candidates) > self._left:
            return None
        self._left -= len(candidates)
        folded = {c.casefold(): c for c in reversed(candidates)}
        if word.casefold() in folded:
            return folded[word.casefold()]
        from difflib import get_close_matches

        found = get_close_matches(word, candidates, n=1, cutoff=0.65)
        return found[0] if found else None

    def hint(self, word: str, candidates: Iterable[str], *, what: str) -> str:
        """Return a hint: the close match, or what there is (`what` names it)."""
        candidates = list(candidates)
        close = self.closest(word, candidates)
        if close is not None:
            return f"did you mean {quoted(close)}?"
        if not candidates:
            return f"there are no {what}"
        return f"{what}: {listed(candidates)}"
