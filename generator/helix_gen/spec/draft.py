"""A spec with errors, as far as it can be read: so that every problem comes at once.

What an error stands in is taken out (an entry of a list, an unknown key) and the rest
is read again. Places stay those of the file. Nothing is generated from a draft.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from .formats import recognize
from .located import Located, Path
from .read import ReadSpec

if TYPE_CHECKING:
    from pydantic import ValidationError

    from . import v02, v03

MAX_ROUNDS: Final = 8
"""How often what an error stands in is taken out: one round finds them all but few."""


def draft_of(read: ReadSpec) -> ReadSpec | None:
    """Return what of a spec with errors can be read, None where too little can."""
    from pydantic import ValidationError

    if read.card is not None:
        return read
    if not isinstance(read.source.data, dict):
        return None
    version = recognize(read.source).version
    if version is None:
        return None
    source = _copied(read.source)
    source.data.pop("status", None)
    for _ in range(MAX_ROUNDS):
        try:
            card = _model(version).model_validate(source.data)
        except ValidationError as error:
            if not _take_out(source, error):
                return None
        else:
            return replace(read, card=card, source=source)
    return None


def _model(version: str) -> "type[v02.AgentSpec] | type[v03.AgentSpec]":
    if version == "0.2.0":
        from . import v02

        return v02.AgentSpec
    from . import v03

    return v03.AgentSpec


def _copied(source: Located) -> Located:
    """Return the data in containers of its own, each with its places."""
    places: dict[int, list[int]] = {}

    def copy(value: Any) -> Any:
        if not isinstance(value, (dict, list)):
            return value
        new: Any = (
            {key: copy(each) for key, each in value.items()}
            if isinstance(value, dict)
            else [copy(each) for each in value]
        )
        places[id(new)] = list(source.places.get(id(value), (0,)))
        return new

    return Located(source.file, source.text, copy(source.data), places)


def _take_out(source: Located, error: "ValidationError") -> bool:
    """Take out what the errors stand in; False where one stands in no list."""
    from .structure import real_path

    entries: set[Path] = set()
    keys: set[Path] = set()
    for details in error.errors(include_url=False, include_input=False):
        path = real_path(source.data, details["loc"], details["type"])
        if details["type"] == "extra_forbidden":
            keys.add(path)
            continue
        number = max((n for n, s in enumerate(path) if isinstance(s, int)), default=-1)
        if number < 0:
            return False
        entries.add(path[: number + 1])
    for path in keys:
        parent = source.get(path[:-1])
        at = list(parent).index(path[-1])
        del parent[path[-1]], source.places[id(parent)][1 + 2 * at : 3 + 2 * at]
    # From behind, so that the numbers of those before still hold.
    for path in sorted(entries, key=_order, reverse=True):
        parent, index = source.get(path[:-1]), path[-1]
        if isinstance(parent, list) and isinstance(index, int) and index < len(parent):
            del parent[index], source.places[id(parent)][1 + index]
    return True


def _order(path: Path) -> list[tuple[int, str]]:
    return [(s, "") if isinstance(s, int) else (-1, s) for s in path]
