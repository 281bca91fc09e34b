"""A loopback server that speaks the wire format of OpenAI's chat completions.

A real HTTP server for the real SDKs: routes, headers, error bodies and connection
faults as a provider shows them. A test scripts what comes back, one `Weather` a
request; behind the script the `answer` of the server decides.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as the server met it; names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][1]["content"])


@dataclass(frozen=True, kw_only=True)
class Weather:
    """What comes back for one request. `raw` replaces the body, byte for byte.

    `reset` breaks the connection before any answer; `torn` breaks it in the middle
    of the body.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    raw: bytes | None = None
    reset: bool = False
    torn: bool = False


def completion(
    text: str | None,
    *,
    model: str = "judge-2026-01-01",
    finish: str = "stop",
    refusal: str | None = None,
    tokens: tuple[int, int] = (200, 30),
) -> Weather:
    """A completion with one choice."""
    return Weather(
        body={
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": text,
                        "refusal": refusal,
                    },
                    "finish_reason": finish,
                    "logprobs": None,
                }
            ],
            "usage": {
                "prompt_tokens": tokens[0],
                "completion_tokens": tokens[1],
                "total_tokens": sum(tokens),
            },
        }
    )


def failure(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Weather:
    """An error body as the provider documents it."""
    return Weather(
        status=status,
        headers=headers or {},
        body={
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": param,
                "code": code,
            }
        },
    )


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


class JudgeServer:
    """The server. `script` is used up request by request, then `answer` is asked."""

    def __init__(self) -> None:
        self.script: list[Weather] = []
        self.asked: list[Asked] = []
        self.connections = 0
        self.answer: Callable[[Asked], Weather] = lambda asked: completion(
            verdict_text(), model=str(asked.body["model"])
        )
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def weather(self, asked: Asked) -> Weather:
        with self._lock:
            self.asked.append(asked)
            if self.script:
                return self.script.pop(0)
        return self.answer(asked)


def _handler(server: JudgeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            server.connections += 1
            super().setup()

        def log_message(self, format: str, *args: Any) -> None:
            return

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            data = self.rfile.read(size)
            if not self.path.endswith("/chat/completions"):
                self._send(failure(404, f"no route {self.path}"))
                return
            asked = Asked(
                path=self.path,
                headers={name.lower(): text for name, text in self.headers.items()},
                body=json.loads(data),
            )
            self._send(server.weather(asked))

        def _send(self, weather: Weather) -> None:
            self.close_connection = weather.reset or weather.torn
            if weather.reset:
                return
            body = weather.raw
            if body is None:
                body = json.dumps(weather.body).encode()
            self.send_response(weather.status)
            headers = {"Content-Type": "application/json", **weather.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if weather.torn else body)

    return Handler


@contextmanager
def judge_server() -> Iterator[JudgeServer]:
    """A server for the time of a `with` block."""
    server = JudgeServer()
    try:
        yield server
    finally:
        server.close()
