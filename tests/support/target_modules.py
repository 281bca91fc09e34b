"""Agents for tests of targets: modules as users write them, each under its own name."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from helix_runtime.case import Case
from helix_runtime.targets import Target, open_target
from helix_runtime.targets.options import TargetOptions
from helix_runtime.trace import Trace

_NUMBERS = count()


def case(query: str = "Where is order 1?", **changes: Any) -> Case:
    values: dict[str, Any] = {
        "id": "case-1",
        "query": query,
        "dimensions": {"origin": "seed"},
        "expected": {"response": "secret"},
    }
    return Case(**{**values, **changes})


@contextmanager
def agent_module(root: Path, source: str) -> Iterator[str]:
    """Write a module, give its name, and forget it afterwards."""
    name = f"subject_{next(_NUMBERS)}"
    (root / f"{name}.py").write_text(source, "utf-8")
    before = list(sys.path)
    try:
        yield name
    finally:
        sys.path[:] = before
        sys.modules.pop(name, None)


@contextmanager
def opened(
    kind: str, root: Path, source: str, name: str, **table: Any
) -> Iterator[Target]:
    """Open the target `kind:MODULE:name` of a module with that source.

    `{module}` in a value of the table stands for the module's name.
    """
    with agent_module(root, source) as module:
        filled = {
            key: value.format(module=module) if key in ("user", "deps") else value
            for key, value in table.items()
        }
        target = open_target(
            f"{kind}:{module}:{name}", root=root, options=TargetOptions(filled)
        )
        try:
            yield target
        finally:
            target.close()


def calls_of(trace: Trace) -> list[tuple[str, Any, Any, bool]]:
    """Return each tool call as (name, arguments, result, error)."""
    return [(c.name, c.arguments, c.result, c.error) for c in trace.tool_calls]


def error_of(trace: Trace) -> str:
    assert trace.status == "error"
    error: str = trace.ext["helix"]["error"]
    return error


def says(trace: Trace) -> list[tuple[str, str]]:
    """Return the conversation: who said what."""
    turns = [m for m in trace.transcript if m.role in ("user", "assistant")]
    return [(m.role, m.content) for m in turns]
