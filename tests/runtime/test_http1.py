"""One connection of HTTP/1.1: what is sent, and every form in which an answer comes."""

import io
import socket
import tracemalloc
from collections.abc import Iterator
from http.client import HTTPResponse
from time import monotonic

import pytest
from helix_runtime.http1 import Connection, NotHttp, Reply, TooLarge, request_head
from hypothesis import example, given
from hypothesis import strategies as st

LIMIT = 100_000
ASK = b"POST / HTTP/1.1\r\nHost: h\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
# Answers that end by themselves, and whether more may be asked on the connection.
WHOLE = [
    (OK + b"Content-Length: 5\r\n\r\nhello", 200, b"hello", True),
    (OK + b"content-length:0\r\n\r\n", 200, b"", True),
    (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", True),
    (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", False),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", False),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
    (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, b"", True),
    (b"HTTP/1.1 503 \xe9\r\nContent-Length: 2\r\n\r\nno", 503, b"no", True),
    (
        OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\nB;x=y\r\nhello world\r\n"
        b"0\r\nTrailer: t\r\n\r\n",
        200,
        b"wikihello world",
        True,
    ),
    (
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok",
        200,
        b"ok",
        True,
    ),
    (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, b"ok", True),
    # A line that goes on is no header of its own.
    (
        OK + b"X: a\r\n Content-Length: 1\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        True,
    ),
    (OK + b"X: a\n\tTransfer-Encoding: x\nContent-Length: 2\n\nok", 200, b"ok", True),
    (OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", True),
    (OK + b"Content-Length: 2, 2\r\n\r\nok", 200, b"ok", True),
    (
        OK + b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        True,
    ),
    (
        OK + b"Connection: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        200,
        b"ok",
        False,
    ),
    (b"\r\n" + OK + b"Content-Length: 2\r\n\r\nok", 200, b"ok", True),
]


class Fed:
    """A socket whose other end sends these pieces and then closes."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = [piece for piece in pieces if piece]
        self.sent = b""

    def sendall(self, data: bytes) -> None:
        self.sent += data

    def recv(self, size: int) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""

    def gettimeout(self) -> float:
        return 0.0

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0


def ask(*pieces: bytes, method: str = "POST") -> tuple[Reply, Connection]:
    connection = Connection(Fed(list(pieces)), limit=LIMIT)  # type: ignore[arg-type]
    return connection.exchange(method, ASK, b"{}", monotonic() + 30), connection


@pytest.mark.parametrize(("answer", "status", "body", "keeps"), WHOLE)
def test_an_answer_is_read_to_its_end_and_no_further(
    answer: bytes, status: int, body: bytes, keeps: bool
) -> None:
    reply, connection = ask(answer)
    assert (reply.status, reply.data, connection.over) == (status, body, not keeps)
    # However it arrives, also byte by byte.
    again, _ = ask(*(answer[at : at + 1] for at in range(len(answer))))
    assert (again.status, again.data, again.headers) == (status, body, reply.headers)


@pytest.mark.parametrize("answer", [whole[0] for whole in WHOLE])
def test_an_answer_that_is_torn_anywhere_is_none(answer: bytes) -> None:
    with pytest.raises(ConnectionResetError):
        ask()
    for end in range(1, len(answer)):
        with pytest.raises(NotHttp):
            ask(answer[:end])


def test_what_stands_behind_an_answer_ends_the_connection() -> None:
    reply, connection = ask(OK + b"Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n")
    assert reply.data == b"ok" and connection.over


def test_an_answer_without_a_length_ends_where_the_server_closes() -> None:
    reply, connection = ask(OK + b"\r\n", b"x" * 70_000, b"y")
    assert reply.data == b"x" * 70_000 + b"y" and connection.over


def test_many_small_chunks_take_no_more_room_than_their_bytes() -> None:
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    pieces = [head, *[b"2\r\nab\r\n" * 1000] * 40, b"0\r\n\r\n"]
    tracemalloc.start()
    try:
        reply, _ = ask(*pieces)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reply.data == b"ab" * 40_000
    assert peak < 10 * len(reply.data)


def test_a_head_is_answered_without_a_body() -> None:
    reply, connection = ask(OK + b"Content-Length: 9\r\n\r\n", method="HEAD")
    assert reply.data == b"" and not connection.over


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"Content-Length: %d\r\n" % (LIMIT + 1),
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
    ],
)
def test_more_than_the_limit_is_not_read(head: bytes) -> None:
    chunk = b"%x\r\n%b\r\n" % (10_000, b"x" * 10_000)
    fed = Fed([OK + head + b"\r\n", *[chunk] * 1000])
    connection = Connection(fed, limit=LIMIT)  # type: ignore[arg-type]
    with pytest.raises(TooLarge):
        connection.exchange("POST", ASK, None, monotonic() + 30)
    assert len(fed.pieces) > 980


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 1e3\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\nhello",
        OK + b"Content-Length: 5, 2\r\n\r\nhello",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK + b"Content-Length: \xb2\r\n\r\n",
        OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-4\r\nwiki\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n0x4\r\nwiki\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nwiki\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 100_000,
        OK + b"X: " + b"x" * 100_000,
    ],
)
def test_what_is_no_answer_of_http_is_refused(answer: bytes) -> None:
    with pytest.raises(NotHttp):
        ask(answer)


def test_names_of_headers_are_in_lower_case_and_the_first_of_two_counts() -> None:
    reply, _ = ask(
        OK + b"Retry-AFTER:  7 \r\nX: \xe9\r\nx: 2\r\nContent-Length: 0\r\n\r\n"
    )
    assert reply.headers == {"retry-after": "7", "x": "é", "content-length": "0"}


def test_only_blanks_are_space_around_a_header() -> None:
    reply, _ = ask(
        OK
        + b"\x85Content-Length: 9\r\nX:\t \xa0y\x85 \t\r\nContent-Length: 2\r\n\r\nok"
    )
    assert reply.data == b"ok" and reply.headers["x"] == "\xa0y\x85"


_TEXT = st.text("abcXYZ-019", min_size=1, max_size=12)


@given(
    status=st.integers(200, 599),
    headers=st.dictionaries(_TEXT, _TEXT, max_size=4),
    body=st.binary(max_size=400),
    chunks=st.lists(st.integers(1, 50), max_size=6),
    cuts=st.lists(st.integers(0, 900), max_size=6),
    form=st.sampled_from(["length", "chunked", "close"]),
)
@example(200, {"A": "b"}, b"abc", [1], [3, 40], "chunked")
def test_it_reads_what_the_standard_library_reads(
    status: int,
    headers: dict[str, str],
    body: bytes,
    chunks: list[int],
    cuts: list[int],
    form: str,
) -> None:
    lines = [f"HTTP/1.1 {status} x", *(f"X{k}: {v}" for k, v in headers.items())]
    sent = body
    if form == "length":
        lines.append(f"Content-Length: {len(body)}")
    if form == "chunked":
        lines.append("Transfer-Encoding: chunked")
        sent, rest = b"", body
        for size in [*chunks, len(body)]:
            if part := rest[:size]:
                sent += b"%X\r\n%b\r\n" % (len(part), part)
                rest = rest[size:]
        sent += b"0\r\n\r\n"
    answer = "\r\n".join([*lines, "", ""]).encode() + sent
    theirs = HTTPResponse(_File(answer))  # type: ignore[arg-type]
    theirs.begin()
    at = sorted({0, *cuts, len(answer)})
    reply, _ = ask(*(answer[a:b] for a, b in zip(at, [*at[1:], None], strict=True)))
    assert (reply.status, reply.data) == (theirs.status, theirs.read())
    for name in reply.headers:
        assert reply.headers[name] == theirs.headers[name]


class _File:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self.data)


# -- what is sent ----------------------------------------------------------------------


def test_a_request_says_whom_it_asks_and_how_long_its_body_is() -> None:
    head = request_head("POST", "/v1?x=1", {"A": "é"}, host="h:8", length=3)
    assert head == (
        "POST /v1?x=1 HTTP/1.1\r\nHost: h:8\r\nAccept-Encoding: identity\r\n"
        "Content-Length: 3\r\nA: é\r\n\r\n"
    ).encode("latin-1")
    own = {"host": "me", "Accept-Encoding": "gzip"}
    assert request_head("GET", "/", own, host="h", length=None) == (
        b"GET / HTTP/1.1\r\nhost: me\r\nAccept-Encoding: gzip\r\n\r\n"
    )


@pytest.mark.parametrize("target", ["/a b", "/a\r\nX: y", "/é", "/\x00", "/\x7f"])
def test_a_target_makes_no_other_request_of_it(target: str) -> None:
    with pytest.raises(ValueError):
        request_head("GET", target, {}, host="h", length=None)


@pytest.mark.parametrize("text", ["a\r\nB: c", "a\nb", "a\rb", "\u20ac"])
def test_a_header_makes_no_other_header(text: str) -> None:
    for headers in ({"A": text}, {text: "a"}):
        with pytest.raises(ValueError):
            request_head("GET", "/", headers, host="h", length=None)


# -- the deadline ----------------------------------------------------------------------


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_nothing_is_sent_once_the_deadline_has_passed(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    with pytest.raises(TimeoutError):
        Connection(ours, limit=9).exchange("GET", ASK, None, monotonic() - 1)
    ours.close()
    assert theirs.recv(99) == b""


def test_a_server_that_takes_nothing_in_is_given_up(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, _ = pair
    with pytest.raises(TimeoutError):
        Connection(ours, limit=9).exchange(
            "POST", ASK, b"x" * (16 << 20), monotonic() + 0.1
        )


@pytest.mark.parametrize("came", [b"", b"\r\n", OK + b"Content-Length: 0\r\n\r\n"])
def test_a_connection_is_of_use_as_long_as_nothing_comes_unasked(
    pair: tuple[socket.socket, socket.socket], came: bytes
) -> None:
    ours, theirs = pair
    connection = Connection(ours, limit=9)
    assert connection.is_quiet()
    theirs.sendall(came) if came else theirs.shutdown(socket.SHUT_WR)
    assert not connection.is_quiet()


def test_a_connection_that_was_found_quiet_waits_to_the_end_of_a_short_deadline(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    connection = Connection(pair[0], limit=9)
    assert connection.is_quiet()
    with pytest.raises(TimeoutError):
        connection.exchange("POST", ASK, None, monotonic() + 0.01)


def test_who_answers_before_the_request_is_over_is_heard(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    theirs.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
    theirs.close()
    connection = Connection(ours, limit=9)
    reply = connection.exchange("POST", ASK, b"x" * (16 << 20), monotonic() + 30)
    assert (reply.status, reply.data, connection.over) == (413, b"big", True)
    assert not connection.sent


def test_a_later_request_has_its_own_deadline(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    connection = Connection(ours, limit=9)
    theirs.sendall(OK + b"Content-Length: 0\r\n\r\n")
    connection.exchange("GET", ASK, None, monotonic() + 3600)
    with pytest.raises(TimeoutError):
        connection.exchange("GET", ASK, None, monotonic() + 0.1)
