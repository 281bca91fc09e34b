"""The scorecard: the contract's keys in their order, and a digest no machine changes."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.criterion import rate
from helix_runtime.pin import Pin
from helix_runtime.record import replace
from helix_runtime.report.words import usage_line
from helix_runtime.scorecard import (
    EXIT_CODE,
    UsageTally,
    build_scorecard,
    dump_scorecard,
    masked_digest,
    read_scorecard,
    write_scorecard,
)
from helix_runtime.trace import Trace
from helix_runtime.unit import JudgeUsage
from helix_runtime.verdict import Assumption, Ref, Verdict, could_not_judge, failed
from hypothesis import given, settings
from hypothesis import strategies as st
from support.decisions import (
    NO_JUDGE,
    PIN,
    RUN,
    Said,
    criterion,
    decide,
    repeated,
    results,
    scorecard,
    suite,
    unit_of,
)

ASKED = suite(
    criterion(),
    criterion("is-kind", judged=True, source="derived", severity="MED"),
)
UNITS = [*results("pf"), *results("pm", criterion="is-kind")]


def card(**changes: Any) -> dict[str, Any]:
    return scorecard(ASKED, decide(ASKED, UNITS), **changes)


def test_the_keys_stand_in_the_order_of_the_contract() -> None:
    found = card(pin=PIN)
    assert list(found) == [
        "schema",
        "subject",
        "suite",
        "run",
        "pin",
        "gate",
        "criteria",
        "variance",
        "usage",
        "handoff",
        "calibration",
        "digest",
    ]
    assert found["schema"] == "helix-scorecard/1"
    assert list(found["subject"]) == ["id", "name", "version", "spec_sha256"]
    assert list(found["suite"]) == ["generator", "sha256"]
    assert list(found["run"]) == ["id", "mode", "started", "target", "repeats"]
    assert list(found["pin"]) == ["provider", "model", "temperature"]
    assert list(found["gate"]) == ["verdict", "components"]
    assert list(found["gate"]["components"][0]) == ["id", "verdict", "because"]
    assert list(found["usage"]) == ["subject", "judge", "verifier"]
    for entry in found["criteria"]:
        assert list(entry) == [
            "criterionId",
            "class",
            "severity",
            "source",
            "verdict",
            "threshold",
            "counts",
            "rate",
            "interval",
            "bounds",
            "critique",
            "refs",
            "assumptions",
            "blockedBy",
            "sourceTraceIds",
            "validation",
        ]
        assert list(entry["counts"]) == [
            "pass",
            "fail",
            "uncertain",
            "na",
            "error",
            "missing",
        ]
        assert list(entry["validation"]) == [
            "status",
            "tpr",
            "tnr",
            "corrected",
            "interval",
        ]


def test_it_hands_failing_criteria_over_with_their_evidence() -> None:
    found = card()
    assert found["gate"]["verdict"] == "fail"
    (entry,) = found["handoff"]
    assert entry["criterionId"] == "names-shelf"
    assert entry["failingCases"] == [
        {
            "caseId": "books-1",
            "query": "Where is it?",
            "traceId": "books-1-r0",
            "repeat": 0,
            "critique": "It names another shelf.",
            "refs": [{"obs": "answer", "path": "output", "value": "shelf 9"}],
        }
    ]


def test_it_lists_indeterminate_criteria_with_what_blocks_them() -> None:
    (entry,) = card()["calibration"]
    assert entry["criterionId"] == "is-kind"
    assert entry["blockedBy"] == {"kind": "scope", "text": NO_JUDGE}
    assert [case["result"] for case in entry["openCases"]] == ["missing"]


def test_a_judge_without_labels_is_unvalidated_and_code_needs_none() -> None:
    statuses = [c["validation"]["status"] for c in card()["criteria"]]
    assert statuses == ["not-applicable", "unvalidated"]


def test_no_judge_is_no_pin_and_a_model_default_is_said_to_differ() -> None:
    assert card()["pin"] is None
    assert "notes" not in card(pin=PIN)["run"]
    unpinned = card(pin=replace(PIN, temperature=None))
    assert unpinned["pin"]["temperature"] is None
    assert any("differ" in note for note in unpinned["run"]["notes"])


def test_each_verdict_of_the_gate_has_its_exit_code() -> None:
    assert EXIT_CODE == {"pass": 0, "fail": 1, "incomplete": 3}


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [n for item in value.values() for n in numbers(item)]
    if isinstance(value, list):
        return [n for item in value for n in numbers(item)]
    return [value] if isinstance(value, float) else []


def test_no_number_has_more_than_six_decimals() -> None:
    asked = suite(criterion(passes=rate(">= 0.1")))
    found = scorecard(asked, decide(asked, repeated("ppf", "pff", "ppp"), repeats=3))
    assert numbers(found)
    assert all(round(n, 6) == n for n in numbers(found))


@pytest.mark.parametrize(
    ("passes", "fails", "wanted"),
    [
        (3_000_000, 1, 0.999999),
        (1, 3_000_000, 0.000001),
        (3_000_000, 0, 1),
        (0, 3_000_000, 0),
        (1, 2, 0.333333),
    ],
)
def test_a_rate_is_1_or_0_only_where_no_unit_says_otherwise(
    passes: int, fails: int, wanted: float
) -> None:
    asked = suite(criterion())
    decision = decide(asked, results("p"))
    share = passes / (passes + fails)
    (one,) = decision.criteria
    decision = replace(
        decision, criteria=(replace(one, rate=share, bounds=(share, share)),)
    )
    (found,) = scorecard(asked, decision)["criteria"]
    assert (found["rate"], found["bounds"]) == (wanted, [wanted, wanted])


def test_variance_keeps_the_subject_and_the_judge_apart() -> None:
    asked = suite(criterion(passes=rate(">= 0.1")))
    decision = decide(asked, repeated("ppf", "ppp", "pp"), repeats=3)
    found = scorecard(asked, decision, run=replace(RUN, repeats=3))["variance"]
    assert found["verdict"] == "unstable"
    assert found["subject"] == {"stable": 1, "flapping": 1, "underSampled": 1}
    assert found["judge"] == {"stable": 0, "flapping": 0, "underSampled": 0}
    (entry,) = found["criteria"]
    assert entry["flapping"] == [{"caseId": "books-0", "passes": 2, "decided": 3}]


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [(("pp", "ff"), "stable"), (("pp", "p"), "under-sampled"), ((), "not-measured")],
)
def test_under_sampled_is_not_stable(cases: tuple[str, ...], verdict: str) -> None:
    asked = suite(criterion())
    decision = decide(asked, repeated(*cases), repeats=2)
    assert scorecard(asked, decision)["variance"]["verdict"] == verdict


# -- usage ----------------------------------------------------------------------


def test_usage_is_summed_by_role_and_unknown_is_not_zero() -> None:
    usage = UsageTally()
    usage.add_trace(Trace(id="a", tokens={"input": 10, "output": 5}, cost_usd=0.1))
    usage.add_trace(Trace(id="b", cost_usd=0.2))
    found = card(usage=usage)["usage"]
    assert found["subject"] == {
        "calls": 2,
        "inputTokens": 10,
        "outputTokens": 5,
        "costUsd": 0.3,
        "unknown": 1,
    }
    assert found["judge"]["inputTokens"] is None
    assert found["judge"]["costUsd"] is None


def test_a_cost_that_not_every_call_is_in_says_so() -> None:
    usage = UsageTally()
    unit = unit_of(results("p")[0], 0)
    priced = JudgeUsage(input_tokens=9, output_tokens=1, cost_usd=0.5, calls=1)
    unpriced = JudgeUsage(input_tokens=9, output_tokens=1, calls=2)
    for each in (priced, unpriced):
        usage.add_unit(replace(unit, usage=each))
    found = card(usage=usage)["usage"]
    assert found["judge"]["costUsd"] == 0.5
    assert found["judge"]["unpriced"] == 2
    assert usage_line(found) == "judge 18 tokens in, 2 out, at least $0.5000"
    usage.add_trace(Trace(id="a", tokens={"input": 10}, cost_usd=0.25))
    found = card(usage=usage)["usage"]
    assert "unpriced" not in found["subject"]
    assert usage_line(found).startswith(
        "subject at least 10 tokens in, 0 out, $0.2500; judge"
    )


@settings(deadline=None)
@given(st.lists(st.floats(0, 10), max_size=8), st.randoms())
def test_usage_does_not_depend_on_the_order(costs: list[float], shuffler: Any) -> None:
    def total() -> Any:
        usage = UsageTally()
        for cost in costs:
            unit = unit_of(results("p")[0], 0)
            usage.add_unit(replace(unit, usage=JudgeUsage(cost_usd=cost, calls=1)))
        return usage.to_record()

    before = total()
    shuffler.shuffle(costs)
    assert total() == before


# -- digest ---------------------------------------------------------------------


def test_the_digest_masks_the_run_its_start_and_absolute_paths() -> None:
    def of(run_id: str, started: str, folder: str) -> str:
        said = Said("names-shelf", "a", failed(f"no file {folder}books.json was read"))
        asked = suite(criterion())
        run = replace(RUN, id=run_id, started=started, target=f"command:{folder}desk x")
        digest = scorecard(asked, decide(asked, [said]), run=run)["digest"]
        assert isinstance(digest, str)
        return digest

    first = of("one", "2025-01-01T00:00:00Z", "/home/ann/suite/")
    for folder in (
        "/tmp/x/",
        "C:\\Users\\bob\\",
        "~/evals/",
        "\\\\server\\share\\",
        "file:///opt/desk/",
    ):
        assert of("two", "2026-02-03T04:05:06Z", folder) == first
    assert of("two", "2026-02-03T04:05:06Z", "") != first


@pytest.mark.parametrize(
    "said",
    [
        "No such file or directory: {file!r}",
        'desk: can\'t open "{file}" for reading',
        "it is no folder: {folder!r}",
    ],
)
def test_the_digest_masks_folders_with_blanks_in_their_names(said: str) -> None:
    def of(folder: str) -> Any:
        separator = "\\" if "\\" in folder else "/"
        text = said.format(
            file=f"{folder}desk{separator}books.json", folder=f"{folder}desk"
        )
        unit = Said("names-shelf", "a", could_not_judge(text))
        asked = suite(criterion())
        return scorecard(asked, decide(asked, [unit]))["digest"]

    folders = (
        "/",
        "/home/ann/",
        "/Users/Ann Lee/My Suites/",
        "C:\\",
        "D:\\Users\\Ann Lee\\",
        "\\\\server\\the share\\",
    )
    assert len(set(map(of, folders))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "see https://desk.example/a/b",
        "shelves/9/emma",
        "and/or",
        "9/10/11",
        "says 'it lends/sells' and 'he sells/lends'",
    ],
)
def test_the_digest_sees_what_only_looks_like_a_path(text: str) -> None:
    asked = suite(criterion())

    def of(critique: str) -> Any:
        said = Said("names-shelf", "a", failed(critique))
        return scorecard(asked, decide(asked, [said]))["digest"]

    assert of(text) != of(text.replace("/", "/other/", 1))


def test_the_digest_changes_with_a_verdict_and_with_the_pin() -> None:
    asked = suite(criterion())
    digests = {
        scorecard(asked, decide(asked, results(units)), pin=pin)["digest"]
        for units in ("pp", "pf")
        for pin in (None, PIN, Pin(provider="openai", model="judge-2-2025-01-01"))
    }
    assert len(digests) == 6


def test_the_digest_is_that_of_the_scorecard_as_it_was_written(tmp_path: Path) -> None:
    found = card()
    path = tmp_path / "scorecard.json"
    write_scorecard(path, found)
    assert masked_digest(read_scorecard(path)) == found["digest"]


# -- on disk --------------------------------------------------------------------


def test_the_file_is_utf8_with_line_feeds_whatever_strangers_say(
    tmp_path: Path,
) -> None:
    nasty = 'a\r\nb\u2028c\ud800d\x00e"\\</script>日本'
    verdict = Verdict(
        result="fail",
        critique=nasty,
        refs=(Ref(nasty, nasty, nasty),),
        assumptions=(Assumption(nasty, "unverified"),),
    )
    asked = suite(criterion())
    found = scorecard(asked, decide(asked, [Said("names-shelf", nasty, verdict)]))
    path = tmp_path / "scorecard.json"
    write_scorecard(path, found)
    data = path.read_bytes()
    assert b"\r" not in data and data.endswith(b"}\n")
    again = json.loads(data.decode("utf-8"))
    assert again["criteria"][0]["critique"] == nasty
    assert dump_scorecard(found).encode() == data
    assert [p.name for p in tmp_path.iterdir()] == ["scorecard.json"]


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "other"}', "[" * 10_000])
def test_what_is_no_scorecard_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scorecard.json"
    path.write_text(text)
    with pytest.raises(ValueError):
        read_scorecard(path)


def test_a_suite_without_criteria_still_has_a_scorecard() -> None:
    empty = suite()
    found = build_scorecard(
        suite=empty,
        suite_sha256="1" * 64,
        decision=decide(empty, []),
        run=RUN,
        pin=None,
        usage=UsageTally(),
    )
    assert found["gate"]["verdict"] == "incomplete"
    assert found["criteria"] == []
