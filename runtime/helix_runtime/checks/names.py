"""Match the names of tools, actions and workflow nodes as hosts write them.

A name matches exactly, or else in its normalized form: NFC, without case, without
white space and `_ - . / :`. A host's prefix may be left out: `functions.` and
`mcp__<server>__`. So `ticket.route.update`, `ticket_route_update`,
`mcp__support__ticket-route-update` and `TicketRouteUpdate` are one name. Tools of two
servers are two, whatever they are called.
"""

from collections.abc import Iterable
from functools import lru_cache

_SEPARATORS = str.maketrans("", "", "_-./:")


@lru_cache(maxsize=1024)
def spelled(name: str) -> tuple[str, str | None, str]:
    """Return the normalized forms of a name: the whole, its MCP server, its tool.

    The server is None where the name has none; no form is empty.
    """
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFC", name)
    lowered = name.casefold().strip()
    server, tool = None, lowered.removeprefix("functions.")
    if tool.startswith("mcp__"):
        first, _, rest = tool.removeprefix("mcp__").partition("__")
        if _squeeze(first) and _squeeze(rest):
            server, tool = _squeeze(first), rest
    # A name of separators alone has no other form than itself.
    return _squeeze(lowered) or name, server, _squeeze(tool) or name


def _squeeze(name: str) -> str:
    return "".join(name.translate(_SEPARATORS).split())


class Names:
    """A set of known names that finds which of them a strange spelling means."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact: set[str] = set()
        self._whole: dict[str, str] = {}
        self._tools: dict[str, str] = {}
        self._served: dict[tuple[str | None, str], str] = {}
        for name in names:
            self._exact.add(name)
            whole, server, tool = spelled(name)
            self._whole.setdefault(whole, name)
            self._tools.setdefault(tool, name)
            self._served.setdefault((server, tool), name)

    def find(self, name: str) -> str | None:
        """Return the known name that `name` is or spells, or None."""
        if name in self._exact:
            return name
        whole, server, tool = spelled(name)
        if whole in self._whole:
            return self._whole[whole]
        if server is None:
            return self._served.get((None, tool)) or self._tools.get(tool)
        return self._served.get((server, tool)) or self._served.get((None, tool))


def match(left: str, right: str) -> bool:
    """Whether two names are one."""
    if left == right:
        return True
    whole, server, tool = spelled(left)
    other_whole, other_server, other_tool = spelled(right)
    if whole == other_whole:
        return True
    return tool == other_tool and (
        server is None or other_server is None or server == other_server
    )
