"""The second judge: asked about what gates, and able only to take away."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helix_runtime.criterion import Criterion
from helix_runtime.judges.judge import ModelJudge
from helix_runtime.judges.verification import Agreement
from helix_runtime.judges.verifier import VerifiedJudge
from helix_runtime.pin import Pin
from helix_runtime.providers import Provider, ProviderOptions, open_provider
from helix_runtime.record import replace
from helix_runtime.unit import Judgement, Unit, unit_from_record, unit_to_record
from support.judge_server import JudgeServer, judge_server
from support.providers import REF
from support.runs import SUBJECT, case, judged, trace
from support.wires import CHAT, Asked, Weather, verdict_text


class Two:
    """Two models on one server: `first` and `second` are what they answer."""

    def __init__(self, server: JudgeServer, provider: Provider) -> None:
        self.server = server
        self.first = self.second = "fail"
        self.second_refs = [REF]
        self.asked_second: list[Asked] = []
        server.answer = self._answer
        self._one, self._other = (
            ModelJudge(
                provider=provider,
                pin=Pin(provider="openai-http", model=model),
                subject=SUBJECT,
            )
            for model in ("judge-1", "judge-2")
        )

    def __call__(
        self, *, passes: bool = False, criterion: Criterion | None = None
    ) -> Judgement:
        judge = VerifiedJudge(self._one, self._other, SUBJECT, passes=passes)
        found = judge.judge(criterion or judged(), case(), trace(), 0)
        assert found is not None
        return found

    def _answer(self, asked: Asked) -> Weather:
        model = str(asked.body["model"])
        if model == "judge-2":
            self.asked_second.append(asked)
            if self.second == "error":
                return CHAT.answer("nothing to read")
            text = verdict_text(
                self.second, critique="I say so.", refs=self.second_refs
            )
            return CHAT.answer(text, model=model)
        return CHAT.answer(verdict_text(self.first, refs=[REF]), model=model)


@pytest.fixture
def two() -> Iterator[Two]:
    with judge_server() as server:
        options = ProviderOptions(base_url=server.base_url)
        provider = open_provider("openai-http", options)
        yield Two(server, provider)
        provider.close()


def said(judgement: Judgement) -> str:
    assert judgement.verification is not None
    return judgement.verification.result


def test_a_fail_that_both_see_stands(two: Two) -> None:
    judgement = two()
    assert judgement.verdict.result == "fail" and said(judgement) == "upheld"
    assert judgement.verification is not None
    assert judgement.verification.usage is not None
    assert judgement.verification.model == "judge-2"


def test_a_refuted_fail_becomes_uncertain_and_never_a_pass(two: Two) -> None:
    two.second = "pass"
    judgement = two()
    assert judgement.verdict.result == "uncertain" and said(judgement) == "refuted"
    assert judgement.verdict.blocked_by is not None
    assert "judge-2 refutes this fail: I say so." in judgement.verdict.blocked_by.text


@pytest.mark.parametrize("second", ["uncertain", "error"])
def test_a_second_judge_that_can_not_say_takes_nothing_away(
    two: Two, second: str
) -> None:
    two.second = second
    judgement = two()
    assert judgement.verdict.result == "fail"
    assert said(judgement) == ("error" if second == "error" else "abstained")


def test_a_refutation_without_evidence_refutes_nothing(two: Two) -> None:
    two.second = "pass"
    two.second_refs = [{"obs": "output", "path": "", "value": "nowhere to be found"}]
    judgement = two()
    assert judgement.verdict.result == "fail" and said(judgement) == "abstained"


def test_passes_are_refuted_on_request_only(two: Two) -> None:
    two.first, two.second = "pass", "fail"
    assert two().verdict.result == "pass" and two.asked_second == []
    assert two(passes=True).verdict.result == "uncertain"


@pytest.mark.parametrize("first", ["uncertain", "pass"])
def test_what_is_no_fail_is_not_put_before_it(two: Two, first: str) -> None:
    two.first = first
    assert two().verification is None and two.asked_second == []


def test_what_only_advises_is_not_put_before_it(two: Two) -> None:
    assert two(criterion=replace(judged(), severity="MED")).verification is None


def test_the_first_verdict_reaches_it_as_data_that_is_to_be_refuted(two: Two) -> None:
    two()
    sent = two.asked_second[0].user
    assert "Try to refute it" in sent and "<<<BEGIN first verdict" in sent
    assert "Order 4711" in sent and "Help desk" in two.asked_second[0].system


def test_a_unit_keeps_what_the_second_judge_said(two: Two) -> None:
    judgement = two()
    unit = Unit(
        key="k",
        case_id="c",
        criterion_id="x",
        repeat=0,
        trace_id="t",
        verdict=judgement.verdict,
        decided_by="judge",
        verification=judgement.verification,
    )
    assert unit_from_record(unit_to_record(unit)) == unit


def test_the_agreement_is_counted_in_one_sentence(two: Two) -> None:
    agreement = Agreement()
    assert agreement.line() is None
    for second in ("fail", "fail", "pass", "uncertain"):
        two.second = second
        verification = two().verification
        assert verification is not None
        agreement.add(verification)
    line = agreement.line()
    assert line is not None
    assert "judge-2: asked about 4 verdicts" in line and "(2 of 3 agree)" in line
    page = Path(__file__).resolve().parents[2] / "docs" / "scorecard.md"
    assert line in page.read_text("utf-8").split("\n"), "as the page shows it"
