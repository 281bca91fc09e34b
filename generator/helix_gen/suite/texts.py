"""Small joins of a spec's texts into the sentences of a suite."""

from collections.abc import Mapping
from typing import Final

_ENDS: Final = ".!?…:;。！？।"


def sentence(text: str) -> str:
    """Return a text that another sentence can follow: stripped, with an end."""
    text = text.strip()
    return text if not text or text[-1] in _ENDS else text + "."


def within(special: str, general: str) -> str:
    """Return a special situation and, behind it, the general one it is part of."""
    general = general.strip()
    return f"{special} — {general}" if general else special


def combination(values: Mapping[str, str], about: str = "") -> str:
    """Return a combination of dimensions in words: `path: stop, evidence: clear`."""
    text = ", ".join(f"{name}: {value}" for name, value in values.items())
    about = about.strip().rstrip(".")
    return f"{text} ({about})" if about else text
