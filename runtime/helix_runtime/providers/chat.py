"""The wire of chat completions, as OpenAI and the many compatible servers speak it.

One form of the request and one reading of the reply, for the SDK and the plain path.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from ..canonical import dump_line
from ..record import made, record
from ..unit import JudgeUsage
from . import FinishReason, JudgeReply, JudgeRequest, ProviderError, ProviderOptions
from .server import checked_url, on_this_machine, without_credentials

API_KEY: Final = "OPENAI_API_KEY"
BASE_URL: Final = "OPENAI_BASE_URL"
OFFICIAL: Final = "https://api.openai.com/v1"

_FINISH: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
}


@record
class Endpoint:
    """Where the requests go and with which key; `server` is what may be shown."""

    url: str
    key: str
    official: bool

    @property
    def server(self) -> str:
        """The URL without what is secret."""
        return without_credentials(self.url)


def endpoint(options: ProviderOptions, *, provider: str) -> Endpoint:
    """Return the endpoint of the settings and the environment.

    The URL is the setting's, then OPENAI_BASE_URL's, then OpenAI's own. Raises
    ProviderError without OPENAI_API_KEY (a server on this machine needs none).
    """
    given = options.base_url or os.environ.get(BASE_URL, "").strip() or None
    url = OFFICIAL if given is None else checked_url(given)
    key = os.environ.get(API_KEY, "").strip()
    if not key:
        if not on_this_machine(url):
            raise ProviderError(
                "credentials",
                f"the judge's provider `{provider}` needs a key: set {API_KEY}",
            )
        key = "none"
    if not key.isascii() or not key.isprintable():
        raise ProviderError(
            "credentials", f"{API_KEY} holds characters that no key has"
        )
    return Endpoint(url, key, official=url == OFFICIAL)


def chat_body(
    request: JudgeRequest, options: ProviderOptions, *, official: bool
) -> dict[str, Any]:
    """Return the body of one request."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ],
    }
    form = options.answer_format or "json-schema"
    if form == "json-schema":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": "judgement",
                "strict": True,
                "schema": request.schema,
            },
        }
    elif form == "json-object":
        body["response_format"] = {"type": "json_object"}
    # OpenAI's newer models refuse the old name of the limit; most compatible servers
    # know only the old one.
    limit = options.limit_parameter
    if limit is None:
        limit = "max_completion_tokens" if official else "max_tokens"
    body[limit] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body


class ChatBodies:
    """Bodies of requests as JSON in UTF-8. Safe to use from many threads.

    What many requests share is spelled once: a criterion's system prompt, by far the
    longest part, and everything beside the messages.
    """

    def __init__(self, options: ProviderOptions, *, official: bool) -> None:
        self._options = options
        self._official = official
        self._before = lru_cache(maxsize=64)(_before_user)
        self._rest: dict[tuple[Any, ...], tuple[Mapping[str, Any], bytes]] = {}

    def json(self, request: JudgeRequest) -> bytes:
        """Return the JSON of what `chat_body` returns."""
        user = dump_line(request.user).encode()
        before = self._before(request.system)
        return b"%b%b%b" % (before, user, self._behind_messages(request))

    def _behind_messages(self, request: JudgeRequest) -> bytes:
        schema = request.schema
        key = (request.model, request.temperature, request.max_tokens, id(schema))
        known = self._rest.get(key)
        if known is None:
            body = chat_body(request, self._options, official=self._official)
            del body["messages"]
            # The schema is kept with it: its id is not given to another one.
            rest = "}]," + dump_line(body)[1:]
            known = self._rest[key] = (schema, rest.encode())
        return known[1]


def _before_user(system: str) -> bytes:
    text = (
        f'{{"messages":[{{"role":"system","content":{dump_line(system)}}},'
        '{"role":"user","content":'
    )
    return text.encode()


def read_completion(data: Any, *, server: str) -> JudgeReply:
    """Return the reply that a completion holds.

    Raises ProviderError where the data is no completion.
    """
    try:
        choice = data["choices"][0]
        message = choice["message"]
        text = message.get("content")
        refusal = message.get("refusal")
        finish: FinishReason = _FINISH.get(str(choice.get("finish_reason")), "other")
    except (AttributeError, IndexError, KeyError, TypeError):
        raise ProviderError(
            "bad-reply", f"{server} sent something else than a completion"
        ) from None
    if isinstance(refusal, str) and refusal and not text:
        text, finish = refusal, "refusal"
    usage = data.get("usage")
    details = usage.get("prompt_tokens_details") if isinstance(usage, Mapping) else None
    used = {
        "input_tokens": count_in(usage, "prompt_tokens"),
        "output_tokens": count_in(usage, "completion_tokens"),
        "cached_tokens": count_in(details, "cached_tokens"),
        "cost_usd": None,
        "calls": 1,
    }
    return made(
        JudgeReply,
        {
            "text": text if isinstance(text, str) else "",
            "model": text_or_none(data.get("model")),
            "finish_reason": finish,
            "usage": made(JudgeUsage, used),
        },
    )


def count_in(data: Any, name: str) -> int | None:
    """Return the whole number of that name, or None where there is none."""
    # Before `isinstance` of an abstract class, a dictionary: nearly all data is one.
    is_map = data.__class__ is dict or isinstance(data, Mapping)
    value = data.get(name) if is_map else None
    if value.__class__ is int and value >= 0:
        return value
    return None


def text_or_none(value: Any) -> str | None:
    """Return a text that is not empty, or None."""
    return value if isinstance(value, str) and value else None
