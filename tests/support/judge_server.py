"""A loopback server that speaks the wire formats of the providers.

A real HTTP server for the real SDKs: routes, headers, error bodies and connection
faults as a provider shows them. A test scripts what comes back, one `Weather` a
request; behind the script the `answer` of the server decides.
"""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from .wires import CHAT, WIRES, Asked, Weather, Wire, verdict_text

__all__ = [
    "Asked",
    "JudgeServer",
    "Weather",
    "completion",
    "failure",
    "judge_server",
    "verdict_text",
]


def completion(
    text: str | None,
    *,
    model: str = "judge-2026-01-01",
    finish: str = "stop",
    refusal: str | None = None,
    tokens: tuple[int, int] = (200, 30),
) -> Weather:
    """A chat completion with one choice."""
    if refusal is not None:
        return CHAT.answer(refusal, finish="refusal", model=model, tokens=tokens)
    return CHAT.answer(text or "", finish=finish, model=model, tokens=tokens)


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


class JudgeServer:
    """The server. `script` is used up request by request, then `answer` is asked."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.script: list[Weather] = []
        self.asked: list[Asked] = []
        self.tunnels: list[str] = []
        self.connections = 0
        self.answer: Callable[[Asked], Weather] = lambda asked: asked.wire.answer(
            verdict_text(), model=str(asked.body.get("model", "judge-2026-01-01"))
        )
        self.closing = threading.Event()
        self.open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._http.socket = context.wrap_socket(
                self._http.socket, server_side=True, do_handshake_on_connect=False
            )
            self.scheme = "https"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self._http.server_address[1]}"

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def hang_up(self) -> None:
        """Close the connections that are open, as a server does that waited enough."""
        for connection in self.open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # its other end was faster

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
            server.open.append(self.request)
            super().setup()

        def log_message(self, format: str, *args: Any) -> None:
            return

        def do_CONNECT(self) -> None:
            """Be a proxy: tunnel to wherever the request says."""
            server.tunnels.append(self.path)
            host, _, port = self.path.rpartition(":")
            with socket.create_connection((host, int(port))) as behind:
                self.send_response(200)
                self.end_headers()
                back = threading.Thread(target=_pump, args=(behind, self.connection))
                back.start()
                _pump(self.connection, behind)
                back.join()
            self.close_connection = True

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            data = self.rfile.read(size)
            path = self.path.split("?")[0]
            if path == "/token":
                # Where a service account turns its signed claim into a token.
                self._send(Weather(body={"access_token": "t-1", "expires_in": 3600}))
                return
            wire: Wire | None = next((w for w in WIRES if w.takes(path)), None)
            if wire is None:
                self._send(failure(404, f"no route {path}"))
                return
            asked = Asked(
                path=self.path,
                headers={name.lower(): text for name, text in self.headers.items()},
                body=json.loads(data),
                wire=wire,
            )
            self._send(server.weather(asked))

        def _send(self, weather: Weather) -> None:
            self.close_connection = weather.reset or weather.torn or weather.stall
            if weather.reset:
                return
            if weather.stall:
                server.closing.wait(60)
                return
            body = weather.raw
            if body is None:
                body = json.dumps(weather.body).encode()
            self.send_response(weather.status)
            headers = {"Content-Type": "application/json", **weather.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            if weather.chunked:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for start in range(0, len(body), 100):
                    part = body[start : start + 100]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.write(b"0\r\n\r\n")
                return
            length = 1_000_000 if weather.drip else len(body)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            if weather.drip:
                self._drip()
                return
            self.wfile.write(body[: len(body) // 2] if weather.torn else body)

        def _drip(self) -> None:
            self.close_connection = True
            while not server.closing.wait(0.02):
                try:
                    self.wfile.write(b" ")
                    self.wfile.flush()
                except OSError:
                    return

    return Handler


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


@contextmanager
def judge_server(certificate: Path | None = None) -> Iterator[JudgeServer]:
    """A server for the time of a `with` block; with a certificate it speaks TLS."""
    server = JudgeServer(certificate)
    try:
        yield server
    finally:
        server.close()
