"""Find the object that a REF names, and say clearly where it can't be found."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from ..folder import blame
from ..refusal import CANT_CARRY_OUT, Refusal
from ..safe_text import printable


def import_object(rest: str, *, name: str, form: str, root: Path) -> Any:
    """Return the object of `MODULE:NAME`; dots in NAME go into objects.

    `name` is the whole REF and `form` what it must read like. Raises Refusal where the
    module can't be imported or has no such name, and what the module raises to say
    that it is not written yet.
    """
    module_name, colon, path = rest.partition(":")
    if not colon or not module_name or not path:
        raise Refusal(f"the target {name!r} must read {form}")
    found: Any = import_module_of(module_name, name=name, root=root)
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Refusal(f"the target {name!r}: {module_name} has no {path}") from None
    return found


def import_module_of(module_name: str, *, name: str, root: Path) -> Any:
    """Import the module of a REF. Raises Refusal where it breaks."""
    from importlib import import_module

    from . import TargetNotWritten

    # The suite's own folder for its target.py, the working directory for the agent;
    # at the end, so that neither can hide a module of the standard library.
    for folder in (str(root), os.getcwd()):
        if folder not in sys.path:
            sys.path.append(folder)
    try:
        return import_module(module_name)
    except (TargetNotWritten, KeyboardInterrupt):
        raise
    except BaseException as error:  # a script that ends with `sys.exit()`, too
        raise Refusal(
            f"the target {name!r} can't be imported: {blame(error)}"
            + _where_to_look(module_name, error, root)
        ) from error


def _where_to_look(module_name: str, error: BaseException, root: Path) -> str:
    """Return where a module is looked for, where it is the module that is not there."""
    package = module_name.partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or error.name != package:
        return ""
    told = (
        "; it is looked for in the suite's folder, in the working directory, on "
        "PYTHONPATH and among what is installed"
    )
    beside = root.parent
    if (beside / f"{package}.py").is_file() or (beside / package).is_dir():
        told += f": it is beside the suite, so set PYTHONPATH={printable(str(beside))}"
    return told


def import_framework(
    module_name: str, *, package: str, name: str, subject: Any = None
) -> Any:
    """Import a framework that a REF needs. Raises Refusal that says how to get it.

    Where `subject` is a function that is still as it was generated, that is said
    first: there is nothing to install for it yet.
    """
    from importlib import import_module

    from . import TargetNotWritten

    try:
        return import_module(module_name)
    except ImportError as error:
        code = getattr(subject, "__code__", None)
        if code is not None and "TargetNotWritten" in code.co_names:
            raise TargetNotWritten from error
        raise Refusal(
            f"the target {name!r} needs {package}, which can't be imported here "
            f"({error}): `pip install {package}`",
            exit_code=CANT_CARRY_OUT,
        ) from error
