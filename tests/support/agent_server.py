"""A real HTTP server on loopback that answers as an agent's server would.

`answer` is called with each request and returns what is sent back; whatever else a
server can do to its client (close, stall, drip, flood) is an answer too.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Asked:
    """One request: method, path, headers (lower case) and the JSON of its body."""

    def __init__(
        self, method: str, path: str, headers: Mapping[str, str], body: Any
    ) -> None:
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body


class Says:
    """What the server answers. `raw` is sent as it is; `behave` acts on the socket."""

    def __init__(
        self,
        body: Any = None,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
        behave: "Callable[[BaseHTTPRequestHandler], None] | None" = None,
    ) -> None:
        self.status = status
        self.headers = {"Content-Type": "application/json", **(headers or {})}
        self.raw = json.dumps(body).encode() if raw is None else raw
        self.behave = behave


class AgentServer:
    def __init__(self, answer: Callable[[Asked], Says]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.connections = 0
        self.free = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def take(self, asked: Asked) -> Says:
        with self._lock:
            self.asked.append(asked)
        return self.answer(asked)

    def close(self) -> None:
        self.free.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler(server: AgentServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            server.connections += 1
            super().setup()

        def log_message(self, format: str, *args: Any) -> None:
            return

        def do_POST(self) -> None:
            self._do("POST")

        def do_GET(self) -> None:
            self._do("GET")

        def _do(self, method: str) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): text for name, text in self.headers.items()}
            asked = Asked(
                method, self.path, headers, json.loads(data) if data else None
            )
            says = server.take(asked)
            if says.behave is not None:
                says.behave(self)
                return
            self.send_response(says.status)
            for name, value in says.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(says.raw)))
            self.end_headers()
            self.wfile.write(says.raw)

    return Handler


@contextmanager
def agent_server(answer: Callable[[Asked], Says]) -> Iterator[AgentServer]:
    """A server for the time of a `with` block."""
    server = AgentServer(answer)
    try:
        yield server
    finally:
        server.close()
