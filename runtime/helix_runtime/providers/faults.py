"""One reading of what goes wrong, for all providers: status and code to a kind.

The words of a provider may hold parts of a key, control characters or a page of HTML:
what is kept of them is one short line without anything that looks like a credential.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from . import ErrorKind, ProviderError

MAX_MESSAGE: Final = 300

# What the owner of the suite can set where a model refuses a parameter.
_SETTINGS: Final[Mapping[str, str]] = {
    "temperature": 'set `sampling = "model-default"` under [judge] for this model',
    "max_tokens": 'set `limit_parameter = "max_completion_tokens"` under [judge]',
    "max_completion_tokens": 'set `limit_parameter = "max_tokens"` under [judge]',
    "max_output_tokens": "set `max_tokens` under [judge] within the model's limit",
    "response_format": "set `answer_format` under [judge] to what the server can do",
    "output_config": "set `answer_format` under [judge] to what the model can do",
    "tool_choice": "set `answer_format` under [judge] to what the model can do",
    "tools": "set `answer_format` under [judge] to what the model can do",
    "text": "set `answer_format` under [judge] to what the model can do",
    "response_json_schema": "set `answer_format` under [judge] to what the model can do",
}
_ALIASES: Final[Mapping[str, str]] = {
    "text.format": "text",
    "responseschema": "response_json_schema",
    "responsejsonschema": "response_json_schema",
    "response_schema": "response_json_schema",
    "responsemimetype": "response_json_schema",
    "maxoutputtokens": "max_output_tokens",
}
_QUOTA: Final = ("quota", "billing", "credit balance", "spending limit")
_NO_MODEL: Final = (
    "model_not_found",
    "model not found",
    "is not found for api version",
)


class Cleaner:
    """Takes secrets out of a provider's words."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted((s for s in secrets if s), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return the text on one short line, without anything like a credential."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        text = re.sub(r"\b(sk|key|Bearer|AIza)[-_ ]?[\w.*-]{12,}", r"\1-***", text)
        text = re.sub(r"//[^/@\s]*@", "//***@", text)
        return " ".join(text.split())[:MAX_MESSAGE]


def status_problem(
    *,
    server: str,
    status: int,
    body: Any,
    headers: Mapping[str, str],
    clean: Cleaner,
    key: str,
) -> ProviderError:
    """Return the error of a reply whose status is not 200.

    `body` is its JSON or its text; `key` is the name of the variable that holds the
    credentials; `headers` has names in lower case, or is case-insensitive.
    """
    code, said, parameter = _told(body)
    words = f"{code} {said}".lower()
    parameter = parameter or _named_parameter(words)
    if parameter is not None:
        parameter = _ALIASES.get(parameter.lower(), parameter)
    kind = _kind(status, words, parameter)
    if kind == "credentials":
        # The provider's own words quote parts of the key.
        return ProviderError(
            kind, f"{server} refuses the credentials of {key} ({status})"
        )
    message = f"{server}: {status} {clean(code)} {clean(said)}"
    if kind == "parameter" and parameter is not None:
        message += f" (parameter `{clean(parameter)}`)"
        setting = _SETTINGS.get(parameter)
        if setting is not None:
            message += f"; {setting}"
    return ProviderError(
        kind,
        " ".join(message.split()),
        retry_after=retry_after(headers, body),
    )


def _told(body: Any) -> tuple[str, str, str | None]:
    """The code, the words and the parameter of an error body, whoever's it is."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, Mapping):
        return "", body if isinstance(body, str) else "", None
    error = body.get("error", body)
    if not isinstance(error, Mapping):
        return "", str(error), None
    code = error.get("code")
    if not isinstance(code, str):
        code = error.get("status") or error.get("type") or ""
    said = error.get("message") or error.get("detail") or ""
    parameter = error.get("param")
    return (
        str(code),
        str(said),
        parameter if isinstance(parameter, str) and parameter else None,
    )


_PARAMETER: Final = re.compile(
    r"[`'\"]?\b(temperature|max_completion_tokens|max_output_tokens|max_tokens|"
    r"response_format|output_config|tool_choice|response_?(?:json_)?schema|"
    r"response_?mime_?type|maxoutputtokens|text\.format)\b[`'\"]?"
)
_REFUSED: Final = re.compile(
    r"not support|unsupported|deprecat|not allowed|not permitted|extra inputs|"
    r"unrecognized|unknown (parameter|field|name)|cannot be|can't be|isn't available|"
    r"not available|only the default|must be|is too large|maximum allowed|"
    r"invalid (value|json payload)|> \d+"
)


def _named_parameter(words: str) -> str | None:
    """The parameter that the words refuse; providers other than OpenAI only say it."""
    found = _PARAMETER.search(words)
    if found is None or _REFUSED.search(words) is None:
        return None
    return found[1]


def _kind(status: int, words: str, parameter: str | None) -> ErrorKind:
    if status == 400 and "api key not valid" in words:
        return "credentials"
    if status in (401, 403):
        return "quota" if "billing" in words else "credentials"
    if status == 402 or (status in (400, 429) and _is_quota(status, words)):
        return "quota"
    if status == 429:
        return "rate-limit"
    if status in (408, 409, 425) or status >= 500:
        return "server"
    if status == 404 or any(phrase in words for phrase in _NO_MODEL):
        return "no-model"
    if parameter in _SETTINGS:
        return "parameter"
    return "bad-request"


def _is_quota(status: int, words: str) -> bool:
    if "per minute" in words or "per_minute" in words or "perminute" in words:
        return False
    if "rate_limit" in words or "retry in" in words:
        return False
    if status == 400:
        return "credit balance" in words
    return any(word in words for word in _QUOTA)


def retry_after(headers: Mapping[str, str], body: Any = None) -> float | None:
    """Return the seconds that a reply asks to wait.

    From `retry-after-ms` and `Retry-After` (a date is not read: no clock is), or from
    the `retryDelay` that Google's error details hold.
    """
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _seconds(headers.get(name), scale)
        if seconds is not None:
            return seconds
    error = body.get("error") if isinstance(body, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str):
            seconds = _seconds(delay.removesuffix("s"), 1.0)
            if seconds is not None:
                return seconds
    return None


def _seconds(text: Any, scale: float) -> float | None:
    try:
        seconds = float(text) / scale
    except (TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


# Whichever HTTP library raised it.
_NO_CONNECTION: Final = frozenset(
    (
        "ConnectError",
        "ConnectTimeout",
        "ConnectTimeoutError",
        "ConnectionRefusedError",
        "NewConnectionError",
        "gaierror",
    )
)


def connection_problem(
    server: str, error: BaseException, clean: Cleaner
) -> ProviderError:
    """Return the error of a connection that did not come about or broke.

    `error` is what the HTTP library raised; the causes behind it are looked at too.
    """
    chain = list(_causes(error))
    names = [type(cause).__name__ for cause in chain]
    texts = [clean(str(cause)) for cause in chain]
    why = next((text for text in reversed(texts) if text), names[-1])
    if "CERTIFICATE_VERIFY_FAILED" in " ".join(str(cause) for cause in chain):
        return ProviderError(
            "untrusted",
            f"{server}: its certificate is not trusted ({why}); name the file of a "
            "company's own authority in SSL_CERT_FILE",
        )
    if not _NO_CONNECTION.isdisjoint(names):
        return ProviderError("unreachable", f"{server}: {why}")
    if any("Timeout" in name for name in names):
        return ProviderError("timeout", f"{server} did not answer in time")
    return ProviderError("broken", f"{server}: {why}")


def _causes(error: BaseException) -> Iterable[BaseException]:
    seen: BaseException | None = error
    for _ in range(6):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__


def parsed(data: bytes | str, *, server: str) -> Any:
    """Return the JSON of a reply's body. Raises ProviderError where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise not_json(server) from None


def not_json(server: str) -> ProviderError:
    """Return the error of a reply whose body is no JSON."""
    return ProviderError("bad-reply", f"{server} sent something else than JSON")


def error_body(response: Any) -> Any:
    """Return the JSON of an error's body, or its text."""
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        return response.text
