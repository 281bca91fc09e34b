"""HTTP/1.1 to one server: connections that are kept, one deadline for an exchange.

The one client of the runtime: subjects behind HTTP and judges without an SDK speak
through it. TLS is verified (a company's own authority: `SSL_CERT_FILE`), the proxies
are those of the environment, and redirects are not followed: they would carry
credentials elsewhere. No read waits longer than what is left of the deadline: a server
that sends a byte now and then would hold a case for ever.

Not `http.client`: it reads the head of an answer as an email, which takes longer than
judging it, and its import longer than that of all the rest of a judged run.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from time import monotonic
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from .http1 import Connection, NotHttp, Reply, TooLarge, request_head, through_tunnel

__all__ = [
    "BadProxy",
    "Broken",
    "Reply",
    "TooLarge",
    "TooLate",
    "Unreachable",
    "Untrusted",
    "Wire",
]

# Servers close what is idle, many after five seconds: a request that meets that is lost.
_LONGEST_IDLE: Final = 4.0  # seconds
_PORTS: Final = {"http": 80, "https": 443}


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


class Wire:
    """Exchanges with the server of a URL. May be used by many threads at once.

    `limit` is in bytes of an answer. Raises BadProxy.
    """

    def __init__(self, url: str, *, limit: int) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._name = _ascii(parts.hostname or "")
        self._port = parts.port or _PORTS[parts.scheme]
        host = f"[{self._name}]" if ":" in self._name else self._name
        self._server = f"{host}:{self._port}"
        self._host = host if self._port == _PORTS[parts.scheme] else self._server
        self._limit = limit
        self._proxy = _proxy_of(parts)
        self._proxy_headers = {} if self._proxy is None else _credentials(self._proxy)
        # What a proxy for plain HTTP is asked for begins with the server.
        self._prefix = ""
        if self._proxy is not None and not self._secure:
            self._prefix = f"http://{self._server}"
        self._tls: Any = None
        self._idle: deque[Connection] = deque()

    def connect(self, deadline: float) -> None:
        """Open a connection and keep it for the first exchange.

        Raises Unreachable.
        """
        self._idle.append(self._open(deadline))

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

        A server may close a connection while it is idle: a request that finds it so is
        sent again on a fresh one. One that the server may have taken is not, unless it
        only asks (GET). Raises Unreachable, Broken, TooLate, TooLarge.
        """
        if self._prefix:
            target = self._prefix + target
            headers = {**headers, **self._proxy_headers}
        length = None if body is None else len(body)
        try:
            head = request_head(method, target, headers, host=self._host, length=length)
        except ValueError as error:
            raise Broken(str(error)) from error
        connection = self._kept()
        kept = connection is not None
        while True:
            if connection is None:
                connection = self._open(deadline)
            try:
                reply = connection.exchange(method, head, body, deadline)
                break
            except TooLarge:
                connection.close()
                raise
            except TimeoutError as error:
                connection.close()
                raise TooLate from error
            except (OSError, NotHttp) as error:
                connection.close()
                gone = isinstance(error, ConnectionError) and not connection.began
                if not (kept and gone) or (connection.sent and method != "GET"):
                    why = str(error) or type(error).__name__
                    if kept and gone:
                        why += (
                            ", which it had kept open, and may have taken the request"
                        )
                    raise Broken(why) from error
            connection, kept = None, False
        if connection.over:
            connection.close()
        else:
            connection.idle_since = monotonic()
            self._idle.append(connection)
        return reply

    def close(self) -> None:
        """Close the connections that are idle."""
        while self._idle:
            self._idle.pop().close()

    def _kept(self) -> Connection | None:
        """Return a connection that is still of use, or None."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            fresh = monotonic() - connection.idle_since < _LONGEST_IDLE
            if fresh and connection.is_quiet():
                return connection
            connection.close()

    def _open(self, deadline: float) -> Connection:
        sock: Any = None
        try:
            place = (self._name, self._port)
            if self._proxy is not None:
                place = (self._proxy.hostname or "", self._proxy.port or 80)
            sock = _connected(place, deadline)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._secure:
                if self._proxy is not None:
                    through_tunnel(sock, self._server, self._proxy_headers, deadline)
                sock.settimeout(_left(deadline))
                sock = self._context().wrap_socket(sock, server_hostname=self._name)
            return Connection(sock, limit=self._limit)
        except (OSError, ValueError, NotHttp) as error:
            if sock is not None:
                sock.close()
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise Untrusted(
                    f"its certificate is not trusted ({_why(error)}); name the file of "
                    "a company's own authority in SSL_CERT_FILE"
                ) from error
            why = _why(error)
            if self._proxy is not None:
                why += " (through the proxy that the environment names)"
            raise Unreachable(why) from error

    def _context(self) -> Any:
        """Return what verifies the server, made once: its certificates take a while."""
        if self._tls is None:
            import ssl

            self._tls = ssl.create_default_context()
        return self._tls


def _ascii(host: str) -> str:
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return host  # there is no such host, as who looks it up will say


def _left(deadline: float) -> float:
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _connected(place: tuple[str, int], deadline: float) -> socket.socket:
    """Return a socket to a host and a port, by the first of its addresses that answers.

    `socket.create_connection` would wait for each of them as long as for all. Raises
    OSError.
    """
    refused: OSError = TimeoutError()
    _left(deadline)
    found = socket.getaddrinfo(*place, type=socket.SOCK_STREAM)
    for at, (family, kind, protocol, _, address) in enumerate(found):
        sock = None
        try:
            left = _left(deadline)
            sock = socket.socket(family, kind, protocol)
            sock.settimeout(left / (len(found) - at))
            sock.connect(address)
            return sock
        except OSError as error:
            if sock is not None:
                sock.close()
            refused = error
    raise refused


def _proxy_of(parts: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names for a URL, or None. Raises BadProxy."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib import request

    proxies = request.getproxies_environment()
    url = proxies.get(parts.scheme) or proxies.get("all")
    port = parts.port or _PORTS[parts.scheme]
    if not url or _is_direct(parts.hostname or "", port, proxies.get("no", "")):
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


def _is_direct(host: str, port: int, listed: str) -> bool:
    """Whether NO_PROXY lists a host: by its name or address, a domain or a network.

    A port behind an entry narrows it to that port; `*` is everything.
    """
    for entry in listed.lower().split(","):
        entry = entry.strip()
        if entry == host:
            return True
        entry = entry.removesuffix(f":{port}").strip("[]")
        domain = entry.removeprefix("*").lstrip(".")
        if entry == "*" or host == domain or (domain and host.endswith("." + domain)):
            return True
        if "/" in entry and _is_in(host, entry):
            return True
    return False


def _is_in(host: str, network: str) -> bool:
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False


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
