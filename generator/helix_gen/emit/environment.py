"""The Jinja environments: one for each language, each printing its trusted type only."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import helix_templates

from .trusted import Trusted, finalizer

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment(kind: type[Trusted]) -> "Environment":
    """Return the environment whose templates print `kind` and refuse all else.

    Jinja is imported here: a run that finds nothing to render starts without it.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(helix_templates.__file__).parent),
        undefined=StrictUndefined,
        finalize=finalizer(kind),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # What a template prints is trusted by its type, not by HTML escaping.
        autoescape=False,
    )


def fill(kind: type[Trusted], template: str, /, **values: Any) -> bytes:
    """Return a template filled in, as UTF-8."""
    text = environment(kind).get_template(f"{template}.jinja").render(values)
    return text.encode("utf-8")
