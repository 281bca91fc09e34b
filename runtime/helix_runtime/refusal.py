"""What a command says when it can't do what was asked, and the exit code it gives."""

from typing import Final

USAGE: Final = 2
CANT_CARRY_OUT: Final = 4
INTERRUPTED: Final = 130
TERMINATED: Final = 143
INTERNAL: Final = 70


class Refusal(Exception):
    """The command stops before it does anything wrong.

    Each of `lines` says what is wrong, where, and what to do. `exit_code` is USAGE
    for arguments and configuration, CANT_CARRY_OUT where the target or the judge
    can't be reached. Lines may hold a stranger's text: the CLI makes them printable.
    """

    def __init__(self, *lines: str, exit_code: int = USAGE) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
        self.exit_code = exit_code


def close_match(word: str, known: "list[str]") -> str:
    """Return ` (did you mean X?)` for the closest known word, or an empty text."""
    from difflib import get_close_matches

    found = get_close_matches(word, known, n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""
