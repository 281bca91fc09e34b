"""Providers: who carries a judge's request to a model.

A provider is a thin adapter: one request in, one reply or one ProviderError out. It
does not retry, does not read answers and does not change models. Each adapter is
imported, with its SDK, only when it is opened.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from ..unit import JudgeUsage

ErrorKind = Literal[
    "sdk-missing",
    "credentials",
    "unknown-provider",
    "bad-request",
    "quota",
    "rate-limit",
    "timeout",
    "unreachable",
    "broken",
    "server",
    "bad-reply",
]
# What can be over in a moment. Everything else is the same on the next try.
TRANSIENT: Final = frozenset(
    ("rate-limit", "timeout", "unreachable", "broken", "server")
)
# What no later unit can get past either: the run can't be carried out.
FATAL: Final = frozenset(("sdk-missing", "credentials", "unknown-provider"))

FinishReason = Literal["stop", "length", "refusal", "content-filter", "other"]


class ProviderError(Exception):
    """A request that brought no reply.

    `unreachable` is no connection at all, `broken` one that was lost. `message` is one
    line for the user; no credential ever stands in it. `retry_after` is what the
    provider asked to wait, in seconds.
    """

    def __init__(
        self, kind: ErrorKind, message: str, *, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """One request. `schema` is the JSON Schema of the answer; `timeout` in seconds.

    A `temperature` of None leaves the parameter out.
    """

    system: str
    user: str
    schema: Mapping[str, Any]
    model: str
    temperature: float | None
    max_tokens: int
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """One reply: its text, the model as the provider reports it, and its cost."""

    text: str
    model: str | None
    finish_reason: FinishReason
    usage: JudgeUsage


class Provider(Protocol):
    """An adapter. Safe to call from many threads."""

    @property
    def name(self) -> str:
        """The provider's name, as in the pin."""
        ...

    @property
    def identity(self) -> str:
        """The name and the server that answers; never a credential."""
        ...

    def complete(self, request: JudgeRequest) -> JudgeReply:
        """Return the model's reply. Raises ProviderError, and nothing else."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


PROVIDERS: Final = ("openai",)


def open_provider(name: str, *, base_url: str | None = None) -> Provider:
    """Return the provider of that name, ready to be asked.

    Credentials come from the environment only. Raises ProviderError where the SDK or
    the credentials are missing, or where there is no provider of that name.
    """
    if name == "openai":
        from .openai_sdk import OpenAIProvider

        return OpenAIProvider(base_url=base_url)
    raise ProviderError(
        "unknown-provider",
        f"there is no judge provider {name[:60]!r}; there is: {', '.join(PROVIDERS)}",
    )
