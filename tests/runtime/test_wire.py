"""The runtime's one HTTP client: whom it trusts, which proxy it takes, when it gives up."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import pytest
from helix_runtime.refusal import CANT_CARRY_OUT, USAGE, Refusal
from helix_runtime.targets import open_target
from helix_runtime.wire import (
    BadProxy,
    Broken,
    TooLarge,
    TooLate,
    Unreachable,
    Untrusted,
    Wire,
)
from support.certificates import self_signed
from support.judge_server import JudgeServer, Weather, judge_server

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
LIMIT = 1_000_000
BODY = b'{"model": "m", "messages": [{"content": "s"}, {"content": "u"}]}'


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *map(str.upper, PROXIES), "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)


def post(wire: Wire, *, seconds: float = 30.0) -> bytes:
    return wire.exchange(
        "POST",
        "/v1/chat/completions",
        body=BODY,
        headers={"Content-Type": "application/json"},
        deadline=monotonic() + seconds,
    ).data


# -- TLS -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "days", "vouched"),
    [
        ("127.0.0.1", 1, False),
        ("127.0.0.2", 1, True),  # somebody else's certificate
        ("127.0.0.1", -1, True),  # one that has run out
    ],
)
def test_a_certificate_that_does_not_hold_is_refused_before_a_byte_is_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str, days: int, vouched: bool
) -> None:
    certificate = self_signed(tmp_path / "server.pem", host=host, days=days)
    if vouched:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with judge_server(certificate) as server:
        with pytest.raises(Untrusted, match="SSL_CERT_FILE") as caught:
            post(Wire(server.base_url, limit=9999))
        assert server.asked == [] and "\n" not in str(caught.value)


def test_a_target_behind_an_authority_of_the_company_is_reached_by_naming_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path / "server.pem")
    with judge_server(certificate) as server:
        with pytest.raises(Refusal, match="SSL_CERT_FILE") as refused:
            open_target(f"http:{server.base_url}", root=tmp_path)
        assert refused.value.exit_code == CANT_CARRY_OUT
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        open_target(f"http:{server.base_url}", root=tmp_path).close()


# -- proxies ---------------------------------------------------------------------------


def test_a_target_takes_the_proxy_of_the_environment_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:9")
    with pytest.raises(Refusal, match="must be an http:// URL") as refused:
        open_target("http:https://agent.example/x", root=tmp_path)
    assert refused.value.exit_code == USAGE
    certificate = self_signed(tmp_path / "server.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with judge_server() as proxy, judge_server(certificate) as server:
        monkeypatch.setenv("https_proxy", proxy.root)
        open_target(f"http:{server.base_url}", root=tmp_path).close()
        assert proxy.tunnels == [server.root.removeprefix("https://")]


@pytest.mark.parametrize(
    "proxy", ["http://127.0.0.1:1", "http://[::1", "http://x:99999999", "http://"]
)
def test_a_proxy_that_leads_nowhere_is_said(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("all_proxy", proxy)
    with pytest.raises(Exception) as caught:
        post(Wire("http://judge.example", limit=99))
    assert type(caught.value).__name__ in ("Unreachable", "BadProxy")


@pytest.mark.parametrize(
    ("listed", "direct"),
    [
        ("agent.example", True),
        ("x, AGENT.example", True),
        ("example", True),
        (".example", True),
        ("*.example", True),
        ("*", True),
        ("agent.example:8080", True),
        ("agent.example:80", False),
        ("gent.example", False),
        ("10.0.0.0/8", False),
        ("", False),
        (",", False),
    ],
)
def test_no_proxy_lists_hosts_domains_and_ports(
    monkeypatch: pytest.MonkeyPatch, listed: str, direct: bool
) -> None:
    monkeypatch.setenv("http_proxy", "https://this.is.refused")
    monkeypatch.setenv("no_proxy", listed)
    if direct:
        Wire("http://agent.example:8080", limit=9)
        return
    with pytest.raises(BadProxy):
        Wire("http://agent.example:8080", limit=9)


@pytest.mark.parametrize(
    ("host", "listed", "direct"),
    [
        ("127.0.0.1", "127.0.0.0/8", True),
        ("127.0.0.1", "127.1.2.3/8", True),
        ("127.0.0.1", "128.0.0.0/8", False),
        ("127.0.0.1", "127.0.0.0/99", False),
        ("127.0.0.1", "::/0", False),
        ("[::1]", "::1", True),
        ("[::1]", "[::1]:80", True),
        ("[::1]", "::/64", True),
    ],
)
def test_no_proxy_lists_addresses_and_networks(
    monkeypatch: pytest.MonkeyPatch, host: str, listed: str, direct: bool
) -> None:
    monkeypatch.setenv("http_proxy", "https://this.is.refused")
    monkeypatch.setenv("no_proxy", listed)
    if direct:
        Wire(f"http://{host}", limit=9)
        return
    with pytest.raises(BadProxy):
        Wire(f"http://{host}", limit=9)


def test_a_name_of_other_letters_is_asked_for_as_names_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with judge_server() as proxy:
        monkeypatch.setenv("http_proxy", proxy.root)
        wire = Wire("http://b\u00fccher.example", limit=LIMIT)
        post(wire)
        wire.close()
        assert proxy.asked[0].headers["host"] == "xn--bcher-kva.example"


# -- the deadline and the limit --------------------------------------------------------


@pytest.fixture
def served() -> Iterator[tuple[JudgeServer, Wire]]:
    with judge_server() as server:
        wire = Wire(server.base_url, limit=LIMIT)
        yield server, wire
        wire.close()


@pytest.mark.parametrize("weather", [Weather(stall=True), Weather(drip=True)])
def test_nothing_is_waited_for_beyond_the_deadline(
    served: tuple[JudgeServer, Wire], weather: Weather
) -> None:
    server, wire = served
    server.script = [weather]
    started = monotonic()
    with pytest.raises(TooLate):
        post(wire, seconds=0.3)
    assert monotonic() - started < 20
    assert post(wire)


def test_a_deadline_that_has_passed_asks_nobody(
    served: tuple[JudgeServer, Wire],
) -> None:
    server, wire = served
    with pytest.raises((TooLate, Unreachable)):
        post(wire, seconds=-1)
    post(wire)
    with pytest.raises(TooLate):
        post(wire, seconds=-1)
    assert len(server.asked) == 1


def test_all_addresses_of_a_host_share_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # One that takes nobody in: its queue is full.
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as held:
        waiting = []
        for _ in range(4):
            waiting.append(held.enter_context(socket.socket()))
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(full.getsockname())
        with judge_server() as server:
            port = int(server.root.rpartition(":")[2])
            stream = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
            places = [(*stream, full.getsockname()), (*stream, ("127.0.0.1", port))]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: places)
            wire = Wire(server.base_url, limit=LIMIT)
            assert post(wire, seconds=4)
            wire.close()
            places[1:] = places[:1] * 9
            started = monotonic()
            with pytest.raises(Unreachable, match="no connection in time"):
                post(Wire(server.base_url, limit=LIMIT), seconds=0.5)
            assert monotonic() - started < 20


@pytest.mark.parametrize("chunked", [True, False])
def test_more_than_the_limit_is_not_taken(
    served: tuple[JudgeServer, Wire], chunked: bool
) -> None:
    server, wire = served
    server.script = [Weather(raw=b"x" * LIMIT, chunked=chunked)]
    assert len(post(wire)) == LIMIT
    server.script = [Weather(raw=b"x" * (LIMIT + 1), chunked=chunked)]
    with pytest.raises(TooLarge):
        post(wire)
    assert post(wire)


def test_a_body_that_ends_too_early_is_no_answer(
    served: tuple[JudgeServer, Wire],
) -> None:
    server, wire = served
    post(wire)
    server.script = [Weather(raw=b"x" * 1000, torn=True)]
    with pytest.raises(Broken):
        post(wire)
    assert len(server.asked) == 2, "what was begun is not sent again"


def test_what_was_idle_for_long_is_not_used_again(
    served: tuple[JudgeServer, Wire], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, wire = served
    for seconds, connections in ((0.0, 1), (3.0, 1), (7.5, 2)):
        monkeypatch.setattr(
            "helix_runtime.wire.monotonic", lambda s=seconds: monotonic() + s
        )
        post(wire)
        monkeypatch.setattr("helix_runtime.wire.monotonic", monotonic)
        assert server.connections == connections


def test_a_server_that_closes_behind_each_answer_is_read_to_the_end(
    served: tuple[JudgeServer, Wire],
) -> None:
    server, wire = served
    for _ in range(3):
        server.script = [Weather(raw=b"x" * 300_000, headers={"Connection": "close"})]
        assert len(post(wire)) == 300_000


def test_it_is_read_to_the_end_behind_tls_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path / "server.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with judge_server(certificate) as server:
        wire = Wire(server.base_url, limit=LIMIT)
        server.script = [Weather(raw=b"x" * 300_000, headers={"Connection": "close"})]
        assert len(post(wire)) == 300_000
        assert post(wire) == post(wire)
        wire.close()
