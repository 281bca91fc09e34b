"""OpenAI and every server that speaks its chat completions, through the `openai` SDK.

The SDK carries the request, its own way of authorization, proxies and certificates;
the reply is read as plain data, as on the plain path.
"""

from typing import Any, Final

from . import JudgeReply, JudgeRequest, ProviderError, ProviderOptions
from .chat import API_KEY, chat_body, endpoint, read_completion
from .faults import (
    Cleaner,
    connection_problem,
    error_body,
    not_json,
    parsed,
    status_problem,
)
from .lanes import DeadlinePassed, Lanes
from .responses import read_response, response_body
from .server import tls_context


class OpenAIProvider:
    """The OpenAI-compatible SDK path.

    `responses` asks by the Responses API in place of chat completions. Raises
    ProviderError without the SDK, and without OPENAI_API_KEY (a server on this
    machine needs none).
    """

    def __init__(self, options: ProviderOptions, *, responses: bool = False) -> None:
        self.name: Final = "openai-responses" if responses else "openai"
        try:
            import openai
        except ImportError:
            raise ProviderError(
                "sdk-missing",
                f"the judge's provider `{self.name}` needs its SDK: pip install openai",
            ) from None
        self._endpoint = endpoint(options, provider=self.name)
        self._options = options
        self._openai = openai
        self._server = self._endpoint.server
        self._clean = Cleaner(
            () if self._endpoint.key == "none" else (self._endpoint.key,)
        )
        self._tls: Any = None
        self._lanes: Lanes[Any] = Lanes(self._client, close=lambda c: c.close())
        try:
            self._lanes.prepare()
        except Exception as error:
            raise ProviderError(
                "bad-request",
                f"the openai SDK refuses its settings ({self._server}): "
                + self._clean(str(error)),
            ) from None

    @property
    def identity(self) -> str:
        """The provider and the server that answers."""
        return f"{self.name} {self._server}"

    def complete(self, request: JudgeRequest) -> JudgeReply:
        """Return the model's reply to one request."""
        if self.name == "openai-responses":
            path, body = "/responses", response_body(request, self._options)
        else:
            path = "/chat/completions"
            body = chat_body(request, self._options, official=self._endpoint.official)

        def ask(client: Any) -> Any:
            # `create` would walk through the whole body, the answer's schema too, and
            # hold it against types of its own: as long as all the rest of a call.
            options = {"timeout": request.timeout}
            return client.post(path, cast_to=object, body=body, options=options)

        try:
            reply = self._lanes.call(ask, timeout=request.timeout)
        except DeadlinePassed:
            raise ProviderError(
                "timeout", f"{self._server} did not answer in time"
            ) from None
        except self._openai.OpenAIError as error:
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
        if self.name == "openai-responses":
            return read_response(reply, server=self._server, clean=self._clean)
        return read_completion(reply, server=self._server)

    def close(self) -> None:
        """Close the connections of all clients."""
        self._lanes.close()

    def _client(self) -> Any:
        if self._tls is None:
            self._tls = tls_context(self._endpoint.url)
        # Retries are the judge's: the SDK's own would hide the weather.
        return self._openai.OpenAI(
            api_key=self._endpoint.key,
            base_url=self._endpoint.url,
            max_retries=0,
            http_client=self._openai.DefaultHttpxClient(verify=self._tls),
        )

    def _problem(self, error: Exception) -> ProviderError:
        sdk = self._openai
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
            key=API_KEY,
        )
