"""The real openai SDK against a loopback server that speaks the wire format."""

import threading
from collections.abc import Iterator

import pytest
from helix_runtime.judges.parse import ANSWER_SCHEMA
from helix_runtime.providers import (
    JudgeRequest,
    Provider,
    ProviderError,
    ProviderOptions,
    open_provider,
)
from support.judge_server import (
    Asked,
    JudgeServer,
    Weather,
    completion,
    failure,
    judge_server,
    verdict_text,
)

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        yield running


@pytest.fixture
def provider(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Provider]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    opened = open_provider("openai", ProviderOptions(base_url=server.base_url))
    yield opened
    opened.close()


def request(**changes: object) -> JudgeRequest:
    values: dict[str, object] = {
        "system": "be strict",
        "user": "judge this: ü",
        "schema": ANSWER_SCHEMA,
        "model": "judge-2026-01-01",
        "temperature": 0,
        "max_tokens": 500,
        "timeout": 30.0,
    }
    return JudgeRequest(**{**values, **changes})  # type: ignore[arg-type]


def test_the_request_on_the_wire_is_pinned_and_structured(
    server: JudgeServer, provider: Provider
) -> None:
    reply = provider.complete(request())
    asked = server.asked[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["model"] == "judge-2026-01-01"
    assert asked.body["temperature"] == 0
    assert asked.body["max_tokens"] == 500
    assert asked.system == "be strict" and asked.user == "judge this: ü"
    form = asked.body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"] == ANSWER_SCHEMA
    assert reply.text == verdict_text()
    assert reply.model == "judge-2026-01-01"
    assert reply.finish_reason == "stop"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (200, 30)


def test_the_critique_comes_first_in_the_schema_on_the_wire(
    server: JudgeServer, provider: Provider
) -> None:
    provider.complete(request())
    schema = server.asked[0].body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"])[0] == "critique"


def test_the_models_own_sampling_leaves_temperature_out(
    server: JudgeServer, provider: Provider
) -> None:
    provider.complete(request(temperature=None))
    assert "temperature" not in server.asked[0].body


@pytest.mark.parametrize(
    ("weather", "kind"),
    [
        (failure(429, "slow down", code="rate_limit_exceeded"), "rate-limit"),
        (failure(429, "no money", code="insufficient_quota"), "quota"),
        (failure(500, "oops"), "server"),
        (failure(503, "busy"), "server"),
        (failure(401, "bad key"), "credentials"),
        (failure(403, "not yours"), "credentials"),
        (failure(400, "too long", code="context_length_exceeded"), "bad-request"),
        (failure(404, "no such model", code="model_not_found"), "no-model"),
        (Weather(reset=True), "broken"),
        (Weather(status=502, raw=b"<html>bad gateway</html>"), "server"),
        (Weather(raw=b"not json"), "bad-reply"),
        (Weather(raw=b"{}"), "bad-reply"),
        (Weather(body={"choices": []}), "bad-reply"),
        (Weather(raw=b"null"), "bad-reply"),
        (
            Weather(raw=b"hello", headers={"Content-Type": "text/plain"}),
            "bad-reply",
        ),
    ],
)
def test_bad_weather_is_one_typed_error_and_never_retried_here(
    server: JudgeServer, provider: Provider, weather: Weather, kind: str
) -> None:
    server.script = [weather]
    with pytest.raises(ProviderError) as caught:
        provider.complete(request())
    assert caught.value.kind == kind
    assert "\n" not in caught.value.message
    assert len(server.asked) == 1


def test_a_reply_torn_in_the_middle_is_a_broken_connection(
    server: JudgeServer, provider: Provider
) -> None:
    good = completion(verdict_text())
    server.script = [Weather(body=good.body, torn=True)]
    with pytest.raises(ProviderError) as caught:
        provider.complete(request())
    assert caught.value.kind == "broken"


def test_a_server_that_is_not_there_is_unreachable() -> None:
    with judge_server() as gone:
        base_url = gone.base_url
    provider = open_provider("openai", ProviderOptions(base_url=base_url))
    with pytest.raises(ProviderError) as caught:
        provider.complete(request())
    provider.close()
    assert caught.value.kind == "unreachable" and base_url in caught.value.message


def test_retry_after_is_handed_on(server: JudgeServer, provider: Provider) -> None:
    server.script = [failure(429, "wait", headers={"Retry-After": "7"})]
    with pytest.raises(ProviderError) as caught:
        provider.complete(request())
    assert caught.value.retry_after == 7.0


def test_a_refused_temperature_names_the_setting(
    server: JudgeServer, provider: Provider
) -> None:
    server.script = [
        failure(
            400,
            "Unsupported value: 'temperature' does not support 0 with this model.",
            code="unsupported_value",
            param="temperature",
        )
    ]
    with pytest.raises(ProviderError) as caught:
        provider.complete(request())
    assert "temperature" in caught.value.message
    assert 'sampling = "model-default"' in caught.value.message
    assert len(server.asked) == 1


def test_the_key_never_stands_in_an_error(
    server: JudgeServer, provider: Provider
) -> None:
    for status in (400, 401, 500):
        server.script = [failure(status, f"key {KEY} and sk-other-secret-42 are bad")]
        with pytest.raises(ProviderError) as caught:
            provider.complete(request())
        error = caught.value
        assert KEY not in error.message and "sk-other-secret" not in error.message
        assert error.__cause__ is None and error.__suppress_context__


def test_length_refusal_and_filter_are_told_apart(
    server: JudgeServer, provider: Provider
) -> None:
    server.script = [
        completion('{"critique": "half', finish="length"),
        completion(None, refusal="I can't help with that."),
        completion("", finish="content_filter"),
        completion(None, finish="tool_calls"),
    ]
    replies = [provider.complete(request()) for _ in range(4)]
    assert [reply.finish_reason for reply in replies] == [
        "length",
        "refusal",
        "content-filter",
        "other",
    ]
    assert replies[1].text == "I can't help with that."
    assert replies[3].text == ""


def test_calls_at_the_same_time_each_have_a_connection_and_connections_are_kept(
    server: JudgeServer, provider: Provider
) -> None:
    together = threading.Barrier(4)

    def answer(asked: Asked) -> Weather:
        together.wait(timeout=30)  # every call is in flight before any is answered
        return completion(verdict_text())

    server.answer = answer
    for _ in range(3):
        threads = [
            threading.Thread(target=provider.complete, args=(request(),))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(server.asked) == 12
    assert server.connections == 4


# -- before anything runs --------------------------------------------------------


def test_without_a_key_there_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for base_url in (None, "https://judge.example/v1"):
        with pytest.raises(ProviderError, match="OPENAI_API_KEY") as caught:
            open_provider("openai", ProviderOptions(base_url=base_url))
        assert caught.value.kind == "credentials"


def test_a_server_on_this_machine_needs_no_key(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    provider = open_provider("openai", ProviderOptions(base_url=server.base_url))
    assert provider.complete(request()).text
    provider.close()


def test_the_base_url_of_the_environment_is_used_and_said(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider = open_provider("openai")
    assert server.base_url in provider.identity
    provider.complete(request())
    provider.close()
    assert len(server.asked) == 1


def test_credentials_in_a_base_url_are_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider = open_provider(
        "openai", ProviderOptions(base_url="https://me:hush@judge.example/v1?t=x")
    )
    assert "hush" not in provider.identity and "judge.example" in provider.identity
    provider.close()


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x/v1", "judge"])
def test_a_base_url_that_is_none_is_refused_before_anything_runs(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ProviderError, match="base_url must start with"):
        open_provider("openai", ProviderOptions(base_url=url))


def test_an_unknown_provider_names_the_known_ones() -> None:
    with pytest.raises(ProviderError, match="there is: openai"):
        open_provider("oracle")


def test_without_the_sdk_the_line_says_what_to_install() -> None:
    import subprocess
    import sys
    from pathlib import Path

    code = (
        "from helix_runtime.providers import *\n"
        "try: open_provider('openai')\n"
        "except ProviderError as e: print(e.kind, '|', e.message)"
    )
    runtime = str(Path(__file__).resolve().parents[2] / "runtime")
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        cwd=runtime,
        check=True,
    )
    assert done.stdout.startswith("sdk-missing |") and "openai" in done.stdout
