"""One HTTP/1.1 connection: requests spelled, answers read, nothing beyond a deadline.

By RFC 9112, as far as a client that sends whole bodies and reads whole answers needs
it. A server may answer with a stated length, in chunks, or until it closes.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from time import monotonic
from typing import Final

_PIECE: Final = 1 << 16
_MAX_HEAD: Final = 1 << 16
_MOMENT: Final = 0.02  # seconds
_STATUS: Final = re.compile(rb"HTTP/1\.(\d) +(\d{3})(?: .*)?")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_LONGEST_END: Final = 3  # bytes of the end of a head, but for its last
_FOLD: Final = re.compile(rb"\r?\n[ \t]+")
# What says where an answer ends is read whole: two lines of it may differ.
_FRAMING: Final = ("connection", "content-length", "transfer-encoding")
_BLANK: Final = " \t\r"
_HEXADECIMAL: Final = re.compile(rb"[0-9A-Fa-f]{1,15}")


class NotHttp(Exception):
    """The server sent what is no answer of HTTP/1.1, or not the whole of one."""


class TooLarge(Exception):
    """The answer is larger than what is taken."""


class Reply:
    """What came back: the status, the headers (names in lower case), the body."""

    __slots__ = ("data", "headers", "status")

    def __init__(self, status: int, headers: Mapping[str, str], data: bytes) -> None:
        self.status = status
        self.headers = headers
        self.data = data


class Connection:
    """One connection. `limit` is in bytes of an answer, `idle_since` of the monotonic clock.

    `sent` says whether all of the last request has been handed over, `began` whether
    any byte of an answer has come; `over` whether the connection is of no more use.
    """

    def __init__(self, sock: socket.socket, *, limit: int) -> None:
        self.sock = sock
        self._limit = limit
        self.idle_since = monotonic()
        self._deadline = 0.0
        self._data = b""
        self._at = 0
        self.sent = False
        self.began = False
        self.over = False

    def is_quiet(self) -> bool:
        """Whether it is open, and nothing has come since the last answer.

        What comes unasked (a second answer, an end) is no answer to the next request.
        """
        self.sock.settimeout(0)
        try:
            self.sock.recv(1)
        except BlockingIOError:
            return True
        except OSError as error:
            return type(error).__name__ == "SSLWantReadError"
        return False

    def exchange(
        self, method: str, head: bytes, body: bytes | None, deadline: float
    ) -> Reply:
        """Send a request (`request_head` and a body), return what it is answered.

        Head and body go in one piece: one packet, one wake-up of the server. Raises
        OSError (TimeoutError at the deadline), NotHttp, TooLarge.
        """
        self._deadline = deadline
        self.sent = self.began = False
        self._limit_wait()
        try:
            self.sock.sendall(head if body is None else head + body)
        except ConnectionError as error:
            # Who finds a request too long answers and closes before it is all there.
            try:
                reply = self._reply(method)
            except (OSError, NotHttp):
                raise error from None
            self.over = True
            return reply
        self.sent = True
        return self._reply(method)

    def close(self) -> None:
        """Close it."""
        self.over = True
        self.sock.close()

    # -- reading -----------------------------------------------------------------------

    def _reply(self, method: str) -> Reply:
        status, headers, keeps = self._head()
        while 100 <= status < 200 and status != 101:
            status, headers, keeps = self._head()
        data = self._body(method, status, headers)
        # What stands behind the answer belongs to nothing that was asked.
        if not keeps or status < 200 or self._at < len(self._data):
            self.over = True
        return Reply(status, headers, data)

    def _limit_wait(self) -> None:
        """Let the next read or write wait for what is left. Raises TimeoutError.

        To say so is a call of the system: what differs by a moment stays as it is.
        """
        left = self._deadline - monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        # (`is_quiet` leaves it at 0, which is not to wait at all.)
        told = self.sock.gettimeout()
        if not told or abs(told - left) > _MOMENT:
            self.sock.settimeout(left)

    def _more(self) -> bool:
        """Read what comes next in place of what was read; False where nothing does."""
        self._limit_wait()
        self._data = self.sock.recv(_PIECE)
        self._at = 0
        if not self._data:
            self.over = True
            return False
        self.began = True
        return True

    def _head(self) -> tuple[int, dict[str, str], bool]:
        """Read a head; return the status, the headers, and whether more may be asked."""
        data = self._data[self._at :].lstrip(b"\r\n")
        looked_at = 0
        while (end := _HEAD_END.search(data, looked_at)) is None:
            if len(data) > _MAX_HEAD:
                raise NotHttp("the head of the answer has no end")
            if not self._more():
                if not self.began:
                    raise ConnectionResetError("the server closed the connection")
                raise NotHttp("the answer ends within its head")
            looked_at = max(len(data) - _LONGEST_END, 0)
            # Some servers end the answer before with the end of one more line.
            data = data + self._data if data else self._data.lstrip(b"\r\n")
        self._data, self._at = data, end.end()
        # A line that begins with a blank goes on with the one before it.
        first, *lines = _FOLD.sub(b" ", data[: end.start()]).split(b"\n")
        told = _STATUS.fullmatch(first.rstrip(b"\r"))
        if told is None:
            raise NotHttp("the answer is none of HTTP/1.1")
        headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.decode("latin-1").partition(":")
            # Blanks alone: Python takes letters of Latin-1 (\x85, \xa0) for space too.
            name, value = name.strip(_BLANK).lower(), value.strip(_BLANK)
            if name not in headers:
                headers[name] = value
            elif name in _FRAMING:
                headers[name] += ", " + value
        connection = headers.get("connection", "").lower()
        if told[1] == b"0":
            keeps = "keep-alive" in connection
        else:
            keeps = "close" not in connection
        return int(told[2]), headers, keeps

    def _body(self, method: str, status: int, headers: Mapping[str, str]) -> bytes:
        if method in ("HEAD", "CONNECT") or status in (204, 304) or status < 200:
            return b""
        coding = headers.get("transfer-encoding", "").lower()
        if coding == "chunked":
            return self._chunks()
        if coding not in ("", "identity"):
            raise NotHttp("the answer comes in a coding that nobody asked for")
        length = headers.get("content-length")
        if length is None:
            return self._rest()
        if (
            "," in length
            and len(told := {one.strip() for one in length.split(",")}) == 1
        ):
            length = told.pop()
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise NotHttp("the answer states a length that is none")
        if int(length) > self._limit:
            raise TooLarge
        return self._exactly(int(length))

    def _exactly(self, count: int) -> bytes:
        piece = self._data[self._at : self._at + count]
        self._at += len(piece)
        left = count - len(piece)
        if not left:
            return piece
        pieces = [piece]
        while left:
            if not self._more():
                raise NotHttp("the answer ends before its stated length")
            piece = self._data[:left]
            self._at = len(piece)
            left -= len(piece)
            pieces.append(piece)
        return b"".join(pieces)

    def _rest(self) -> bytes:
        """Read until the server closes the connection."""
        pieces = [self._data[self._at :]]
        size = len(pieces[0])
        while size <= self._limit:
            if not self._more():
                return b"".join(pieces)
            pieces.append(self._data)
            size += len(self._data)
        raise TooLarge

    def _chunks(self) -> bytes:
        data = bytearray()
        while True:
            told = self._line().partition(b";")[0].strip()
            if _HEXADECIMAL.fullmatch(told) is None:
                raise NotHttp("the answer is not in chunks, as it says it is")
            count = int(told, 16)
            if not count:
                break
            if len(data) + count > self._limit:
                raise TooLarge
            data += self._exactly(count)
            if self._line().strip():
                raise NotHttp("a chunk of the answer is longer than it says")
        while self._line().strip():
            pass  # what follows the last chunk are headers of no use here
        return bytes(data)

    def _line(self) -> bytes:
        line = b""
        while True:
            end = self._data.find(b"\n", self._at)
            if end >= 0:
                line += self._data[self._at : end]
                self._at = end + 1
                return line
            line += self._data[self._at :]
            if len(line) > _MAX_HEAD:
                raise NotHttp("a line of the answer has no end")
            if not self._more():
                raise NotHttp("the answer ends within its chunks")


def request_head(
    method: str,
    target: str,
    headers: Mapping[str, str],
    *,
    host: str,
    length: int | None,
) -> bytes:
    """Return the head of a request; a `length` of None is one without a body.

    Raises ValueError where a part of it holds what would make another request of it.
    """
    if not target.isascii() or not target.isprintable() or " " in target:
        raise ValueError("the URL holds a character that no URL has")
    lines = [f"{method} {target} HTTP/1.1"]
    names = {name.lower() for name in headers}
    if "host" not in names:
        lines.append(f"Host: {host}")
    if "accept-encoding" not in names:
        lines.append("Accept-Encoding: identity")
    if length is not None and "content-length" not in names:
        lines.append(f"Content-Length: {length}")
    lines += [f"{name}: {value}" for name, value in headers.items()]
    text = "\r\n".join(lines)
    breaks = len(lines) - 1
    if text.count("\n") != breaks or text.count("\r") != breaks:
        raise ValueError("a header holds the end of a line")
    return (text + "\r\n\r\n").encode("latin-1")


def through_tunnel(
    sock: socket.socket, host: str, headers: Mapping[str, str], deadline: float
) -> None:
    """Ask the proxy at the other end of a socket for a tunnel to `host` (and a port).

    Raises OSError where there is none to be had, NotHttp, ValueError.
    """
    head = request_head("CONNECT", host, headers, host=host, length=None)
    reply = Connection(sock, limit=0).exchange("CONNECT", head, None, deadline)
    if not 200 <= reply.status < 300:
        raise OSError(f"the proxy gives no tunnel ({reply.status})")
