"""The user's own code that a target in this process was loaded from, file by file.

A run that is gone on with must not mix two agents unseen, and an agent is more than the
module that the REF names: what that imports is the agent as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final, cast

from ..canonical import key_of

# Where installed code lies, whatever its environment.
_INSTALLED: Final = frozenset(("site-packages", "dist-packages"))
_STANDARD: Final = tuple(
    os.path.dirname(path) + os.sep
    for path in (os.__file__, os.path.realpath(os.__file__))
)
_RUNTIME: Final = __name__.rpartition(".targets.")[0]
# They decide, and are no part of the subject.
_DECIDING: Final = ("", ".__main__", ".suite", ".checks", ".judges")


def code_of_target(
    ref: str, *, package: str, before: Collection[str]
) -> dict[str, str]:
    """Return the content key of each file of the user's that a target was loaded from.

    They are those of modules that came in since `sys.modules` held `before`, and those
    that the REF's module reaches through what it holds, as a check may have imported
    them first. A file is named by its module (`agent/tools.py`), one of the suite's own
    `package` without that. What Python itself brings, what is installed, and what
    decides are left out.
    """
    names = set(sys.modules).difference(before)
    names |= _reached(ref.partition(":")[2].partition(":")[0])
    deciding = {package + name for name in _DECIDING}
    found: dict[str, str] = {}
    for name in sorted(names - deciding):
        if name == _RUNTIME or name.startswith(_RUNTIME + "."):
            continue
        path = _own_file(name)
        if path is None:
            continue
        try:
            data = Path(path).read_bytes()
        except OSError:
            continue  # it was loaded from an archive, or is gone
        found[_told(name, path, package)] = key_of(data)
    return found


def _reached(start: str) -> set[str]:
    """The names of the user's modules that one holds: their functions, classes, values."""
    found: set[str] = set()
    left = [start]
    while left:
        name = left.pop()
        if name in found or _own_file(name) is None:
            continue
        found.add(name)
        left += _named_by(_held(sys.modules[name]).values())
    return found


def _held(module: ModuleType) -> dict[str, Any]:
    """What a module holds, without loading one that waits for its first use."""
    held: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return held


def _named_by(values: Iterable[object]) -> Iterator[str]:
    for value in list(values):
        # Nothing is asked of the value itself: it may answer for anything.
        kind = type(value)
        if issubclass(kind, ModuleType):
            name = _held(cast(ModuleType, value)).get("__name__")
        elif issubclass(kind, (type, FunctionType)):
            name = cast(type, value).__module__
        else:
            name = kind.__module__
        if isinstance(name, str):
            yield name


def _own_file(name: str) -> str | None:
    """Return the file of a loaded module that is the user's own, else None."""
    module = sys.modules.get(name)
    # By its type: libraries put objects there that only say that they are modules.
    if module is None or not issubclass(type(module), ModuleType):
        return None
    path = _held(module).get("__file__")
    if not isinstance(path, str) or not path:
        return None
    if _is_brought(path) or _is_brought(os.path.realpath(path)):
        return None
    return path


def _is_brought(path: str) -> bool:
    """Whether Python itself brings a file, or it is installed."""
    return path.startswith(_STANDARD) or not _INSTALLED.isdisjoint(path.split(os.sep))


def _told(name: str, path: str, package: str) -> str:
    stem, suffix = os.path.splitext(os.path.basename(path))
    place = name.removeprefix(package + ".").replace(".", "/")
    return f"{place}/__init__{suffix}" if stem == "__init__" else place + suffix
