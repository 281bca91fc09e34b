"""`helix-gen lint`: every problem of a spec, its overlay and its eval design at once."""

from pathlib import Path
from typing import Literal

from . import console
from .inputs import gather
from .problems import (
    Problem,
    count_line,
    has_errors,
    in_order,
    render_github,
    render_json,
    render_text,
)

Format = Literal["text", "json", "github"]


def execute(
    *,
    spec: str,
    overlay: Path | None,
    public: bool,
    strict: bool,
    format: Format,
    quiet: bool,
) -> int:
    """Print the problems, the result of this command, to stdout; return the exit code."""
    problems = in_order(_problems(spec, overlay, public=public))
    if format == "json":
        console.say(render_json(problems))
    elif format == "github":
        console.say(render_github(problems))
    else:
        console.say(render_text(problems))
        if not quiet:
            console.tell(f"{count_line(problems)}\n")
    return 2 if has_errors(problems) or (strict and problems) else 0


def _problems(spec: str, overlay: Path | None, *, public: bool) -> list[Problem]:
    gathered = gather(spec=spec, overlay=overlay, items=(), engine="auto", target=None)
    inputs = gathered.inputs
    if inputs is None:
        return gathered.problems
    from .generate import read_inputs, resolve_read
    from .lint.smells import smells

    read, said, problems = read_inputs(inputs, public=public)
    problems = [*gathered.problems, *problems, *smells(read, said)]
    if has_errors(problems):
        return problems
    return [*problems, *resolve_read(read, said, inputs).problems]
