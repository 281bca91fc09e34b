"""What reaches the terminal: results on stdout, problems and progress on stderr.

Colour is for a terminal only, and never with NO_COLOR or CI. All of a stranger's text
goes through `helix_runtime.safe_text.printable` before it comes here.
"""

import os
import sys
from collections.abc import Iterable
from typing import TextIO

from .problems import Problem, count_line, render_text

_BOLD, _DIM, _RED, _YELLOW, _GREEN = "1", "2", "31", "33", "32"


def say(text: str) -> None:
    """Write a result to stdout; `text` ends its own lines."""
    sys.stdout.write(text)


def tell(text: str) -> None:
    """Write a remark to stderr; `text` ends its own lines."""
    sys.stderr.write(text)


def tell_problems(problems: Iterable[Problem]) -> None:
    """Write all problems to stderr, in order, and how many they are."""
    found = list(problems)
    if not found:
        return
    text = render_text(found)
    if has_color(sys.stderr):
        text = text.replace(": error[", f": {_in(_RED, 'error')}[")
        text = text.replace(": warning[", f": {_in(_YELLOW, 'warning')}[")
    tell(text)
    tell(f"{count_line(found)}\n")


def has_color(stream: TextIO) -> bool:
    """Whether colour may be written to a stream."""
    environment = os.environ
    if environment.get("NO_COLOR") or environment.get("CI"):
        return False
    return stream.isatty() and environment.get("TERM") != "dumb"


def heading(text: str) -> str:
    """Return a heading for stdout."""
    return _in(_BOLD, text) if has_color(sys.stdout) else text


def dim(text: str) -> str:
    """Return a remark for stdout."""
    return _in(_DIM, text) if has_color(sys.stdout) else text


def good(text: str) -> str:
    """Return an added line for stdout."""
    return _in(_GREEN, text) if has_color(sys.stdout) else text


def bad(text: str) -> str:
    """Return a removed line for stdout."""
    return _in(_RED, text) if has_color(sys.stdout) else text


def _in(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
