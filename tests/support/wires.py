"""The wire formats of the providers: answers and error bodies as each documents them.

A test says what happens in words that all providers share; a wire spells it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

MODEL = "judge-2026-01-01"


@dataclass(frozen=True, kw_only=True)
class Weather:
    """What comes back for one request. `raw` replaces the body, byte for byte.

    `reset` breaks the connection before any answer; `torn` breaks it in the middle
    of the body; `stall` never answers, and `drip` sends a byte now and then, both
    until the client goes away; `chunked` sends the body in parts.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    raw: bytes | None = None
    reset: bool = False
    torn: bool = False
    stall: bool = False
    drip: bool = False
    chunked: bool = False


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as the server met it; names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    wire: "Wire"

    @property
    def system(self) -> str:
        return self.wire.system(self.body)

    @property
    def user(self) -> str:
        return self.wire.user(self.body)

    @property
    def limit(self) -> int:
        return self.wire.limit(self.body)

    @property
    def temperature(self) -> float | None:
        return self.wire.temperature(self.body)


class Wire(Protocol):
    """One wire format. `fault` is one of the keys of FAULTS of its class."""

    name: str

    def takes(self, path: str) -> bool: ...
    def system(self, body: Mapping[str, Any]) -> str: ...
    def user(self, body: Mapping[str, Any]) -> str: ...
    def limit(self, body: Mapping[str, Any]) -> int: ...
    def temperature(self, body: Mapping[str, Any]) -> float | None: ...
    def schema(self, body: Mapping[str, Any]) -> Mapping[str, Any]: ...

    def answer(
        self,
        text: str,
        *,
        finish: str = "stop",
        model: str = MODEL,
        tokens: tuple[int, int] = (200, 30),
        cached: int = 0,
    ) -> Weather:
        """An answer; `finish` is stop, length, refusal or filter."""
        ...

    def failure(self, fault: str, *, headers: Mapping[str, str] = {}) -> Weather:
        """A refusal, by the name of the fault."""
        ...


def verdict_text(
    result: str = "pass",
    *,
    critique: str = "The answer says what it should.",
    refs: list[dict[str, str]] | None = None,
    confidence: Any = 0.9,
    blocked_by: Mapping[str, str] | None = None,
) -> str:
    """An answer in the prescribed form."""
    return json.dumps(
        {
            "critique": critique,
            "refs": [] if refs is None else refs,
            "assumptions": [],
            "result": result,
            "confidence": confidence,
            "blockedBy": blocked_by,
        }
    )


class Chat:
    """OpenAI's chat completions."""

    name = "chat"
    FAULTS: Mapping[str, tuple[int, str, str | None, str | None]] = {
        "rate-limit": (429, "Rate limit reached", "rate_limit_exceeded", None),
        "quota": (429, "You exceeded your current quota", "insufficient_quota", None),
        "credentials": (401, "Incorrect API key: sk-abc", "invalid_api_key", None),
        "forbidden": (403, "Country not supported", None, None),
        "server": (500, "The server had an error", None, None),
        "overloaded": (503, "Overloaded", None, None),
        "temperature": (
            400,
            "Unsupported value: 'temperature' does not support 0 with this model.",
            "unsupported_value",
            "temperature",
        ),
        "limit": (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "unsupported_parameter",
            "max_tokens",
        ),
        "no-model": (404, "The model does not exist", "model_not_found", None),
        "too-long": (400, "maximum context", "context_length_exceeded", "messages"),
    }

    def takes(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def system(self, body: Mapping[str, Any]) -> str:
        return str(body["messages"][0]["content"])

    def user(self, body: Mapping[str, Any]) -> str:
        return str(body["messages"][1]["content"])

    def limit(self, body: Mapping[str, Any]) -> int:
        return int(body.get("max_tokens") or body["max_completion_tokens"])

    def temperature(self, body: Mapping[str, Any]) -> float | None:
        return body.get("temperature")

    def schema(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = body["response_format"]["json_schema"]["schema"]
        return found

    def answer(
        self,
        text: str,
        *,
        finish: str = "stop",
        model: str = MODEL,
        tokens: tuple[int, int] = (200, 30),
        cached: int = 0,
    ) -> Weather:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        message["refusal"] = None
        if finish == "refusal":
            message.update(content=None, refusal=text)
        reasons = {"filter": "content_filter", "refusal": "stop"}
        usage: dict[str, Any] = {
            "prompt_tokens": tokens[0],
            "completion_tokens": tokens[1],
            "total_tokens": sum(tokens),
        }
        if cached:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        return Weather(
            body={
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1700000000,
                "model": model,
                "choices": [
                    {
                        "index": 0,
                        "message": message,
                        "finish_reason": reasons.get(finish, finish),
                        "logprobs": None,
                    }
                ],
                "usage": usage,
            }
        )

    def failure(self, fault: str, *, headers: Mapping[str, str] = {}) -> Weather:
        status, message, code, param = self.FAULTS[fault]
        error = {
            "message": message,
            "type": "invalid_request_error",
            "param": param,
            "code": code,
        }
        return Weather(status=status, headers=headers, body={"error": error})


class Responses(Chat):
    """OpenAI's Responses API; its errors are those of chat completions."""

    name = "responses"
    FAULTS = {
        **Chat.FAULTS,
        "limit": (
            400,
            "Invalid 'max_output_tokens': must be at most 100.",
            "integer_above_max_value",
            "max_output_tokens",
        ),
    }

    def takes(self, path: str) -> bool:
        return path.endswith("/responses")

    def system(self, body: Mapping[str, Any]) -> str:
        return str(body["instructions"])

    def user(self, body: Mapping[str, Any]) -> str:
        return str(body["input"])

    def limit(self, body: Mapping[str, Any]) -> int:
        return int(body["max_output_tokens"])

    def schema(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = body["text"]["format"]["schema"]
        return found

    def answer(
        self,
        text: str,
        *,
        finish: str = "stop",
        model: str = MODEL,
        tokens: tuple[int, int] = (200, 30),
        cached: int = 0,
    ) -> Weather:
        part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        if finish == "refusal":
            part = {"type": "refusal", "refusal": text}
        reasons = {"length": "max_output_tokens", "filter": "content_filter"}
        reason = reasons.get(finish)
        return Weather(
            body={
                "id": "resp_1",
                "object": "response",
                "created_at": 1700000000,
                "status": "incomplete" if reason else "completed",
                "incomplete_details": {"reason": reason} if reason else None,
                "error": None,
                "model": model,
                "output": [
                    {"type": "reasoning", "id": "rs_1", "summary": []},
                    {
                        "type": "message",
                        "id": "msg_1",
                        "role": "assistant",
                        "status": "completed",
                        "content": [part],
                    },
                ],
                "usage": {
                    "input_tokens": tokens[0],
                    "input_tokens_details": {"cached_tokens": cached},
                    "output_tokens": tokens[1],
                    "output_tokens_details": {"reasoning_tokens": 0},
                    "total_tokens": sum(tokens),
                },
            }
        )


class Messages:
    """Anthropic's Messages API."""

    name = "messages"
    FAULTS: Mapping[str, tuple[int, str, str]] = {
        "rate-limit": (429, "rate_limit_error", "This request would exceed your limit"),
        "quota": (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
        ),
        "credentials": (401, "authentication_error", "invalid x-api-key"),
        "forbidden": (403, "permission_error", "not allowed"),
        "server": (500, "api_error", "Internal server error"),
        "overloaded": (529, "overloaded_error", "Overloaded"),
        "temperature": (
            400,
            "invalid_request_error",
            "`temperature` is deprecated for this model.",
        ),
        "limit": (
            400,
            "invalid_request_error",
            "max_tokens: 100000 > 8192, which is the maximum allowed number of output "
            "tokens for this model",
        ),
        "no-model": (404, "not_found_error", "model: judge-2026-01-01"),
        "too-long": (400, "invalid_request_error", "prompt is too long: 9 > 8 maximum"),
    }

    def takes(self, path: str) -> bool:
        return path.endswith("/messages")

    def system(self, body: Mapping[str, Any]) -> str:
        return str(body["system"])

    def user(self, body: Mapping[str, Any]) -> str:
        return str(body["messages"][0]["content"])

    def limit(self, body: Mapping[str, Any]) -> int:
        return int(body["max_tokens"])

    def temperature(self, body: Mapping[str, Any]) -> float | None:
        return body.get("temperature")

    def schema(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = body["tools"][0]["input_schema"]
        return found

    def answer(
        self,
        text: str,
        *,
        finish: str = "stop",
        model: str = MODEL,
        tokens: tuple[int, int] = (200, 30),
        cached: int = 0,
    ) -> Weather:
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        block: dict[str, Any] = {"type": "text", "text": text}
        stop = "end_turn"
        if isinstance(data, dict):
            block = {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "record_judgement",
                "input": data,
            }
            stop = "tool_use"
        # A policy stop is this provider's only word for both.
        stops = {"length": "max_tokens", "refusal": "refusal", "filter": "refusal"}
        return Weather(
            body={
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [block] if text else [],
                "stop_reason": stops.get(finish, stop),
                "stop_sequence": None,
                "usage": {
                    "input_tokens": tokens[0] - cached,
                    "cache_read_input_tokens": cached,
                    "cache_creation_input_tokens": 0,
                    "output_tokens": tokens[1],
                },
            }
        )

    def failure(self, fault: str, *, headers: Mapping[str, str] = {}) -> Weather:
        status, kind, message = self.FAULTS[fault]
        return Weather(
            status=status,
            headers=headers,
            body={"type": "error", "error": {"type": kind, "message": message}},
        )


class Gemini:
    """Google's generateContent, of the Gemini API and of Vertex."""

    name = "gemini"
    FAULTS: Mapping[str, tuple[int, str, str]] = {
        "rate-limit": (
            429,
            "RESOURCE_EXHAUSTED",
            "Quota exceeded for metric: generate_requests_per_minute, limit: 5",
        ),
        "quota": (
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing",
        ),
        "credentials": (400, "INVALID_ARGUMENT", "API key not valid. Please pass one."),
        "forbidden": (403, "PERMISSION_DENIED", "Permission denied"),
        "server": (500, "INTERNAL", "An internal error has occurred"),
        "overloaded": (503, "UNAVAILABLE", "The model is overloaded"),
        "temperature": (
            400,
            "INVALID_ARGUMENT",
            "The temperature parameter is not supported for this model.",
        ),
        "limit": (
            400,
            "INVALID_ARGUMENT",
            "Unable to submit request because it has a maxOutputTokens value of "
            "100000 but the supported range must be from 1 to 8193",
        ),
        "no-model": (404, "NOT_FOUND", "models/x is not found for API version v1"),
        "too-long": (400, "INVALID_ARGUMENT", "input token count exceeds the maximum"),
    }

    def takes(self, path: str) -> bool:
        return path.endswith(":generateContent")

    def system(self, body: Mapping[str, Any]) -> str:
        return str(body["systemInstruction"]["parts"][0]["text"])

    def user(self, body: Mapping[str, Any]) -> str:
        return str(body["contents"][0]["parts"][0]["text"])

    def limit(self, body: Mapping[str, Any]) -> int:
        return int(body["generationConfig"]["maxOutputTokens"])

    def temperature(self, body: Mapping[str, Any]) -> float | None:
        found: float | None = body["generationConfig"].get("temperature")
        return found

    def schema(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = body["generationConfig"]["responseJsonSchema"]
        return found

    def answer(
        self,
        text: str,
        *,
        finish: str = "stop",
        model: str = MODEL,
        tokens: tuple[int, int] = (200, 30),
        cached: int = 0,
    ) -> Weather:
        reasons = {"length": "MAX_TOKENS", "refusal": "LANGUAGE", "filter": "SAFETY"}
        candidate: dict[str, Any] = {"finishReason": reasons.get(finish, "STOP")}
        candidate["content"] = {"role": "model", "parts": [{"text": text}]}
        return Weather(
            body={
                "candidates": [candidate],
                "modelVersion": model,
                "usageMetadata": {
                    "promptTokenCount": tokens[0],
                    "candidatesTokenCount": tokens[1],
                    "cachedContentTokenCount": cached,
                    "totalTokenCount": sum(tokens),
                },
            }
        )

    def failure(self, fault: str, *, headers: Mapping[str, str] = {}) -> Weather:
        code, status, message = self.FAULTS[fault]
        error = {"code": code, "message": message, "status": status}
        return Weather(status=code, headers=headers, body={"error": error})


WIRES: tuple[Wire, ...] = (Chat(), Responses(), Messages(), Gemini())
CHAT, RESPONSES, MESSAGES, GEMINI = WIRES
