"""Match the names of tools, actions and workflow nodes as hosts write them.

A name matches exactly, or else in its normalized form: NFC, without case, without
white space and `_ - . / :`. A host's prefix may be left out: `functions.` and
`mcp__<server>__`. So `ticket.route.update`, `ticket_route_update`,
`mcp__support__ticket-route-update` and `TicketRouteUpdate` are one name.
"""

from collections.abc import Iterable
from functools import lru_cache

_SEPARATORS = str.maketrans("", "", "_-./:")


@lru_cache(maxsize=1024)
def forms(name: str) -> frozenset[str]:
    """Return the normalized forms of a name: with a host's prefix and without."""
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFC", name)
    lowered = name.casefold().strip()
    bare = lowered.removeprefix("functions.")
    if bare.startswith("mcp__"):
        server, _, tool = bare.removeprefix("mcp__").partition("__")
        if server and tool:
            bare = tool
    squeezed = {_squeeze(lowered), _squeeze(bare)} - {""}
    # A name of separators alone has no other form than itself.
    return frozenset(squeezed or {name})


def _squeeze(name: str) -> str:
    return "".join(name.translate(_SEPARATORS).split())


class Names:
    """A set of known names that finds which of them a strange spelling means."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact: set[str] = set()
        self._forms: dict[str, str] = {}
        for name in names:
            self._exact.add(name)
            for form in forms(name):
                self._forms.setdefault(form, name)

    def find(self, name: str) -> str | None:
        """Return the known name that `name` is or spells, or None."""
        if name in self._exact:
            return name
        # Sorted, so that the answer never depends on the order of hashes.
        for form in sorted(forms(name), key=lambda form: (-len(form), form)):
            if form in self._forms:
                return self._forms[form]
        return None


def match(left: str, right: str) -> bool:
    """Whether two names are one."""
    return left == right or not forms(left).isdisjoint(forms(right))
