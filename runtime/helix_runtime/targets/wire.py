"""HTTP/1.1 to one server: connections that are kept, one deadline for an exchange.

TLS is verified, redirects are not followed (they would carry credentials elsewhere),
and no read waits longer than what is left of the deadline: the time limits of
`http.client` are those of a single read, and a server that sends a byte now and then
would hold a case for ever.
"""

from __future__ import annotations

import io
import os
import socket
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from time import monotonic
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit


class Unreachable(Exception):
    """The server can't be reached: no connection, no trusted certificate."""


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
    """Exchanges with the server of a URL. May be used by many threads at once."""

    def __init__(self, url: str, *, limit: int) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._secure else 80)
        self._limit = limit
        self._proxy = _proxy_of(parts)
        self._tls: Any = None
        self._idle: deque[_Connection] = deque()

    def connect(self, deadline: float) -> None:
        """Open a connection and keep it for the first exchange.

        Raises Unreachable.
        """
        connection = self._connection()
        try:
            self._open(connection, deadline)
        except Unreachable:
            connection.close()
            raise
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
        try:
            connection, kept = self._idle.pop(), True
        except IndexError:
            connection, kept = self._connection(), False
        while True:
            try:
                if connection.sock is None:
                    self._open(connection, deadline)
                reply = self._once(connection, method, target, body, headers, deadline)
            except (Unreachable, TooLarge):
                connection.close()
                raise
            except (OSError, HTTPException, ValueError) as error:
                connection.close()
                if isinstance(error, TimeoutError):
                    raise TooLate from error
                if kept and isinstance(error, ConnectionError):
                    connection, kept = self._connection(), False
                    continue
                raise Broken(str(error) or type(error).__name__) from error
            if connection.sock is not None:
                self._idle.append(connection)
            return reply

    def close(self) -> None:
        """Close the connections that are idle."""
        while self._idle:
            self._idle.pop().close()

    def _open(self, connection: _Connection, deadline: float) -> None:
        try:
            connection.until(deadline)
            connection.connect()
        except (OSError, HTTPException, ValueError) as error:
            raise Unreachable(_why(error)) from error

    def _once(
        self,
        connection: _Connection,
        method: str,
        target: str,
        body: bytes | None,
        headers: dict[str, str],
        deadline: float,
    ) -> Reply:
        connection.until(deadline)
        if self._proxy is not None and not self._secure:
            host = f"[{self._host}]" if ":" in self._host else self._host
            target = f"http://{host}:{self._port}{target}"
            headers = {**headers, **_credentials(self._proxy)}
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        data = response.read(self._limit + 1)
        if len(data) > self._limit:
            raise TooLarge
        if not response.isclosed():
            response.read()  # the end of the body, so that the connection is free
        return Reply(response.status, response.headers, data)

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
            secure.set_tunnel(self._host, self._port, _credentials(self._proxy))
        return secure


class _Connection(HTTPConnection):
    """A connection on which nothing waits beyond the deadline of its request."""

    deadline = 0.0

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

    def response_class(  # type: ignore[override]
        self, sock: socket.socket, **options: Any
    ) -> HTTPResponse:
        return HTTPResponse(_Timed(self, sock), **options)  # type: ignore[arg-type]


class _Plain(_Connection):
    pass


class _Secure(_Connection, HTTPSConnection):
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


def _proxy_of(parts: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names for a URL, or None."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies_environment, proxy_bypass

    proxies = getproxies_environment()
    url = proxies.get(parts.scheme) or proxies.get("all")
    if not url or proxy_bypass(parts.hostname or ""):
        return None
    proxy = urlsplit(url if "://" in url else f"http://{url}")
    return proxy if proxy.scheme == "http" and proxy.hostname else None


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
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
