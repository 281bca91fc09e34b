"""The plain path: the wire of chat completions on the standard library alone."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helix_runtime.providers import (
    AnswerFormat,
    Provider,
    ProviderError,
    ProviderOptions,
    open_provider,
)
from helix_runtime.providers.chat import ChatBodies, chat_body
from helix_runtime.wire import Wire
from hypothesis import given
from hypothesis import strategies as st
from support.certificates import self_signed
from support.judge_server import JudgeServer, Weather, judge_server
from support.providers import KEY, VARIABLES, request
from support.wires import CHAT, verdict_text

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, *PROXIES, *map(str.lower, PROXIES), "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        yield running


@pytest.fixture
def provider(server: JudgeServer) -> Iterator[Provider]:
    found = plain(server.base_url)
    yield found
    found.close()


def plain(url: str, **options: object) -> Provider:
    values = {"base_url": url, **options}
    return open_provider("openai-http", ProviderOptions(**values))  # type: ignore[arg-type]


def test_one_connection_serves_one_caller_for_as_long_as_it_is_open(
    server: JudgeServer, provider: Provider
) -> None:
    for _ in range(5):
        assert provider.complete(request()).text == verdict_text()
    assert server.connections == 1
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_connection_that_the_server_let_go_is_opened_again(
    server: JudgeServer, provider: Provider
) -> None:
    provider.complete(request())
    server.hang_up()
    # What was kept alive turns out to be closed: that is no weather.
    assert provider.complete(request()).text
    assert server.connections == 2 and len(server.asked) == 2


def test_a_request_that_the_server_took_is_not_asked_again_unseen(
    server: JudgeServer, provider: Provider
) -> None:
    provider.complete(request())
    server.script = [Weather(reset=True)]
    with pytest.raises(ProviderError, match="may have taken") as caught:
        provider.complete(request())
    assert caught.value.kind == "broken" and len(server.asked) == 2


def test_a_reply_without_a_length_is_read_to_its_end(
    server: JudgeServer, provider: Provider
) -> None:
    server.script = [Weather(body=CHAT.answer(verdict_text()).body, chunked=True)]
    assert provider.complete(request()).text == verdict_text()
    assert provider.complete(request()).text == verdict_text()
    assert server.connections == 1


def test_a_request_goes_out_in_one_piece(
    server: JudgeServer, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.complete(request())
    sent: list[bytes] = []
    send = socket.socket.sendall

    def watched(sock: socket.socket, data: bytes) -> None:
        # The server of the test lives in this process too.
        if sock.getpeername() == ("127.0.0.1", port):
            sent.append(data)
        send(sock, data)

    port = int(server.root.rpartition(":")[2])
    monkeypatch.setattr(socket.socket, "sendall", watched)
    provider.complete(request())
    assert len(sent) == 1 and sent[0].endswith(b"}")


def test_an_answer_that_is_torn_on_a_kept_connection_is_weather_not_sent_again(
    server: JudgeServer, provider: Provider
) -> None:
    provider.complete(request())
    server.script = [Weather(body=CHAT.answer(verdict_text()).body, torn=True)]
    with pytest.raises(ProviderError) as caught:
        provider.complete(request())
    assert caught.value.kind == "broken" and len(server.asked) == 2


@pytest.mark.parametrize("chunked", [True, False])
def test_an_answer_without_end_is_not_read_to_it(
    server: JudgeServer,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    chunked: bool,
) -> None:
    monkeypatch.setattr(provider, "_wire", Wire(server.base_url, limit=1000))
    server.script = [Weather(raw=b"x" * 100_000, chunked=chunked)]
    with pytest.raises(ProviderError) as caught:
        provider.complete(request())
    assert caught.value.kind == "bad-reply"


def test_it_needs_nothing_but_the_standard_library(server: JudgeServer) -> None:
    code = (
        "import sys\n"
        "from helix_runtime.providers import *\n"
        f"p = open_provider('openai-http', ProviderOptions(base_url={server.base_url!r}))\n"
        "r = JudgeRequest(system='s', user='u', schema={}, model='m', temperature=0,"
        " max_tokens=9, timeout=30)\n"
        "print(p.complete(r).finish_reason)\n"
        "print([n for n in ('openai', 'httpx2', 'asyncio', 'ssl') if n in sys.modules])"
    )
    runtime = Path(__file__).resolve().parents[2] / "runtime"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=runtime,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[0] == "stop"
    assert "openai" not in done.stdout and "asyncio" not in done.stdout


# -- proxies ---------------------------------------------------------------------------


def test_the_proxy_of_the_environment_carries_the_request(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.root.replace("//", "//me:hush@"))
    provider = plain("http://judge.example:8000/v1")
    assert provider.complete(request()).text
    asked = server.asked[0]
    assert asked.path == "http://judge.example:8000/v1/chat/completions"
    assert asked.headers["proxy-authorization"] == "Basic bWU6aHVzaA=="
    provider.close()


def test_a_host_that_needs_no_proxy_is_reached_straight(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    provider = plain(server.base_url)
    assert provider.complete(request()).text
    provider.close()


def test_a_tunnel_leads_to_a_server_whose_certificate_is_checked(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path / "judge.pem")
    with judge_server(certificate) as secure:
        monkeypatch.setenv("https_proxy", server.root)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        provider = plain(secure.base_url)
        assert provider.complete(request()).text
        provider.close()
        assert server.tunnels == [secure.root.removeprefix("https://")]


def test_a_proxy_that_is_no_http_proxy_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:9")
    with pytest.raises(ProviderError, match="must be an http:// URL"):
        plain("https://judge.example/v1")


def test_a_proxy_that_refuses_its_credentials_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with judge_server() as server:
        server.answer = lambda asked: Weather(status=407, raw=b"who are you?")
        monkeypatch.setenv("all_proxy", server.root.removeprefix("http://"))
        provider = plain("http://judge.example/v1")
        with pytest.raises(ProviderError, match="407"):
            provider.complete(request())
        provider.close()


# -- TLS -------------------------------------------------------------------------------


def test_a_certificate_that_nobody_vouches_for_is_refused_for_good(
    tmp_path: Path,
) -> None:
    with judge_server(self_signed(tmp_path / "judge.pem")) as secure:
        provider = plain(secure.base_url)
        with pytest.raises(ProviderError) as caught:
            provider.complete(request())
        assert caught.value.kind == "untrusted"
        assert "SSL_CERT_FILE" in caught.value.message
        assert secure.asked == []
        provider.close()


def test_a_companys_own_authority_is_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path / "judge.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with judge_server(certificate) as secure:
        provider = plain(secure.base_url)
        assert provider.complete(request()).text
        provider.close()


# -- settings --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "sent"),
    [("json-schema", "json_schema"), ("json-object", "json_object"), ("text", None)],
)
def test_the_answers_form_is_what_the_server_can_do(
    server: JudgeServer, form: str, sent: str | None
) -> None:
    provider = plain(server.base_url, answer_format=form)
    provider.complete(request())
    found = server.asked[0].body.get("response_format")
    assert (found and found["type"]) == sent
    provider.close()


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_limits_name_is_what_the_server_knows(
    server: JudgeServer, name: str
) -> None:
    provider = plain(server.base_url, limit_parameter=name)
    provider.complete(request())
    limits = {"max_tokens", "max_completion_tokens"} & set(server.asked[0].body)
    assert limits == {name}
    provider.close()


def test_a_form_that_the_provider_has_not_is_refused_before_anything_runs() -> None:
    with pytest.raises(ProviderError, match="json-schema, json-object, text"):
        plain("http://localhost:1/v1", answer_format="tool")


def test_without_a_key_only_a_server_on_this_machine_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ProviderError, match="set OPENAI_API_KEY"):
        plain("https://judge.example/v1")
    plain("http://localhost:1/v1").close()


@given(
    system=st.text(),
    user=st.text(),
    model=st.text(min_size=1),
    temperature=st.none() | st.just(0.0),
    limit=st.integers(1, 9),
    form=st.sampled_from([None, "json-schema", "json-object", "text"]),
)
def test_a_body_that_is_spelled_in_parts_is_the_whole_body(
    system: str,
    user: str,
    model: str,
    temperature: float | None,
    limit: int,
    form: AnswerFormat | None,
) -> None:
    options = ProviderOptions(answer_format=form)
    bodies = ChatBodies(options, official=False)
    for more in ("", "!"):
        asked = request(
            system=system,
            user=user + more,
            model=model,
            temperature=temperature,
            max_tokens=limit,
        )
        body = chat_body(asked, options, official=False)
        assert json.loads(bodies.json(asked)) == body
