"""The plain path: OpenAI-compatible servers on the standard library alone.

No SDK: the runtime's own `wire`, with connections that are kept alive, verified TLS,
and the proxies of the environment. A request has one deadline for everything.
"""

import json
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from ..wire import BadProxy, Broken, TooLarge, TooLate, Unreachable, Untrusted, Wire
from . import JudgeReply, JudgeRequest, ProviderError, ProviderOptions
from .chat import API_KEY, ChatBodies, endpoint, read_completion
from .faults import Cleaner, status_problem

MAX_REPLY: Final = 16 << 20


class OpenAIHttpProvider:
    """Chat completions without an SDK.

    Raises ProviderError without OPENAI_API_KEY (a server on this machine needs none).
    """

    name = "openai-http"

    def __init__(self, options: ProviderOptions) -> None:
        self._endpoint = endpoint(options, provider=self.name)
        self._bodies = ChatBodies(options, official=self._endpoint.official)
        self._server = self._endpoint.server
        self._clean = Cleaner(
            () if self._endpoint.key == "none" else (self._endpoint.key,)
        )
        parts = urlsplit(self._endpoint.url)
        self._target = parts.path.rstrip("/") + "/chat/completions"
        if parts.query:
            self._target += f"?{parts.query}"
        try:
            self._wire = Wire(self._endpoint.url, limit=MAX_REPLY)
        except BadProxy as error:
            raise ProviderError("bad-request", str(error)) from None
        self._headers = {
            "Authorization": f"Bearer {self._endpoint.key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "helix-evals",
        }

    @property
    def identity(self) -> str:
        """The provider and the server that answers."""
        return f"{self.name} {self._server}"

    def complete(self, request: JudgeRequest) -> JudgeReply:
        """Return the model's reply to one chat completion."""
        try:
            reply = self._wire.exchange(
                "POST",
                self._target,
                body=self._bodies.json(request),
                headers=self._headers,
                deadline=monotonic() + request.timeout,
            )
        except TooLate:
            raise ProviderError(
                "timeout", f"{self._server} did not answer in time"
            ) from None
        except TooLarge:
            raise ProviderError(
                "bad-reply", f"{self._server} sent more than any judgement is long"
            ) from None
        except Untrusted as error:
            raise ProviderError("untrusted", f"{self._server}: {error}") from None
        except Unreachable as error:
            raise ProviderError("unreachable", self._said(error)) from None
        except Broken as error:
            raise ProviderError("broken", self._said(error)) from None
        try:
            data = json.loads(reply.data)
        except (ValueError, RecursionError):
            data = reply.data.decode("utf-8", "replace")
        if reply.status != 200:
            raise status_problem(
                server=self._server,
                status=reply.status,
                body=data,
                headers=reply.headers,
                clean=self._clean,
                key=API_KEY,
            )
        return read_completion(data, server=self._server)

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def _said(self, error: Exception) -> str:
        return f"{self._server}: {self._clean(str(error))}"
