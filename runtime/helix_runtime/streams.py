"""The standard streams of a command, made so that none of them can change its exit code.

What goes to stderr are remarks: where they can't be written (a full disk, a reader that
went away) they are lost, and the command goes on. What goes to stdout are results: a
fault there is told from others by `is_stdouts`, and ends the command with a code that
no result has.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Mapping
from typing import Any, Final

_SIGNS: Final[Mapping[str, str]] = {
    **dict.fromkeys("─–·▸↳", "-"),
    **dict(zip("█▚░✓✗→×’“”", '#x.+x>x\'""', strict=True)),
    "…": "~",  # as wide, so that columns and carets stay where they are
    "≥": ">=",
    "≤": "<=",
    "—": "--",
}
"""Our own signs, as a stream spells them that can't hold them."""


def make_streams_safe() -> None:
    """Let no closed stream, no character and no full disk end a command by itself."""
    # Python has no stream where the caller closed it (`>&-`): what is said goes nowhere.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
    # A pipe on Windows or an ASCII locale can't hold every character: what it can't
    # hold is spelled or escaped, it must not stop a run.
    codecs.register_error(_SPELLED, _spell)
    codecs.register_error(_JSON, _escape_in_json)
    for stream in (sys.stdout, sys.stderr):
        _set_errors(stream, _SPELLED)
    # Another one than the process's own is somebody's who wants to see it (a test). A
    # console of Windows takes texts, not bytes, and is never full.
    own = sys.stderr is sys.__stderr__ and type(sys.stderr) is io.TextIOWrapper
    if own and os.name != "nt":
        _let_remarks_go(sys.stderr)


def expect_json() -> None:
    """Let stdout hold JSON in any encoding: what it can't hold is escaped as JSON does."""
    _set_errors(sys.stdout, _JSON)


_SPELLED: Final = "helix.spelled"
_JSON: Final = "helix.json"


def _set_errors(stream: Any, errors: str) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=errors)


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    part = error.object[error.start : error.end]
    spelled = (
        _SIGNS.get(c) or c.encode("ascii", "backslashreplace").decode() for c in part
    )
    return "".join(spelled), error.end


def _escape_in_json(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    part = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    units = (part[at : at + 2].hex() for at in range(0, len(part), 2))
    return "".join(f"\\u{unit}" for unit in units), error.end


def _let_remarks_go(stream: Any) -> None:
    try:
        remarks = _Remarks(stream.fileno(), "w", closefd=False)
    except (OSError, ValueError):
        return
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(remarks),
        encoding=stream.encoding,
        errors=_SPELLED,
        line_buffering=True,
    )


class _Remarks(io.FileIO):
    """A file whose unwritable bytes are lost."""

    def write(self, data: Any) -> int:
        """Write bytes and return how many are dealt with: all, where they can't be."""
        try:
            written: int | None = super().write(data)
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written


def is_stdouts(error: OSError) -> bool:
    """Whether it was stdout that could not be written (a full disk behind `>`)."""
    try:
        sys.stdout.write("\n")  # an unbuffered stream has nothing left to flush
        sys.stdout.flush()
    except OSError as again:
        return again.errno == error.errno
    return False


def give_up_stdout() -> None:
    """Let the interpreter end without writing into stdout once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
