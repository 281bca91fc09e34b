"""The plain path: OpenAI-compatible servers on the standard library alone.

No SDK: `http.client` with connections that are kept alive, verified TLS, and the
proxies of the environment. A request has one deadline for everything: each read waits
no longer than what is left of it.
"""

import io
import json
import os
import socket
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from time import monotonic
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from . import JudgeReply, JudgeRequest, ProviderError, ProviderOptions
from .chat import API_KEY, chat_body, endpoint, read_completion
from .faults import Cleaner, connection_problem, status_problem

MAX_REPLY: Final = 16 << 20


class OpenAIHttpProvider:
    """Chat completions without an SDK.

    Raises ProviderError without OPENAI_API_KEY (a server on this machine needs none).
    """

    name = "openai-http"

    def __init__(self, options: ProviderOptions) -> None:
        self._options = options
        self._endpoint = endpoint(options, provider=self.name)
        self._server = self._endpoint.server
        self._clean = Cleaner(
            () if self._endpoint.key == "none" else (self._endpoint.key,)
        )
        parts = urlsplit(self._endpoint.url)
        path, query = parts.path.rstrip("/") + "/chat/completions", parts.query
        self._route = _Route(parts, path + (f"?{query}" if query else ""))
        self._headers = {
            "Authorization": f"Bearer {self._endpoint.key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "helix-evals",
        }
        self._idle: deque[_Connection] = deque()

    @property
    def identity(self) -> str:
        """The provider and the server that answers."""
        return f"{self.name} {self._server}"

    def complete(self, request: JudgeRequest) -> JudgeReply:
        """Return the model's reply to one chat completion."""
        body = chat_body(request, self._options, official=self._endpoint.official)
        payload = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        status, headers, data = self._send(payload, monotonic() + request.timeout)
        try:
            reply = json.loads(data)
        except (ValueError, RecursionError):
            reply = data.decode("utf-8", "replace")
        if status != 200:
            raise status_problem(
                server=self._server,
                status=status,
                body=reply,
                headers=headers,
                clean=self._clean,
                key=API_KEY,
            )
        return read_completion(reply, server=self._server)

    def close(self) -> None:
        """Close the connections."""
        while self._idle:
            self._idle.pop().close()

    def _send(self, payload: bytes, deadline: float) -> tuple[int, Any, bytes]:
        """Return the status, headers and body of the reply.

        A server may close a connection while it is idle; a request that finds it so,
        before any byte of a reply, is sent once more on a fresh one.
        """
        try:
            connection = self._idle.pop()
            kept = True
        except IndexError:
            connection, kept = self._route.connection(), False
        while True:
            try:
                found = self._exchange(connection, payload, deadline)
            except (TimeoutError, HTTPException, OSError, ValueError) as error:
                connection.close()
                if kept and _was_idle(error):
                    connection, kept = self._route.connection(), False
                    continue
                raise self._problem(connection, error) from None
            if connection.sock is not None:
                self._idle.append(connection)
            return found

    def _exchange(
        self, connection: "_Connection", payload: bytes, deadline: float
    ) -> tuple[int, Any, bytes]:
        connection.until(deadline)
        connection.request("POST", self._route.target, payload, self._headers)
        response = connection.getresponse()
        size = 0
        data: list[bytes] = []
        if response.length is not None:
            # Only a whole read notices a body that ends too early.
            whole = response.read() if response.length <= MAX_REPLY else b""
            if response.isclosed():
                return response.status, response.headers, whole
        while size <= MAX_REPLY:
            chunk = response.read(1 << 16)
            if not chunk:
                return response.status, response.headers, b"".join(data)
            size += len(chunk)
            data.append(chunk)
        raise HTTPException("the reply is longer than any judgement")

    def _problem(self, connection: "_Connection", error: Exception) -> ProviderError:
        if isinstance(error, TimeoutError) and connection.connected:
            return ProviderError("timeout", f"{self._server} did not answer in time")
        if not connection.connected:
            problem = connection_problem(self._server, error, self._clean)
            if problem.kind == "untrusted":
                return problem
            why = self._clean(str(error)) or type(error).__name__
            return ProviderError("unreachable", f"{self._server}: {why}")
        why = self._clean(str(error)) or type(error).__name__
        return ProviderError("broken", f"{self._server}: {why}")


def _was_idle(error: Exception) -> bool:
    """Whether the server had closed the connection before it took the request."""
    return isinstance(error, ConnectionError) and not isinstance(
        error, ConnectionRefusedError
    )


class _Route:
    """How to reach the server: straight, or by way of the environment's proxy."""

    def __init__(self, parts: SplitResult, target: str) -> None:
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._secure else 80)
        self._proxy = _proxy_of(parts)
        self._tls: Any = None
        self.target = target
        self._proxy_headers: dict[str, str] = {}
        if self._proxy is not None:
            if self._proxy.username:
                self._proxy_headers = {"Proxy-Authorization": _basic(self._proxy)}
            if not self._secure:
                host = f"[{self._host}]" if ":" in self._host else self._host
                self.target = f"http://{host}:{self._port}{target}"

    def connection(self) -> "_Connection":
        """Return a connection that is not open yet."""
        host, port = self._host, self._port
        if self._proxy is not None:
            host, port = self._proxy.hostname or "", self._proxy.port or 80
        if not self._secure:
            plain = _PlainConnection(host, port)
            plain.proxy_headers = self._proxy_headers
            return plain
        if self._tls is None:
            import ssl

            self._tls = ssl.create_default_context()
        secure = _SecureConnection(host, port, context=self._tls)
        if self._proxy is not None:
            secure.set_tunnel(self._host, self._port, self._proxy_headers)
        return secure


def _proxy_of(parts: SplitResult) -> SplitResult | None:
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib import request

    proxies = request.getproxies_environment()
    url = proxies.get(parts.scheme) or proxies.get("all")
    host = parts.hostname or ""
    bypass: Any = request.proxy_bypass_environment  # type: ignore[attr-defined]
    if not url or bypass(host, proxies):
        return None
    proxy = urlsplit(url if "://" in url else f"http://{url}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise ProviderError(
            "bad-request",
            f"the proxy for {parts.scheme} in the environment must be an http:// URL",
        )
    return proxy


def _basic(proxy: SplitResult) -> str:
    from base64 import b64encode

    user = unquote(proxy.username or "")
    return "Basic " + b64encode(
        f"{user}:{unquote(proxy.password or '')}".encode()
    ).decode("ascii")


class _Connection(HTTPConnection):
    """A connection on which nothing waits beyond the deadline of its request."""

    connected = False
    deadline = 0.0
    proxy_headers: dict[str, str] = {}

    def until(self, deadline: float) -> None:
        """Set the deadline (of the monotonic clock) of what is sent and read next."""
        self.deadline = deadline
        self.timeout = self.left()
        if self.sock is not None:
            # Of `sendall` this is the limit of the whole, not of each part.
            self.sock.settimeout(self.timeout)

    def left(self) -> float:
        """Return the seconds that are left. Raises TimeoutError where none are."""
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left

    def connect(self) -> None:
        self.connected = False
        super().connect()
        self.connected = True
        self.sock.settimeout(self.left())

    def putheader(self, header: Any, *values: Any) -> None:
        if header == "Authorization" and self.proxy_headers:
            for name, value in self.proxy_headers.items():
                super().putheader(name, value)
        super().putheader(header, *values)

    def response_class(  # type: ignore[override]
        self, sock: socket.socket, **options: Any
    ) -> HTTPResponse:
        return HTTPResponse(_Timed(self, sock), **options)  # type: ignore[arg-type]


class _PlainConnection(_Connection):
    pass


class _SecureConnection(_Connection, HTTPSConnection):
    pass


class _Timed(io.RawIOBase):
    """What a response reads from: each read waits only for what is left."""

    def __init__(self, connection: _Connection, sock: socket.socket) -> None:
        self._connection = connection
        self._sock = sock

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(self._connection.left())
        return self._sock.recv_into(buffer)
