"""Anthropic's Messages API, through the `anthropic` SDK.

The answer is the input of a tool that the model is made to call (`tool`, what every
model can do), or its structured output (`json-schema`).
"""

import os
from collections.abc import Mapping
from typing import Any, Final

from ..canonical import dump_line
from ..unit import JudgeUsage
from . import FinishReason, JudgeReply, JudgeRequest, ProviderError, ProviderOptions
from .chat import count_in, text_or_none
from .faults import (
    Cleaner,
    connection_problem,
    error_body,
    not_json,
    parsed,
    status_problem,
)
from .lanes import DeadlinePassed, Lanes
from .server import checked_url, tls_context, without_credentials

API_KEY: Final = "ANTHROPIC_API_KEY"
TOKEN: Final = "ANTHROPIC_AUTH_TOKEN"
BASE_URL: Final = "ANTHROPIC_BASE_URL"
OFFICIAL: Final = "https://api.anthropic.com"
TOOL: Final = "record_judgement"

_FINISH: Final[dict[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "refusal": "refusal",
}


class AnthropicProvider:
    """The Anthropic SDK path. Raises ProviderError without the SDK or credentials."""

    name: Final = "anthropic"

    def __init__(self, options: ProviderOptions) -> None:
        try:
            import anthropic
        except ImportError:
            raise ProviderError(
                "sdk-missing",
                "the judge's provider `anthropic` needs its SDK: pip install anthropic",
            ) from None
        given = options.base_url or os.environ.get(BASE_URL, "").strip() or None
        self._url = OFFICIAL if given is None else checked_url(given)
        self._key = os.environ.get(API_KEY, "").strip() or None
        self._token = os.environ.get(TOKEN, "").strip() or None
        if self._key is None and self._token is None:
            raise ProviderError(
                "credentials",
                f"the judge's provider `anthropic` needs a key: set {API_KEY}",
            )
        self._options = options
        self._anthropic = anthropic
        self._server = without_credentials(self._url)
        self._clean = Cleaner(s for s in (self._key, self._token) if s is not None)
        self._tls: Any = None
        self._lanes: Lanes[Any] = Lanes(self._client, close=lambda c: c.close())
        try:
            self._lanes.prepare()
        except Exception as error:
            raise ProviderError(
                "bad-request",
                f"the anthropic SDK refuses its settings ({self._server}): "
                + self._clean(str(error)),
            ) from None

    @property
    def identity(self) -> str:
        """The provider and the server that answers."""
        return f"{self.name} {self._server}"

    def complete(self, request: JudgeRequest) -> JudgeReply:
        """Return the model's reply to one message."""
        body = message_body(request, self._options)

        def ask(client: Any) -> Any:
            # `create` would walk through the whole body, the answer's schema too, and
            # hold it against types of its own.
            options = {"timeout": request.timeout}
            return client.post(
                "/v1/messages", cast_to=object, body=body, options=options
            )

        try:
            reply = self._lanes.call(ask, timeout=request.timeout)
        except DeadlinePassed:
            raise ProviderError(
                "timeout", f"{self._server} did not answer in time"
            ) from None
        except self._anthropic.AnthropicError as error:
            raise self._problem(error) from None
        except (ValueError, RecursionError):
            raise not_json(self._server) from None
        except Exception as error:
            # What the SDK itself stumbles over in a reply that is not the wire format.
            raise ProviderError(
                "bad-reply", f"{self._server}: {self._clean(repr(error))}"
            ) from None
        if isinstance(reply, str):  # of another content type than JSON
            reply = parsed(reply, server=self._server)
        return read_message(reply, server=self._server)

    def close(self) -> None:
        """Close the connections of all clients."""
        self._lanes.close()

    def _client(self) -> Any:
        if self._tls is None:
            self._tls = tls_context(self._url)
        # Retries are the judge's: the SDK's own would hide the weather.
        return self._anthropic.Anthropic(
            api_key=self._key,
            auth_token=None if self._key else self._token,
            base_url=self._url,
            max_retries=0,
            http_client=self._anthropic.DefaultHttpxClient(verify=self._tls),
        )

    def _problem(self, error: Exception) -> ProviderError:
        sdk = self._anthropic
        if isinstance(error, sdk.APIConnectionError):
            return connection_problem(
                self._server, error.__cause__ or error, self._clean
            )
        if not isinstance(error, sdk.APIStatusError):
            return ProviderError(
                "bad-reply", f"{self._server}: {self._clean(str(error))}"
            )
        return status_problem(
            server=self._server,
            status=error.status_code,
            body=error_body(error.response),
            headers=error.response.headers,
            clean=self._clean,
            key=API_KEY if self._key else TOKEN,
        )


def message_body(request: JudgeRequest, options: ProviderOptions) -> dict[str, Any]:
    """Return the body of one request of the Messages API."""
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "messages": [{"role": "user", "content": request.user}],
    }
    form = options.answer_format or "tool"
    if form == "tool":
        body["tools"] = [
            {
                "name": TOOL,
                "description": "Records the judgement: the critique, then the result.",
                "input_schema": request.schema,
            }
        ]
        body["tool_choice"] = {
            "type": "tool",
            "name": TOOL,
            "disable_parallel_tool_use": True,
        }
    elif form == "json-schema":
        body["output_config"] = {
            "format": {"type": "json_schema", "schema": request.schema}
        }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def read_message(data: Any, *, server: str) -> JudgeReply:
    """Return the reply that a message holds: its tool's input, else its text.

    Raises ProviderError where the data is no message.
    """
    content = data.get("content") if isinstance(data, Mapping) else None
    if not isinstance(content, list):
        raise ProviderError("bad-reply", f"{server} sent something else than a message")
    texts: list[str] = []
    judgement: Any = None
    for block in content:
        if not isinstance(block, Mapping):
            continue
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block.get("type") == "tool_use" and block.get("name") == TOOL:
            judgement = block.get("input")
    text = "".join(texts)
    finish: FinishReason = _FINISH.get(str(data.get("stop_reason")), "other")
    if judgement is not None:
        text = judgement if isinstance(judgement, str) else dump_line(judgement)
    usage = data.get("usage")
    # Their `input_tokens` leaves out what was read from or written to a cache.
    parts = [count_in(usage, name) for name in ("input_tokens", *_CACHES)]
    read = parts[1]
    known = parts[0] is not None
    return JudgeReply(
        text=text,
        model=text_or_none(data.get("model")),
        finish_reason=finish,
        usage=JudgeUsage(
            input_tokens=sum(part or 0 for part in parts) if known else None,
            output_tokens=count_in(usage, "output_tokens"),
            cached_tokens=read,
            calls=1,
        ),
    )


_CACHES: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")
