"""Every kind of bad weather, through every provider's real SDK, over a real wire.

A row says what comes back first; behind it the server answers well. What is checked
is what a unit comes to: the verdict, or the error with its cause.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from helix_runtime.judges.judge import LARGER
from helix_runtime.judges.weather import MAX_TRIES
from helix_runtime.providers import Provider, ProviderError
from support.certificates import self_signed
from support.judge_server import JudgeServer, judge_server
from support.providers import (
    GOOD,
    KEY,
    WIRE_OF,
    Asking,
    opened,
    request,
    set_credentials,
)
from support.wires import Weather, Wire, verdict_text


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        running.answer = lambda asked: asked.wire.answer(GOOD)
        yield running


@pytest.fixture(params=list(WIRE_OF))
def name(
    request: pytest.FixtureRequest,
    server: JudgeServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> str:
    found: str = request.param
    set_credentials(found, monkeypatch, server, tmp_path)
    return found


@pytest.fixture
def provider(name: str, server: JudgeServer) -> Iterator[Provider]:
    with opened(name, server) as found:
        yield found


@pytest.fixture
def wire(name: str) -> Wire:
    return WIRE_OF[name]


@pytest.fixture
def ask(provider: Provider) -> Asking:
    return Asking(provider)


# -- good weather --------------------------------------------------------------------


def test_a_verdict_comes_back_pinned_and_with_its_tokens(
    server: JudgeServer, ask: Asking
) -> None:
    judgement = ask()
    assert judgement.verdict.result == "pass", judgement.verdict.critique
    assert judgement.model == "judge-2026-01-01"
    assert judgement.usage is not None
    assert (judgement.usage.input_tokens, judgement.usage.output_tokens) == (200, 30)
    asked = server.asked[0]
    assert "Help desk" in asked.system and "Order 4711" in asked.user
    assert asked.temperature == 0 and asked.limit == 100


def test_the_schema_on_the_wire_puts_the_critique_first(
    server: JudgeServer, provider: Provider, wire: Wire
) -> None:
    provider.complete(request())
    schema = wire.schema(server.asked[0].body)
    assert list(schema["properties"])[0] == "critique"
    assert schema["properties"]["result"]["enum"] == ["pass", "fail", "uncertain"]
    assert schema["additionalProperties"] is False


def test_the_models_own_sampling_leaves_temperature_out(
    server: JudgeServer, provider: Provider
) -> None:
    provider.complete(request(temperature=None))
    assert server.asked[0].temperature is None


def test_tokens_of_the_providers_cache_are_counted_apart(
    server: JudgeServer, provider: Provider, wire: Wire
) -> None:
    server.script = [wire.answer(GOOD, cached=150)]
    usage = provider.complete(request()).usage
    assert (usage.input_tokens, usage.cached_tokens) == (200, 150)


def test_another_model_in_the_reply_is_recorded_and_said(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.answer(GOOD, model="judge-2027-07-07")]
    judgement = ask()
    assert judgement.model == "judge-2027-07-07"
    assert any("judge-2027-07-07" in note for note in judgement.notes)


# -- what is tried again -------------------------------------------------------------

PASSING = ["rate-limit", "server", "overloaded", "reset", "torn", "gateway"]


def weather_of(wire: Wire, row: str) -> Weather:
    if row == "reset":
        return Weather(reset=True)
    if row == "torn":
        return Weather(body=wire.answer(GOOD).body, torn=True)
    if row == "gateway":
        page = b"<html>Bad gateway</html>"
        return Weather(status=502, raw=page, headers={"Content-Type": "text/html"})
    return wire.failure(row)


@pytest.mark.parametrize("row", PASSING)
def test_what_passes_is_tried_again_after_growing_waits(
    server: JudgeServer, ask: Asking, wire: Wire, row: str
) -> None:
    server.script = [weather_of(wire, row)] * 2
    judgement = ask()
    assert judgement.verdict.result == "pass", judgement.verdict.critique
    assert len(ask.waits) == 2 and ask.waits[0] < ask.waits[1]
    assert judgement.usage is not None and judgement.usage.calls == 3
    assert any(note.startswith("tried again") for note in judgement.notes)


@pytest.mark.parametrize("row", ["server", "overloaded", "reset", "torn"])
def test_the_tries_are_bounded_and_the_cause_is_said(
    server: JudgeServer, ask: Asking, wire: Wire, row: str
) -> None:
    server.answer = lambda asked: weather_of(asked.wire, row)
    judgement = ask()
    assert judgement.verdict.result == "error"
    assert len(server.asked) == MAX_TRIES
    assert ask.judge.fatal is None
    assert "127.0.0.1" in judgement.verdict.critique


def test_what_a_rate_limit_asks_to_wait_is_waited(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.failure("rate-limit", headers={"Retry-After": "9"})]
    assert ask().verdict.result == "pass"
    assert ask.waits == [9.0]


def test_a_rate_limit_is_waited_out_within_the_units_deadline(
    server: JudgeServer, provider: Provider
) -> None:
    server.answer = lambda asked: asked.wire.failure("rate-limit")
    ask = Asking(provider, deadline=100.0)
    judgement = ask()
    assert judgement.verdict.result == "error"
    assert "rate-limit" in judgement.verdict.critique
    assert len(server.asked) > MAX_TRIES and sum(ask.waits) < 100


def test_a_wait_beyond_the_deadline_ends_the_unit_at_once(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.failure("rate-limit", headers={"Retry-After": "86400"})]
    judgement = ask()
    assert judgement.verdict.result == "error" and ask.waits == []
    assert "given up" in judgement.verdict.critique


@pytest.mark.parametrize("row", [Weather(stall=True), Weather(drip=True)])
def test_a_stalled_answer_ends_at_the_deadline_of_its_try(
    server: JudgeServer, provider: Provider, row: Weather
) -> None:
    provider.complete(request())  # what the SDK loads on its first call
    server.script = [row]
    with pytest.raises(ProviderError) as caught:
        provider.complete(request(timeout=0.4))
    assert caught.value.kind == "timeout"
    assert provider.complete(request()).text


@pytest.mark.parametrize("row", [Weather(stall=True), Weather(drip=True)])
def test_a_stall_costs_its_unit_a_try_and_no_more(
    server: JudgeServer, provider: Provider, row: Weather
) -> None:
    provider.complete(request())
    ask = Asking(provider, timeout=0.4)
    server.script = [row]
    judgement = ask()
    assert judgement.verdict.result == "pass", judgement.verdict.critique
    assert "tried again: timeout" in judgement.notes
    assert judgement.usage is not None and judgement.usage.calls == 2


@pytest.mark.parametrize(
    "text", ["soon", "-1", "nan", "inf", "Wed, 21 Oct 2015 07:28:00 GMT", "0"]
)
def test_a_rate_limit_that_says_no_time_is_waited_out_as_without_one(
    server: JudgeServer, ask: Asking, wire: Wire, text: str
) -> None:
    server.script = [wire.failure("rate-limit", headers={"Retry-After": text})]
    assert ask().verdict.result == "pass"
    assert len(ask.waits) == 1 and 0.375 <= ask.waits[0] <= 0.625


# -- whom one speaks to ----------------------------------------------------------------


def test_a_certificate_that_nobody_vouches_for_ends_the_run_and_says_what_to_set(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = self_signed(tmp_path / "server.pem")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with judge_server(certificate) as secure, judge_server() as plain:
        # The token of a service account comes from elsewhere.
        set_credentials(name, monkeypatch, plain, tmp_path)
        with opened(name, secure) as provider:
            ask = Asking(provider)
            assert ask().verdict.result == "error"
            fatal = ask.judge.fatal
            assert fatal is not None and fatal.kind == "untrusted", fatal
            assert "SSL_CERT_FILE" in fatal.message and secure.asked == []
            assert ask.waits == [], "a certificate is no weather"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        secure.answer = lambda asked: asked.wire.answer(GOOD)
        with opened(name, secure) as provider:
            judgement = Asking(provider)()
            assert judgement.verdict.result == "pass", judgement.verdict.critique


# -- what is not tried again -----------------------------------------------------------


def test_a_used_up_account_is_not_asked_again(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.failure("quota")]
    first, second = ask(), ask(repeat=1)
    assert first.verdict.result == second.verdict.result == "error"
    assert "quota" in second.verdict.critique
    assert len(server.asked) == 1 and ask.judge.fatal is None


@pytest.mark.parametrize("row", ["credentials", "forbidden"])
def test_refused_credentials_end_the_run_and_are_not_shown(
    server: JudgeServer, ask: Asking, wire: Wire, row: str
) -> None:
    server.script = [wire.failure(row)]
    assert ask().verdict.result == "error"
    assert ask.judge.fatal is not None and ask.judge.fatal.kind == "credentials"
    assert "sk-" not in ask.judge.fatal.message
    assert ask().verdict.result == "error"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("row", "parameter", "setting"),
    [
        ("temperature", "temperature", 'sampling = "model-default"'),
        ("limit", "max", "[judge]"),
    ],
)
def test_a_refused_parameter_names_itself_and_its_setting(
    server: JudgeServer,
    ask: Asking,
    wire: Wire,
    row: str,
    parameter: str,
    setting: str,
) -> None:
    server.script = [wire.failure(row)]
    assert ask().verdict.result == "error"
    assert len(server.asked) == 1, "never silently asked again without it"
    fatal = ask.judge.fatal
    assert fatal is not None and fatal.kind == "parameter"
    assert f"parameter `{parameter}" in fatal.message and setting in fatal.message


def test_a_limit_that_only_the_larger_request_exceeds_costs_its_unit_alone(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.answer(GOOD[:20], finish="length"), wire.failure("limit")]
    assert ask().verdict.result == "error"
    assert ask.judge.fatal is None
    assert ask(repeat=1).verdict.result == "pass"


def test_a_model_that_is_not_there_ends_the_run(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.failure("no-model")]
    assert ask().verdict.result == "error"
    assert ask.judge.fatal is not None and ask.judge.fatal.kind == "no-model"


def test_a_prompt_that_is_too_long_costs_its_unit_alone(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.failure("too-long")]
    judgement = ask()
    assert judgement.verdict.result == "error"
    assert "bad-request" in judgement.verdict.critique
    assert ask.judge.fatal is None and len(server.asked) == 1


@pytest.mark.parametrize("finish", ["refusal", "filter"])
def test_a_refusal_is_an_error_and_not_asked_again(
    server: JudgeServer, ask: Asking, wire: Wire, finish: str
) -> None:
    server.script = [wire.answer("I can't.", finish=finish)]
    judgement = ask()
    assert judgement.verdict.result == "error"
    assert "refuse" in judgement.verdict.critique or (
        "filter" in judgement.verdict.critique
    )
    assert len(server.asked) == 1


def test_nobody_at_the_address_ends_the_run(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with judge_server() as gone:
        set_credentials(name, monkeypatch, gone, tmp_path)
    with opened(name, gone) as provider:
        ask = Asking(provider)
        assert ask().verdict.result == "error"
        assert ask.judge.fatal is not None and ask.judge.fatal.kind == "unreachable"
        assert len(ask.waits) == MAX_TRIES - 1


# -- answers ---------------------------------------------------------------------------


def test_a_cut_answer_is_asked_for_once_more_with_more_room(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.answer(GOOD[:20], finish="length")]
    assert ask().verdict.result == "pass"
    assert [asked.limit for asked in server.asked] == [100, 100 * LARGER]


def test_an_answer_that_is_cut_twice_is_an_error(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.answer(GOOD[:20], finish="length")] * 2
    judgement = ask()
    assert judgement.verdict.result == "error"
    assert "cut off" in judgement.verdict.critique and judgement.raw == GOOD[:20]


LATE = json.loads(GOOD)
LATE = {"result": LATE["result"], **LATE}
UNREADABLE = {
    "empty": "",
    "prose": "I think that it passes.",
    "malformed": GOOD[:-5],
    "two objects": GOOD + GOOD,
    "critique after the verdict": json.dumps(LATE),
    "no critique": verdict_text(critique=" "),
    "unknown criterion id": json.dumps({"criterionId": "x", **json.loads(GOOD)}),
    "confidence out of range": verdict_text(confidence=1.5),
    "confidence below zero": verdict_text(confidence=-0.1),
    "confidence missing": verdict_text().replace('"confidence"', '"sure"'),
    "confidence no number": verdict_text(confidence="high"),
    "result no result": verdict_text("maybe"),
}


@pytest.mark.parametrize("row", list(UNREADABLE))
def test_what_cannot_be_read_is_asked_for_once_more_and_then_an_error(
    server: JudgeServer, ask: Asking, wire: Wire, row: str
) -> None:
    bad = wire.answer(UNREADABLE[row])
    server.script = [bad]
    assert ask().verdict.result == "pass"
    assert "could not be read" in server.asked[1].user
    server.script = [bad, bad]
    judgement = ask(repeat=1)
    assert judgement.verdict.result == "error"
    assert "can't be read" in judgement.verdict.critique
    assert judgement.raw is not None and len(server.asked) == 4


def test_an_answer_in_a_code_fence_is_read(
    server: JudgeServer, ask: Asking, wire: Wire
) -> None:
    server.script = [wire.answer(f"```json\n{GOOD}\n```")]
    assert ask().verdict.result == "pass"
    assert len(server.asked) == 1


@pytest.mark.parametrize("raw", [b"not json", b"{}", b"null", b"[]", b"\xff\xfe"])
def test_a_reply_that_is_no_wire_format_is_an_error(
    server: JudgeServer, ask: Asking, raw: bytes
) -> None:
    server.script = [Weather(raw=raw)]
    judgement = ask()
    assert judgement.verdict.result == "error"
    assert "bad-reply" in judgement.verdict.critique


# -- secrets ---------------------------------------------------------------------------


def test_the_key_never_stands_in_an_error(
    server: JudgeServer, provider: Provider
) -> None:
    body = {"error": {"message": f"odd key {KEY}", "type": "x"}}
    server.script = [Weather(status=400, body=body)]
    with pytest.raises(ProviderError) as caught:
        provider.complete(request())
    assert KEY not in caught.value.message and "\n" not in caught.value.message
