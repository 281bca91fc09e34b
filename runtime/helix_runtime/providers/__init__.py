"""Providers: who carries a judge's request to a model.

A provider is a thin adapter: one request in, one reply or one ProviderError out. It
does not retry, does not read answers and does not change models. Each adapter is
imported, with its SDK, only when it is opened.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

from ..record import record
from ..unit import JudgeUsage

ErrorKind = Literal[
    "sdk-missing",
    "credentials",
    "unknown-provider",
    "bad-request",
    "parameter",
    "no-model",
    "untrusted",
    "quota",
    "rate-limit",
    "deadline",
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
FATAL: Final = frozenset(
    (
        "sdk-missing",
        "credentials",
        "unknown-provider",
        "parameter",
        "no-model",
        "untrusted",
    )
)

FinishReason = Literal["stop", "length", "refusal", "content-filter", "other"]


class ProviderError(Exception):
    """A request that brought no reply.

    `unreachable` is no connection at all, `broken` one that was lost, `untrusted` one
    whose certificate is not; `parameter` is a parameter that the model refuses,
    `quota` an account that is used up, which waiting does not help. `message` is one
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


@record(kw_only=True)
class JudgeRequest:
    """One request. `schema` is the JSON Schema of the answer.

    `timeout` is in seconds, from the first byte sent to the last one read. A `temperature` of None leaves the parameter out.
    """

    system: str
    user: str
    schema: Mapping[str, Any]
    model: str
    temperature: float | None
    max_tokens: int
    timeout: float


@record(kw_only=True)
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


AnswerFormat = Literal["json-schema", "json-object", "tool", "text"]
LimitParameter = Literal["max_tokens", "max_completion_tokens"]


@record(kw_only=True)
class ProviderOptions:
    """What the owner of the suite sets about a provider; None is its own default.

    `answer_format` is how the answer is given its form, `limit_parameter` the name of
    the limit on its tokens in chat completions.
    """

    base_url: str | None = None
    answer_format: AnswerFormat | None = None
    limit_parameter: LimitParameter | None = None


_JSON: Final = ("json-schema", "json-object", "text")
# What each can do to give an answer its form, the default first.
PROVIDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": _JSON,
    "openai-responses": _JSON,
    "openai-http": _JSON,
    "anthropic": ("tool", "json-schema", "text"),
    "google": _JSON,
}


def open_provider(name: str, options: ProviderOptions | None = None) -> Provider:
    """Return the provider of that name, ready to be asked.

    Credentials come from the environment only. Raises ProviderError where the SDK or
    the credentials are missing, or where there is no provider of that name.
    """
    options = options or ProviderOptions()
    if name not in PROVIDERS:
        raise ProviderError(
            "unknown-provider",
            f"there is no judge provider {name[:60]!r}; there is: "
            + ", ".join(PROVIDERS),
        )
    form = options.answer_format
    if form is not None and form not in PROVIDERS[name]:
        raise ProviderError(
            "bad-request",
            f"the judge's provider `{name}` has no answer_format {form!r}; it has "
            + ", ".join(PROVIDERS[name]),
        )
    if name == "openai-http":
        from .openai_http import OpenAIHttpProvider

        return OpenAIHttpProvider(options)
    if name == "anthropic":
        from .anthropic_sdk import AnthropicProvider

        return AnthropicProvider(options)
    if name == "google":
        from .google_sdk import GoogleProvider

        return GoogleProvider(options)
    from .openai_sdk import OpenAIProvider

    return OpenAIProvider(options, responses=name == "openai-responses")
