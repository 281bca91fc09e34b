"""Google's models, through the `google-genai` SDK: the Gemini API and Vertex AI.

GEMINI_API_KEY or GOOGLE_API_KEY for the Gemini API; for Vertex
GOOGLE_GENAI_USE_VERTEXAI=true with GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION and the
machine's own application credentials.
"""

import os
from collections.abc import Mapping
from typing import Any, Final

from ..unit import JudgeUsage
from . import FinishReason, JudgeReply, JudgeRequest, ProviderError, ProviderOptions
from .chat import text_or_none
from .faults import Cleaner, connection_problem, status_problem
from .lanes import DeadlinePassed, Lanes
from .server import checked_url, tls_context, without_credentials

KEYS: Final = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
VERTEX: Final = "GOOGLE_GENAI_USE_VERTEXAI"
PROJECT: Final = "GOOGLE_CLOUD_PROJECT"
LOCATION: Final = "GOOGLE_CLOUD_LOCATION"

_FINISH: Final[dict[str, FinishReason]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content-filter",
    "RECITATION": "content-filter",
    "BLOCKLIST": "content-filter",
    "PROHIBITED_CONTENT": "content-filter",
    "SPII": "content-filter",
    "ESCALATION": "content-filter",
    "LANGUAGE": "refusal",
}


class GoogleProvider:
    """The Google SDK path. Raises ProviderError without the SDK or credentials."""

    name: Final = "google"

    def __init__(self, options: ProviderOptions) -> None:
        try:
            from google import genai
            from google.genai import errors
        except ImportError:
            raise ProviderError(
                "sdk-missing",
                "the judge's provider `google` needs its SDK: pip install google-genai",
            ) from None
        self._genai: Any = genai
        self._error: Any = errors.APIError
        self._options = options
        self._vertex = os.environ.get(VERTEX, "").strip().lower() in ("1", "true")
        name = next((name for name in KEYS if os.environ.get(name, "").strip()), None)
        key = os.environ.get(name, "").strip() if name else ""
        self._credentials = name or "the application default credentials"
        if self._vertex and os.environ.get(PROJECT) and os.environ.get(LOCATION):
            key, self._credentials = "", "the application default credentials"
        elif not key:
            raise ProviderError(
                "credentials",
                (
                    f"the judge's provider `google` needs {PROJECT} and {LOCATION} for "
                    "Vertex"
                    if self._vertex
                    else "the judge's provider `google` needs a key: set GEMINI_API_KEY "
                    f"(for Vertex set {VERTEX}=true, {PROJECT} and {LOCATION})"
                ),
            )
        self._key = key
        self._url = None if options.base_url is None else checked_url(options.base_url)
        where = "vertex" if self._vertex else "gemini"
        self._server = without_credentials(self._url) if self._url else where
        self._clean = Cleaner((key,))
        self._tls: Any = None
        self._google: Any = None if key else self._application_credentials()
        self._lanes: Lanes[Any] = Lanes(self._client, close=lambda c: c.close())

    @property
    def identity(self) -> str:
        """The provider and the server that answers."""
        return f"{self.name} {self._server}"

    def complete(self, request: JudgeRequest) -> JudgeReply:
        """Return the model's reply to one request."""
        config = generation_config(request, self._options)

        def ask(client: Any) -> Any:
            return client.models.generate_content(
                model=request.model, contents=request.user, config=config
            )

        try:
            response = self._lanes.call(ask, timeout=request.timeout)
        except DeadlinePassed:
            raise ProviderError(
                "timeout", f"{self._server} did not answer in time"
            ) from None
        except self._error as error:
            raise self._problem(error) from None
        except Exception as error:
            raise self._other_problem(error) from None
        return read_response(response, server=self._server)

    def close(self) -> None:
        """Close the connections of all clients."""
        self._lanes.close()

    def _application_credentials(self) -> Any:
        """Return the machine's credentials. Raises ProviderError where there are none."""
        import google.auth
        from google.auth.exceptions import GoogleAuthError

        try:
            found, _ = google.auth.default(
                scopes=["https://www.googleapis.com/auth/cloud-platform"]
            )
        except GoogleAuthError as error:
            raise ProviderError(
                "credentials",
                "the judge's provider `google` finds no application credentials for "
                f"Vertex: {self._clean(str(error))}",
            ) from None
        return found

    def _client(self) -> Any:
        if self._tls is None:
            self._tls = tls_context(self._url)
        options: dict[str, Any] = {
            "client_args": {"verify": self._tls},
            # The SDK makes clients of three kinds, each of which would load them again.
            "async_client_args": {"verify": self._tls, "ssl": self._tls},
        }
        if self._url is not None:
            options["base_url"] = self._url
        if self._key:
            who: dict[str, Any] = {"api_key": self._key}
        else:
            who = {
                "credentials": self._google,
                "project": os.environ[PROJECT],
                "location": os.environ[LOCATION],
            }
        return self._genai.Client(vertexai=self._vertex, http_options=options, **who)

    def _problem(self, error: Any) -> ProviderError:
        response = error.response
        return status_problem(
            server=self._server,
            status=error.code if isinstance(error.code, int) else 500,
            body=error.details,
            headers=getattr(response, "headers", None) or {},
            clean=self._clean,
            key=self._credentials,
        )

    def _other_problem(self, error: Exception) -> ProviderError:
        """What is neither a reply nor an error body: the HTTP library, or the auth."""
        module = type(error).__module__.partition(".")[0]
        if module in ("httpx", "httpx2", "httpcore", "httpcore2"):
            return connection_problem(self._server, error, self._clean)
        if type(error).__module__.startswith("google.auth"):
            if type(error).__name__ == "TransportError":
                return connection_problem(self._server, error, self._clean)
            return ProviderError(
                "credentials",
                f"{self._server}: {self._credentials} are refused: "
                + self._clean(str(error)),
            )
        return ProviderError("bad-reply", f"{self._server}: {self._clean(repr(error))}")


def generation_config(
    request: JudgeRequest, options: ProviderOptions
) -> dict[str, Any]:
    """Return the configuration of one `generate_content`."""
    config: dict[str, Any] = {
        "system_instruction": request.system,
        "max_output_tokens": request.max_tokens,
        "candidate_count": 1,
        # The SDK counts in milliseconds.
        "http_options": {"timeout": max(int(request.timeout * 1000), 1)},
    }
    form = options.answer_format or "json-schema"
    if form != "text":
        config["response_mime_type"] = "application/json"
    if form == "json-schema":
        config["response_json_schema"] = _ordered(request.schema)
    if request.temperature is not None:
        config["temperature"] = request.temperature
    return config


def _ordered(schema: Any) -> Any:
    """The schema with Google's own word for the order in which keys are written."""
    if isinstance(schema, Mapping):
        ordered = {key: _ordered(value) for key, value in schema.items()}
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            ordered["propertyOrdering"] = list(properties)
        return ordered
    if isinstance(schema, list):
        return [_ordered(item) for item in schema]
    return schema


def read_response(response: Any, *, server: str) -> JudgeReply:
    """Return the reply that a response holds; its thoughts are passed over.

    Raises ProviderError where there is neither a candidate nor a blocked prompt.
    """
    usage = getattr(response, "usage_metadata", None)
    candidates = getattr(response, "candidates", None) or []
    feedback = getattr(response, "prompt_feedback", None)
    finish: FinishReason = "other"
    text = ""
    if candidates:
        candidate = candidates[0]
        reason = getattr(candidate.finish_reason, "value", candidate.finish_reason)
        finish = _FINISH.get(str(reason), "other")
        parts = getattr(candidate.content, "parts", None) or []
        text = "".join(
            part.text for part in parts if part.text and not getattr(part, "thought", 0)
        )
    elif getattr(feedback, "block_reason", None) is not None:
        finish = "content-filter"
    else:
        raise ProviderError(
            "bad-reply", f"{server} sent something else than a response"
        )
    answer = getattr(usage, "candidates_token_count", None)
    thoughts = getattr(usage, "thoughts_token_count", None)
    if answer is not None and thoughts is not None:
        answer += thoughts
    return JudgeReply(
        text=text,
        model=text_or_none(getattr(response, "model_version", None)),
        finish_reason=finish,
        usage=JudgeUsage(
            input_tokens=getattr(usage, "prompt_token_count", None),
            output_tokens=answer,
            cached_tokens=getattr(usage, "cached_content_token_count", None),
            calls=1,
        ),
    )
