"""The user's own functions beside the target: the simulator of users, the warm-up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..refusal import Refusal
from .importing import import_module_of, import_object
from .options import TargetOptions

if TYPE_CHECKING:
    from .turns import UserSimulator


def simulator_of(options: TargetOptions, *, root: Path) -> UserSimulator | None:
    """Return the user simulator that is named, or that target.py has, or None."""
    return hook_of(
        options.user,
        key="user",
        default="user_simulator",
        hooks=options.hooks,
        root=root,
    )


def hook_of(
    named: str | None, *, key: str, default: str, hooks: str | None, root: Path
) -> Callable[..., Any] | None:
    """Return a function of the user's: the one that `[target] key` names, else the one
    called `default` in the module `hooks`, or None where there is none.

    Raises Refusal where what is named is not there or can't be called.
    """
    if named is not None:
        form = "MODULE:CALLABLE"
        found = import_object(
            named, name=f"{key} = {named}", form=f'{key} = "{form}"', root=root
        )
    elif hooks is not None:
        found = getattr(_module_if_there(hooks, root), default, None)
        if found is None:
            return None
    else:
        return None
    if not callable(found):
        kind = type(found).__name__
        raise Refusal(
            f"[target] {key}: it is of the type {kind}, which can't be called"
        )
    function: Callable[..., Any] = found
    return function


def _module_if_there(module_name: str, root: Path) -> Any:
    """Import the suite's own module of hooks; None where its folder has none."""
    path = root.joinpath(*module_name.split(".")).with_suffix(".py")
    if module_name not in sys.modules and not path.is_file():
        return None
    return import_module_of(module_name, name=module_name, root=root)
