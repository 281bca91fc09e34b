"""Text that templates may print: made by the encoder of its language, and by no one else.

A template gets values of one such type only, and its environment refuses the rest, so
a text from a spec can't reach a file without its encoder.
"""

from typing import Any, Self


class Trusted(str):
    """The base of the trusted types; each language has its own."""

    __slots__ = ()

    def __new__(cls, *_: object) -> Self:
        """Refuse: a text becomes trusted by its encoder, not by a conversion."""
        raise TypeError(f"{cls.__name__} is made by its encoder only")

    @classmethod
    def by_encoder(cls, text: str) -> Self:
        """Return `text` as trusted. For the encoders of `emit` only."""
        return str.__new__(cls, text)


def finalizer(kind: type[Trusted]) -> Any:
    """Return the check of what a template prints: `kind` and nothing else."""

    def check(value: object) -> object:
        if type(value) is not kind:
            raise TypeError(
                f"a template prints {kind.__name__}, not {type(value).__name__}"
            )
        return value

    return check
