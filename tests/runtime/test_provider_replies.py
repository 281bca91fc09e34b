"""What each provider says in a way of its own, read from the wire by its real SDK."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.providers import JudgeReply, ProviderError
from support.judge_server import JudgeServer, Weather, judge_server
from support.providers import GOOD, Asking, opened, request, set_credentials
from support.wires import GEMINI, MESSAGES, RESPONSES


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        running.answer = lambda asked: asked.wire.answer(GOOD)
        yield running


class Of:
    """One provider in front of the server."""

    def __init__(
        self, server: JudgeServer, patch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        self._server, self._patch, self._folder = server, patch, folder

    def opened(self, name: str) -> None:
        set_credentials(name, self._patch, self._server, self._folder)
        with opened(name, self._server):
            pass

    def reply(self, name: str, weather: Weather) -> JudgeReply:
        set_credentials(name, self._patch, self._server, self._folder)
        self._server.script = [weather]
        with opened(name, self._server) as provider:
            return provider.complete(request())

    def judge(self, name: str, weather: Weather) -> Asking:
        set_credentials(name, self._patch, self._server, self._folder)
        self._server.script = [weather]
        with opened(name, self._server) as provider:
            ask = Asking(provider)
            ask()
            return ask


@pytest.fixture
def of(server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Of:
    return Of(server, monkeypatch, tmp_path)


def changed(weather: Weather, **changes: Any) -> Weather:
    return Weather(body={**weather.body, **changes})


# -- Google ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["google", "google-vertex"])
def test_a_blocked_prompt_is_a_content_filter(of: Of, name: str) -> None:
    body = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 20, "totalTokenCount": 20},
        "modelVersion": "judge-2026-01-01",
    }
    reply = of.reply(name, Weather(body=body))
    assert reply.finish_reason == "content-filter"
    assert reply.usage.input_tokens == 20


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content-filter"),
        ("RECITATION", "content-filter"),
        ("PROHIBITED_CONTENT", "content-filter"),
        ("MALFORMED_FUNCTION_CALL", "other"),
        ("A_REASON_OF_NEXT_YEAR", "other"),
    ],
)
@pytest.mark.filterwarnings("ignore:A_REASON_OF_NEXT_YEAR is not a valid")
def test_googles_reasons_to_stop_are_told_apart(
    of: Of, reason: str, finish: str
) -> None:
    weather = GEMINI.answer(GOOD)
    body = json.loads(json.dumps(weather.body))
    body["candidates"][0]["finishReason"] = reason
    assert of.reply("google", Weather(body=body)).finish_reason == finish


def test_googles_thoughts_are_no_answer_but_are_paid_for(of: Of) -> None:
    body = json.loads(json.dumps(GEMINI.answer(GOOD).body))
    parts = body["candidates"][0]["content"]["parts"]
    parts.insert(0, {"text": "Let me see …", "thought": True})
    body["usageMetadata"]["thoughtsTokenCount"] = 70
    reply = of.reply("google", Weather(body=body))
    assert reply.text == GOOD and reply.usage.output_tokens == 100


# -- OpenAI's responses ----------------------------------------------------------------


def test_a_response_that_failed_is_a_fault_of_the_server(of: Of) -> None:
    weather = changed(
        RESPONSES.answer(GOOD),
        status="failed",
        error={"code": "server_error", "message": "The model broke down."},
        output=[],
    )
    with pytest.raises(ProviderError) as caught:
        of.reply("openai-responses", weather)
    assert caught.value.kind == "server" and "broke down" in caught.value.message


@pytest.mark.parametrize("status", ["in_progress", "cancelled", "of next year"])
def test_a_response_that_is_not_over_is_no_verdict_by_itself(
    of: Of, status: str
) -> None:
    reply = of.reply("openai-responses", changed(RESPONSES.answer(GOOD), status=status))
    assert reply.finish_reason == "other"


# -- Anthropic -------------------------------------------------------------------------


def test_a_model_that_answers_beside_its_tool_is_read_by_its_words(of: Of) -> None:
    weather = changed(
        MESSAGES.answer(GOOD),
        content=[{"type": "text", "text": GOOD}],
        stop_reason="end_turn",
    )
    assert of.reply("anthropic", weather).text == GOOD


def test_words_beside_the_tool_change_nothing(of: Of) -> None:
    body = json.loads(json.dumps(MESSAGES.answer(GOOD).body))
    body["content"].insert(0, {"type": "text", "text": "I shall record it: fail!"})
    reply = of.reply("anthropic", Weather(body=body))
    assert json.loads(reply.text) == json.loads(GOOD)


def test_a_tool_that_is_cut_off_is_asked_for_with_more_room(
    of: Of, server: JudgeServer
) -> None:
    body = json.loads(json.dumps(MESSAGES.answer(GOOD).body))
    body["content"][0]["input"] = {"critique": "The answer"}
    body["stop_reason"] = "max_tokens"
    of.judge("anthropic", Weather(body=body))
    assert [asked.limit for asked in server.asked] == [100, 400]


def test_what_anthropic_keeps_of_a_prompt_is_part_of_the_input(of: Of) -> None:
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 150,
        "cache_creation_input_tokens": 45,
        "output_tokens": 30,
    }
    reply = of.reply("anthropic", changed(MESSAGES.answer(GOOD), usage=usage))
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (200, 150)


# -- SDKs that get plain data ----------------------------------------------------------

PLAIN = ["openai", "openai-responses", "anthropic"]


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("raw", [b"", b"{no", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_body_that_is_no_json_is_told_without_a_word_of_it(
    of: Of, name: str, raw: bytes
) -> None:
    with pytest.raises(ProviderError, match="sent something else than JSON$") as caught:
        of.reply(name, Weather(raw=raw))
    assert caught.value.kind == "bad-reply"


@pytest.mark.parametrize("name", [*PLAIN, "openai-http"])
def test_a_proxy_that_nobody_can_use_is_refused_before_anything_is_asked(
    of: Of, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("http_proxy", "bogus://me:hush@127.0.0.1:9")
    with pytest.raises(ProviderError) as caught:
        of.opened(name)
    assert caught.value.kind == "bad-request" and "hush" not in caught.value.message
