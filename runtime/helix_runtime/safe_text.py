r"""Text of strangers, made safe to print: nothing that moves, hides or reorders text.

Specs, traces and judges write what they like. Printed as it is, an escape sequence
repaints the terminal, a bidi override shows another text than the one that stands
there, and a lone surrogate breaks the encoder. Here each such character becomes a
visible escape (`\x1b`, `\u202e`); text in any script stays as it is.
"""

from typing import Final

ELLIPSIS: Final = "…"


def printable(text: str, limit: int | None = None) -> str:
    """Return `text` on one line with every unprintable character escaped.

    Controls, escape sequences, format and bidi characters, lone surrogates, line and
    paragraph separators and unassigned code points are escaped (`\\n`, `\\x1b`,
    `\\u2028`); the plain space is the only white space that stays. A `limit` of at
    least 1 cuts the result to so many characters, the last of them an ellipsis.
    """
    if limit is not None and len(text) > limit:
        # Escapes only make a text longer: nothing behind the limit can come to show,
        # and a flood of 100 MB is not walked through.
        text = text[: limit + 1]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _escape(c) for c in text)
    if limit is not None and len(text) > limit:
        text = text[: max(limit - 1, 0)] + ELLIPSIS
    return text


def printable_lines(text: str, limit: int | None = None) -> list[str]:
    """Return the lines of `text`, each made printable; only `\\n` and `\\r\\n` end one.

    The limit is that of a single line. Tabs become four spaces.
    """
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return [printable(line, limit) for line in lines]


_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(character: str) -> str:
    short = _SHORT.get(character)
    if short is not None:
        return short
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"
