"""OpenAI and every server that speaks its chat completions, through the `openai` SDK.

Each call borrows a client with a connection of its own from a free list, so there are
as many as calls in flight. One shared client would look through all its connections
at every request: at 64 in flight that doubles the cost of a call.
"""

import os
import re
from collections import deque
from typing import TYPE_CHECKING, Any

from ..unit import JudgeUsage
from . import ErrorKind, FinishReason, JudgeReply, JudgeRequest, ProviderError

if TYPE_CHECKING:
    import openai

API_KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
MAX_MESSAGE = 300

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
}


class OpenAIProvider:
    """The OpenAI-compatible SDK path.

    `base_url` defaults to OPENAI_BASE_URL, then to OpenAI's own. Raises ProviderError
    without the SDK, and without OPENAI_API_KEY (a server on this machine needs none).
    """

    name = "openai"

    def __init__(self, *, base_url: str | None = None) -> None:
        try:
            import openai
        except ImportError:
            raise ProviderError(
                "sdk-missing",
                "the judge's provider `openai` needs its SDK: pip install openai",
            ) from None
        base_url = base_url or os.environ.get(BASE_URL) or None
        if base_url is not None and not base_url.startswith(("http://", "https://")):
            raise ProviderError(
                "bad-request",
                f"the judge's base_url must start with http:// or https://, not "
                f"{_without_credentials(base_url)[:80]!r}",
            )
        key = os.environ.get(API_KEY, "").strip()
        if not key:
            if base_url is None or not _on_this_machine(base_url):
                raise ProviderError(
                    "credentials",
                    f"the judge's provider `openai` needs a key: set {API_KEY}",
                )
            key = "none"
        self._openai = openai
        self._key = key
        self._official = base_url is None
        self._server = _without_credentials(base_url or "https://api.openai.com/v1")
        try:
            # Retries are the judge's: the SDK's own would hide the weather.
            self._first = openai.OpenAI(api_key=key, base_url=base_url, max_retries=0)
        except Exception as error:
            raise ProviderError(
                "bad-request",
                f"the openai SDK refuses its settings ({self._server}): "
                + self._clean(str(error)),
            ) from None
        self._free: deque[openai.OpenAI] = deque([self._first])
        self._all: list[openai.OpenAI] = [self._first]
        self._tls: Any = None

    @property
    def identity(self) -> str:
        """The provider and the server that answers."""
        return f"openai {self._server}"

    def complete(self, request: JudgeRequest) -> JudgeReply:
        """Return the model's reply to one chat completion."""
        arguments: dict[str, Any] = {
            "model": request.model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "judgement",
                    "strict": True,
                    "schema": request.schema,
                },
            },
            # OpenAI's newer models refuse the old name of the limit; most compatible
            # servers know only the old one.
            "max_completion_tokens" if self._official else "max_tokens": (
                request.max_tokens
            ),
            "timeout": request.timeout,
        }
        if request.temperature is not None:
            arguments["temperature"] = request.temperature
        client = self._borrow()
        try:
            completion: Any = client.chat.completions.create(**arguments)
        except self._openai.OpenAIError as error:
            raise self._problem(error) from None
        except Exception as error:
            # What the SDK itself stumbles over in a reply that is not the wire format.
            raise ProviderError(
                "bad-reply", f"{self._server}: {self._clean(repr(error))}"
            ) from None
        finally:
            self._free.append(client)
        return self._reply(completion)

    def close(self) -> None:
        """Close the connections of all clients."""
        for client in self._all:
            client.close()

    def _borrow(self) -> "openai.OpenAI":
        try:
            return self._free.pop()
        except IndexError:
            pass
        if self._tls is None:
            import ssl

            # Loading the certificates takes longer than many a call: once for all.
            self._tls = ssl.create_default_context()
        client = self._first.with_options(
            http_client=self._openai.DefaultHttpxClient(verify=self._tls)
        )
        self._all.append(client)
        return client

    # -- replies ----------------------------------------------------------------

    def _reply(self, completion: Any) -> JudgeReply:
        try:
            choice = completion.choices[0]
            message = choice.message
            text = message.content
            refusal = getattr(message, "refusal", None)
            finish: FinishReason = _FINISH.get(str(choice.finish_reason), "other")
            model = completion.model
            usage = completion.usage
        except (AttributeError, IndexError, KeyError, TypeError):
            raise ProviderError(
                "bad-reply", f"{self._server} sent something else than a completion"
            ) from None
        if isinstance(refusal, str) and refusal and not text:
            text, finish = refusal, "refusal"
        return JudgeReply(
            text=text if isinstance(text, str) else "",
            model=model if isinstance(model, str) and model else None,
            finish_reason=finish,
            usage=JudgeUsage(
                input_tokens=_count(getattr(usage, "prompt_tokens", None)),
                output_tokens=_count(getattr(usage, "completion_tokens", None)),
                calls=1,
            ),
        )

    # -- errors -----------------------------------------------------------------

    def _problem(self, error: Exception) -> ProviderError:
        sdk = self._openai
        if isinstance(error, sdk.APIConnectionError):
            cause = error.__cause__ or error
            why = self._clean(str(cause)) or type(cause).__name__
            # ConnectError and ConnectTimeout, whichever HTTP library the SDK uses.
            if type(cause).__name__.startswith("Connect"):
                return ProviderError("unreachable", f"{self._server}: {why}")
            if isinstance(error, sdk.APITimeoutError):
                return ProviderError(
                    "timeout", f"{self._server} did not answer in time"
                )
            return ProviderError("broken", f"{self._server}: {why}")
        if not isinstance(error, sdk.APIStatusError):
            return ProviderError(
                "bad-reply", f"{self._server}: {self._clean(str(error))}"
            )
        status = error.status_code
        code = str(getattr(error, "code", None) or getattr(error, "type", None) or "")
        kind = _kind(status, code)
        if kind == "credentials":
            # The provider's own words quote parts of the key.
            return ProviderError(
                kind, f"{self._server} refuses the credentials of {API_KEY} ({status})"
            )
        said = self._clean(str(getattr(error, "message", "") or error))
        message = f"{self._server}: {status} {self._clean(code)} {said}"
        parameter = getattr(error, "param", None)
        if kind == "bad-request" and isinstance(parameter, str) and parameter:
            message += f" (parameter `{self._clean(parameter)}`)"
            if parameter == "temperature":
                message += '; set `sampling = "model-default"` for this model'
        return ProviderError(
            kind, " ".join(message.split()), retry_after=_retry_after(error)
        )

    def _clean(self, text: str) -> str:
        """The text on one short line, without the key or anything that looks like one."""
        if self._key != "none":
            text = text.replace(self._key, "***")
        text = re.sub(r"\b(sk|key|Bearer)[-_ ][\w.*-]{6,}", r"\1-***", text)
        text = re.sub(r"//[^/@\s]*@", "//***@", text)
        return " ".join(text.split())[:MAX_MESSAGE]


def _kind(status: int, code: str) -> ErrorKind:
    if status in (401, 403):
        return "credentials"
    if status == 429:
        return "quota" if "quota" in code or "billing" in code else "rate-limit"
    if status in (408, 409) or status >= 500:
        return "server"
    return "bad-request"


def _retry_after(error: Any) -> float | None:
    """The seconds that a `Retry-After` asks for; a date is not read, no clock is."""
    try:
        headers = error.response.headers
        text = headers.get("retry-after-ms")
        seconds = float(text) / 1000 if text else float(headers.get("retry-after", ""))
    except (AttributeError, TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _on_this_machine(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host in ("localhost", "::1") or (host or "").startswith("127.")


def _without_credentials(url: str) -> str:
    """The URL without user, password, query and fragment."""
    return re.sub(r"//[^/@]*@", "//", url).split("?")[0].split("#")[0].rstrip("/")
