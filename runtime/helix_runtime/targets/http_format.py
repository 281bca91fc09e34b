"""What a wire format over HTTP is: requests of a turn, a conversation, the format."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Protocol

from ..case import Case
from .recording import Recording


class Request:
    """One request of a turn, sent when `after` seconds have passed.

    `query` is added to the target's URL.
    """

    __slots__ = ("after", "body", "method", "query")

    def __init__(
        self,
        body: Any,
        *,
        method: str = "POST",
        query: Mapping[str, Any] | None = None,
        after: float = 0.0,
    ) -> None:
        self.body = body
        self.method = method
        self.query = query
        self.after = after


Turn = Generator[Request, Any, None]
"""Yields the requests of a turn, is sent what each was answered (JSON data, or the
text where it is none), and notes what that says. Raises SubjectFailed."""


class Dialogue(Protocol):
    """One conversation over HTTP."""

    def turn(self, text: str, recording: Recording) -> Turn:
        """Go through one turn."""
        ...


class Format(Protocol):
    """A wire format."""

    observed: Sequence[str]

    def url(self, url: str) -> str:
        """Return where requests go, given the URL of the REF."""
        ...

    def headers(self) -> dict[str, str]:
        """Return the headers that belong to the format."""
        ...

    def open(self, case: Case, *, conversation: str) -> Dialogue:
        """Return a fresh conversation. `conversation` is an id of this run alone."""
        ...
