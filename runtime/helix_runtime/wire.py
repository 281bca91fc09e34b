"""HTTP/1.1 to one server: connections that are kept, one deadline for an exchange.

The one client of the runtime: subjects behind HTTP and judges without an SDK speak
through it. TLS is verified (a company's own authority: `SSL_CERT_FILE`), the proxies
are those of the environment, and redirects are not followed: they would carry
credentials elsewhere. No read waits longer than what is left of the deadline: the time
limits of `http.client` are those of a single read, and a server that sends a byte now
and then would hold a case for ever.
"""

from __future__ import annotations

import io
import os
import socket
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from time import monotonic
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

_PIECE: Final = 1 << 16
_MOMENT: Final = 0.02  # seconds


class BadProxy(Exception):
    """The proxy that the environment names can't be used."""


class Unreachable(Exception):
    """The server can't be reached: there is no connection."""


class Untrusted(Unreachable):
    """Nobody who is trusted vouches for the server's certificate."""


class Broken(Exception):
    """The server took the request and then broke off."""


class TooLate(Exception):
    """The server did not answer before the deadline."""


class TooLarge(Exception):
    """The answer is larger than what is taken."""


class Reply:
    """What came back: the status, the headers, the body."""

    __slots__ = ("data", "headers", "status")

    def __init__(self, status: int, headers: Any, data: bytes) -> None:
        self.status = status
        self.headers = headers
        self.data = data


class Wire:
    """Exchanges with the server of a URL. May be used by many threads at once.

    `limit` is in bytes of an answer. Raises BadProxy.
    """

    def __init__(self, url: str, *, limit: int) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._secure else 80)
        self._limit = limit
        self._proxy = _proxy_of(parts)
        self._proxy_headers = {} if self._proxy is None else _credentials(self._proxy)
        # What a proxy for plain HTTP is asked for begins with the server.
        self._prefix = ""
        if self._proxy is not None and not self._secure:
            host = f"[{self._host}]" if ":" in self._host else self._host
            self._prefix = f"http://{host}:{self._port}"
        self._tls: Any = None
        self._idle: deque[_Connection] = deque()

    def connect(self, deadline: float) -> None:
        """Open a connection and keep it for the first exchange.

        Raises Unreachable.
        """
        connection = self._connection()
        self._open(connection, deadline)
        self._idle.append(connection)

    def exchange(
        self,
        method: str,
        target: str,
        *,
        body: bytes | None,
        headers: dict[str, str],
        deadline: float,
    ) -> Reply:
        """Send one request and return the reply, whatever its status.

        A server may close a connection while it is idle: a request that finds it so,
        before any byte of a reply, is sent again on a fresh one. Raises Unreachable,
        Broken, TooLate, TooLarge.
        """
        if self._prefix:
            target = self._prefix + target
            headers = {**headers, **self._proxy_headers}
        try:
            connection, kept = self._idle.pop(), True
        except IndexError:
            connection, kept = self._connection(), False
        while True:
            if connection.sock is None:
                self._open(connection, deadline)
            response: HTTPResponse | None = None
            try:
                connection.until(deadline)
                connection.ask(method, target, body, headers)
                response = connection.getresponse()
                data = _body(response, self._limit)
            except TooLarge:
                connection.close()
                raise
            except (OSError, HTTPException, ValueError) as error:
                connection.close()
                if isinstance(error, TimeoutError):
                    raise TooLate from error
                if kept and response is None and isinstance(error, ConnectionError):
                    connection, kept = self._connection(), False
                    continue
                raise Broken(str(error) or type(error).__name__) from error
            if connection.sock is not None:
                self._idle.append(connection)
            return Reply(response.status, response.headers, data)

    def close(self) -> None:
        """Close the connections that are idle."""
        while self._idle:
            self._idle.pop().close()

    def _open(self, connection: _Connection, deadline: float) -> None:
        try:
            connection.until(deadline)
            connection.connect()
        except (OSError, HTTPException, ValueError) as error:
            connection.close()
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise Untrusted(
                    f"its certificate is not trusted ({_why(error)}); name the file of "
                    "a company's own authority in SSL_CERT_FILE"
                ) from error
            raise Unreachable(_why(error)) from error

    def _connection(self) -> _Connection:
        host, port = self._host, self._port
        if self._proxy is not None:
            host, port = self._proxy.hostname or "", self._proxy.port or 80
        if not self._secure:
            return _Plain(host, port)
        if self._tls is None:
            import ssl

            self._tls = ssl.create_default_context()
        secure = _Secure(host, port, context=self._tls)
        if self._proxy is not None:
            secure.set_tunnel(self._host, self._port, self._proxy_headers)
        return secure


def _body(response: HTTPResponse, limit: int) -> bytes:
    """Return the whole body. Raises TooLarge, and HTTPException where it is torn."""
    if response.length is not None:
        if response.length > limit:
            raise TooLarge
        # Only a read of the whole notices a body that ends too early.
        return response.read()
    size = 0
    pieces = []
    while piece := response.read(_PIECE):
        size += len(piece)
        if size > limit:
            raise TooLarge
        pieces.append(piece)
    return b"".join(pieces)


class _Connection(HTTPConnection):
    """A connection on which nothing waits beyond the deadline of its request."""

    deadline = 0.0
    _limited_at = 0.0
    _held: list[Any] | None = None

    def until(self, deadline: float) -> None:
        """Set the deadline (of the monotonic clock) of what is sent and read next."""
        self.deadline = deadline
        self.timeout = self.left()
        self._limited_at = 0.0
        if self.sock is not None:
            # Of `sendall` this is the limit of the whole, not of each part.
            self.limit_wait(self.sock)

    def left(self) -> float:
        """Return the seconds that are left. Raises TimeoutError where none are."""
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left

    def limit_wait(self, sock: socket.socket) -> None:
        """Let the next read or write wait for what is left. Raises TimeoutError.

        To say so is a call of the system: what was said less than a moment ago holds.
        """
        left = self.left()
        now = self.deadline - left
        if now - self._limited_at > _MOMENT:
            sock.settimeout(left)
            self._limited_at = now

    def ask(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> None:
        """Send a request, its head and its body in one piece: one packet, one wake-up."""
        held: list[Any] = []
        self._held = held
        try:
            self.request(method, target, body, headers)
        finally:
            self._held = None
        super().send(b"".join(held))

    def send(self, data: Any) -> None:
        """Send, or keep what belongs to a request until it is whole."""
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)

    def response_class(  # type: ignore[override]
        self, sock: socket.socket, **options: Any
    ) -> HTTPResponse:
        return HTTPResponse(_Timed(self, sock), **options)  # type: ignore[arg-type]


class _Plain(_Connection):
    pass


class _Secure(_Connection, HTTPSConnection):
    pass


class _Timed(io.RawIOBase):
    """What a response reads from: each read waits only for what is left.

    The file of the socket keeps it open until the body is read, also where the
    connection lets go of it because the server said that it will close.
    """

    def __init__(self, connection: _Connection, sock: socket.socket) -> None:
        self._connection = connection
        self._sock = sock
        self._file = sock.makefile("rb", buffering=0)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._connection.limit_wait(self._sock)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def _proxy_of(parts: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names for a URL, or None. Raises BadProxy."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib import request

    proxies = request.getproxies_environment()
    url = proxies.get(parts.scheme) or proxies.get("all")
    bypass: Any = request.proxy_bypass_environment  # type: ignore[attr-defined]
    if not url or bypass(parts.hostname or "", proxies):
        return None
    try:
        proxy = urlsplit(url if "://" in url else f"http://{url}")
        good = proxy.scheme == "http" and proxy.hostname and proxy.port != 0
    except ValueError:
        good = False
    if not good:
        raise BadProxy(
            f"the proxy for {parts.scheme} in the environment must be an http:// URL"
        )
    return proxy


def _credentials(proxy: SplitResult) -> dict[str, str]:
    if not proxy.username:
        return {}
    from base64 import b64encode

    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + b64encode(pair.encode()).decode("ascii")}


def _why(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no connection in time"
    if isinstance(error, socket.gaierror):
        return f"the name of the host is not known ({error.strerror})"
    return (
        getattr(error, "verify_message", None)
        or getattr(error, "strerror", None)
        or str(error)
        or type(error).__name__
    )
