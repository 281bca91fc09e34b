"""What people say, what a judge says to that, and the file that keeps what came of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.labels.file import WORDS, Label, Word, summarize
from helix_runtime.pin import Pin
from helix_runtime.record import replace
from helix_runtime.refusal import Refusal
from helix_runtime.report.html import write_report
from helix_runtime.report.terminal import render_dashboard
from helix_runtime.report.words import reservations
from helix_runtime.scorecard import masked_digest
from helix_runtime.trust.correction import Outcome
from helix_runtime.trust.known import Trust, best, read_held, who_judged, with_trust
from helix_runtime.trust.validation import (
    MIN_CASES,
    Measurement,
    Measuring,
    compare,
    people_of,
)
from helix_runtime.trust.validation_file import (
    FILE_NAME,
    Validated,
    ValidationFile,
    WhoJudges,
    read_validation,
    write_validation,
)
from hypothesis import given
from hypothesis import strategies as st
from support.decisions import PIN, criterion, decide, results, scorecard, suite

# -- people ----------------------------------------------------------------------------


def said(*words: tuple[str, Word]) -> list[Label]:
    return [
        Label(trace_id="t", criterion_id="c", label=word, annotator=who, note=who)
        for who, word in words
    ]


@pytest.mark.parametrize(
    ("words", "truth"),
    [
        ([("ada", "pass")], "pass"),
        ([("ada", "pass"), ("bob", "pass")], "pass"),
        ([("ada", "fail"), ("bob", "defer")], "fail"),
        ([("ada", "underdetermined")], "underdetermined"),
        ([("ada", "pass"), ("bob", "fail")], "disputed"),
        ([("ada", "pass"), ("bob", "underdetermined")], "disputed"),
        ([("ada", "pass"), ("bob", "fail"), ("eve", "pass")], "disputed"),
        ([("ada", "defer"), ("bob", "defer")], "deferred"),
        # Who thinks better of it has said the later word.
        ([("ada", "pass"), ("ada", "fail")], "fail"),
    ],
)
def test_people_must_agree_and_no_majority_outvotes_one(
    words: list[tuple[str, Word]], truth: str
) -> None:
    people = people_of(summarize(said(*words)).current)
    subject = ("t", "c")
    found = people.truths.get(subject)
    if found is None:
        found = "disputed" if subject in people.disputed else "deferred"  # type: ignore[assignment]
        assert subject in (*people.disputed, *people.deferred)
    assert found == truth


@given(
    st.lists(
        st.tuples(st.sampled_from(["ada", "bob", "eve"]), st.sampled_from(WORDS)),
        min_size=1,
        max_size=8,
    )
)
def test_every_labelled_run_is_true_disputed_or_deferred_and_only_one(
    words: list[tuple[str, Word]],
) -> None:
    people = people_of(summarize(said(*words)).current)
    places = [("t", "c") in those for those in (people.truths, people.disputed)]
    assert sum([*places, ("t", "c") in people.deferred]) == 1


# -- verdicts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "result", "kind"),
    [
        ("pass", "pass", "true-pass"),
        ("pass", "fail", "false-fail"),
        ("pass", "uncertain", "over-abstain"),
        ("pass", "na", "over-abstain"),
        ("fail", "fail", "true-fail"),
        ("fail", "pass", "false-pass"),
        ("fail", "uncertain", "over-abstain"),
        ("underdetermined", "uncertain", "agreed-abstain"),
        ("underdetermined", "pass", "under-abstain"),
        ("underdetermined", "fail", "under-abstain"),
    ],
)
def test_a_verdict_against_a_label(truth: Any, result: str, kind: str) -> None:
    assert compare(truth, result) == kind


def measured(
    tp: int, fn: int, tn: int, fp: int, *, split: Any = "dev", **more: int
) -> Measurement:
    """A measurement in which each run is a case of its own."""
    kinds = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
    outcomes = {k: n for k, n in zip(kinds, (tp, fn, tn, fp), strict=True) if n}
    return Measurement(split=split, outcomes=outcomes, **more)


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ((20, 0, 20, 0), "validated"),
        ((91, 9, 91, 9), "validated"),
        ((90, 10, 100, 0), "usable"),  # 90 % is not above 90 %
        ((27, 3, 30, 0), "usable"),
        ((80, 20, 80, 20), "usable"),
        ((79, 21, 100, 0), "failed"),
        ((100, 0, 79, 21), "failed"),
        ((19, 0, 100, 0), "unvalidated"),
        ((100, 0, 19, 0), "unvalidated"),
        ((1, 18, 1, 18), "unvalidated"),
        ((100, 0, 0, 0), "unvalidated"),
        ((0, 0, 0, 0), "unvalidated"),
    ],
)
def test_the_status_follows_from_the_counts(
    counts: tuple[int, int, int, int], status: str
) -> None:
    assert measured(*counts).status == status


def test_abstentions_change_no_rate_and_no_status() -> None:
    plain, open_ones = measured(19, 1, 18, 2), measured(19, 1, 18, 2, over=50, under=9)
    assert (plain.tpr, plain.tnr, plain.status) == (
        open_ones.tpr,
        open_ones.tnr,
        open_ones.status,
    )


def test_many_runs_of_few_cases_are_few_labels() -> None:
    measuring = Measuring()
    for number in range(400):
        measuring.add(f"case-{number % 4}", "true-pass")
        measuring.add(f"case-{number % 4}", "true-fail")
    found = measuring.measured("dev")
    assert found.confusion == (400, 0, 400, 0)
    assert found.good_cases == found.bad_cases == 4 < MIN_CASES
    assert found.status == "unvalidated"


# -- the file ----------------------------------------------------------------------------

WHO = WhoJudges(
    judge="j", prompt="p", pin={"provider": "openai", "model": "m", "temperature": 0}
)
COUNTS = st.integers(0, 40)
# With lone surrogates, which an id may hold.
ANY_TEXT = st.text(st.characters(codec=None))
MEASURED = st.builds(
    Measurement,
    split=st.sampled_from(["dev", "test"]),
    outcomes=st.dictionaries(
        st.tuples(*[st.integers(0, 5)] * 4).filter(any), st.integers(1, 50), max_size=6
    ).map(lambda found: dict(sorted(found.items()))),
    agreed=COUNTS,
    over=COUNTS,
    under=COUNTS,
)


def entry(measurement: Measurement, name: str = "kind", **who: Any) -> Validated:
    return Validated(
        criterion_id=name, who=replace(WHO, **who), measurement=measurement
    )


@given(st.lists(st.tuples(ANY_TEXT, MEASURED, ANY_TEXT), max_size=5))
def test_what_is_kept_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    found: list[tuple[str, Measurement, str]],
) -> None:
    held = ValidationFile().having(
        entry(measurement, name, judge=judge) for name, measurement, judge in found
    )
    path = tmp_path_factory.mktemp("held") / FILE_NAME
    write_validation(path, held)
    again = read_validation(path)
    assert len(again.entries) == len(held.entries)
    for one, other in zip(again.entries, held.entries, strict=True):
        assert one.measurement == other.measurement and one.who == other.who
    write_validation(path, again)
    assert read_validation(path) == again


def test_a_judge_measured_again_takes_its_own_place_and_no_other() -> None:
    held = ValidationFile()
    first, other = measured(1, 0, 1, 0), measured(2, 0, 2, 0)
    for found in (
        entry(first),
        entry(first, judge="other"),
        entry(replace(first, split="test")),
        entry(other),
    ):
        held = held.having([found])
    assert len(held.entries) == 3
    assert [e.measurement for e in held.of("kind") if e.who == WHO][0] == other
    assert held.test_used == {"kind": 1}


def test_a_missing_file_holds_nothing(tmp_path: Path) -> None:
    assert read_validation(tmp_path / FILE_NAME) == ValidationFile()


def broken(change: Any) -> str:
    """The text of a file with one entry, after `change` was done to its data."""
    data: dict[str, Any] = {
        "schema": "helix-validation/1",
        "judges": [
            {
                "criterionId": "kind",
                "split": "dev",
                "judge": "j",
                "prompt": "p",
                "pin": dict(WHO.pin),
                "verifier": None,
                "verifies": [],
                "counts": {
                    "truePass": 1,
                    "falseFail": 0,
                    "trueFail": 0,
                    "falsePass": 0,
                    "agreedAbstain": 0,
                    "overAbstain": 0,
                    "underAbstain": 0,
                },
                "cases": {"1/0/0/0": 1},
            }
        ],
        "testUsed": {},
    }
    change(data["judges"][0] if change.__name__ != "whole" else data)
    return json.dumps(data)


def whole(data: dict[str, Any]) -> None:
    data["testUsed"] = {"kind": -1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: e.update(split="train"), "must be dev or test"),
        (lambda e: e.pop("judge"), "'judge' is missing"),
        (lambda e: e.update(judge=3), "must be a text"),
        (lambda e: e["counts"].update(truePass=9), "don't add up"),
        (lambda e: e["counts"].update(underAbstain=1.5), "whole numbers"),
        (lambda e: e["counts"].update(underAbstain=True), "whole numbers"),
        (lambda e: e.update(cases={"1/0/0": 1}), "must read 1/0/0/0"),
        (lambda e: e.update(cases={"1/0/0/-1": 1}), "must read 1/0/0/0"),
        (lambda e: e.update(cases={"1/0/0/²": 1}), "must read 1/0/0/0"),
        (lambda e: e.update(cases={"0/0/0/0": 1}), "counts nothing"),
        (lambda e: e.update(cases={"1/0/0/0": 10**9}), "up to 1000000"),
        (lambda e: e.update(cases=[1]), "judges[0]"),
        (lambda e: e["pin"].update(temperature=1), "0 or null"),
        (lambda e: e.update(verifier=[]), "a pin is an object"),
        (whole, "whole numbers"),
    ],
)
def test_a_file_that_was_edited_to_what_cannot_be_is_refused(
    tmp_path: Path, change: Any, said: str
) -> None:
    (tmp_path / FILE_NAME).write_text(broken(change), "utf-8")
    with pytest.raises(Refusal) as refused:
        read_held(tmp_path)
    (line,) = refused.value.lines
    assert said in line and FILE_NAME in line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"schema": "helix-validation/2"}',
        '{"schema": "helix-validation/1", "judges": {}, "testUsed": {}}',
        '{"schema": "helix-validation/1", "judges": [], "judges": [], "testUsed": {}}',
        "[" * 100_000,
        '{"schema": "helix-validation/1", "judges": [3], "testUsed": {}}',
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text, "utf-8")
    with pytest.raises(Refusal):
        read_held(tmp_path)


# -- whose figures a run shows -----------------------------------------------------------


def test_the_best_that_is_known_of_a_judge_is_taken() -> None:
    many, few = measured(25, 1, 25, 1), measured(5, 0, 5, 0)
    held = ValidationFile().having([entry(many)])
    held = held.having([entry(replace(few, split="test"))])
    assert best(held, "kind", WHO) == entry(many), "few labels of test say less"
    held = held.having([entry(replace(many, split="test"))])
    found = best(held, "kind", WHO)
    assert found is not None and found.measurement.split == "test"
    assert best(held, "kind", replace(WHO, prompt="q")) is None
    assert best(held, "polite", WHO) is None


def test_what_differs_between_two_judges_is_said() -> None:
    pin = {"provider": "openai", "model": "m", "temperature": None}
    assert WHO.differs(WHO) == []
    (said_of_it,) = WHO.differs(replace(WHO, pin=pin))
    assert "openai:m at the model's own temperature judges" in said_of_it
    changed = replace(WHO, judge="k", prompt="q", verifier=pin)
    assert len(WHO.differs(changed)) == 3
    (other_verdicts,) = WHO.differs(replace(WHO, verifies=("fail",)))
    assert "asked about other verdicts" in other_verdicts


RUN = {
    "pin": {"provider": "openai", "model": "m", "temperature": 0},
    "judges": {"prompt": "p", "verifies": [], "of": {"kind": "j"}},
}


def test_who_judged_a_run_stands_in_its_record() -> None:
    assert who_judged(RUN) == {"kind": WHO}
    assert who_judged({}) == who_judged({**RUN, "pin": None}) == {}
    # A run of an earlier runtime does not say which judge it was.
    assert who_judged({"pin": RUN["pin"]}) == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"judges": []},
        {"judges": {"prompt": "p"}},
        {"judges": {"prompt": "p", "verifies": [], "of": []}},
        {"judges": {"prompt": "p", "verifies": None, "of": {"kind": "j"}}},
        {"pin": {"provider": "openai"}},
        {"pin": "openai"},
        {"verifier": {"provider": "x", "model": 3, "temperature": 0}},
    ],
)
def test_a_record_that_was_edited_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="who judged can't be read"):
        who_judged({**RUN, **changes})


# -- on the scorecard ----------------------------------------------------------------------

ASKED = suite(criterion(), criterion("is-kind", judged=True))
KNOWN = {
    "status": "usable",
    "tpr": 0.92,
    "tnr": 0.88,
    "corrected": 0.85,
    "interval": [0.78, 0.91],
}


def card(pin: Pin | None = PIN, notes: tuple[str, ...] = ()) -> dict[str, Any]:
    units = [*results("pp"), *results("ppf", criterion="is-kind")]
    found = scorecard(ASKED, decide(ASKED, units), pin=pin)
    if notes:
        found["run"]["notes"] = list(notes)
    return found


def test_only_the_judges_block_the_notes_and_the_digest_change() -> None:
    before = card(notes=("narrowed: 1 of 2", "validation: of before"))
    trust = Trust(blocks={"is-kind": KNOWN}, notes=("validation: it is so",))
    after = with_trust(before, trust)
    blocks = [one["validation"] for one in after["criteria"]]
    assert blocks[0]["status"] == "not-applicable"
    assert blocks[1] == KNOWN and list(blocks[1]) == list(KNOWN)
    assert after["run"]["notes"] == ["narrowed: 1 of 2", "validation: it is so"]
    assert list(after["run"])[:5] == ["id", "mode", "started", "target", "repeats"]
    assert after["digest"] == masked_digest(after) != before["digest"]
    assert after["gate"] == before["gate"]
    assert list(after) == list(before)


def test_what_is_known_no_more_is_taken_back() -> None:
    plain = card()
    known = with_trust(
        plain, Trust(blocks={"is-kind": KNOWN}, notes=("validation: x",))
    )
    assert with_trust(known, Trust(blocks={}, notes=())) == plain


def test_the_dashboard_shows_what_is_known_at_any_width() -> None:
    known = with_trust(card(), Trust(blocks={"is-kind": KNOWN}, notes=()))
    for width in (60, 80, 140):
        shown = render_dashboard(known, width=width, color=False, run_folder=None)
        digest = known["digest"]  # stays whole at any width
        lines = [line for line in shown.splitlines() if digest not in line]
        assert max(map(len, lines)) <= width
        assert "JUDGES" in shown and "usable" in shown
        assert "TPR 92%" in shown and "TNR 88%" in shown
    assert "corrected 85% (78–91%)" in shown
    assert "unvalidated" not in shown


def test_the_dashboard_names_judges_of_which_nothing_is_known() -> None:
    shown = render_dashboard(card(), width=80, color=False, run_folder=None)
    assert "unvalidated against labels: is-kind" in shown and "JUDGES" not in shown
    nobody = render_dashboard(card(pin=None), width=80, color=False, run_folder=None)
    assert "unvalidated" not in nobody


@pytest.mark.parametrize(
    ("status", "is_said"),
    [("unvalidated", True), ("failed", True), ("usable", False), ("validated", False)],
)
def test_a_gate_that_passes_by_judges_that_no_labels_bear_out_says_so(
    tmp_path: Path, status: str, is_said: bool
) -> None:
    units = [*results("pp"), *results("pp", criterion="is-kind")]
    plain = scorecard(ASKED, decide(ASKED, units), pin=PIN)
    blocks = {"is-kind": {**KNOWN, "status": status}}
    found = with_trust(plain, Trust(blocks=blocks, notes=()))
    said = [f"it passes by judges that no labels bear out: is-kind ({status})"]
    assert found["gate"]["verdict"] == "pass"
    assert reservations(found) == (said if is_said else [])
    board = render_dashboard(found, width=100, color=False, run_folder=None)
    page = write_report(tmp_path, scorecard=found).read_text("utf-8")
    assert (said[0] in board) is (said[0] in page) is is_said
    # A gate that does not pass has nothing to be taken for proven.
    assert reservations(card()) == []


def test_the_page_shows_it_and_escapes_what_a_stranger_wrote(tmp_path: Path) -> None:
    hostile = {**KNOWN, "status": "<script>alert(1)</script>"}
    found = with_trust(card(), Trust(blocks={"is-kind": hostile}, notes=()))
    page = write_report(tmp_path, scorecard=found).read_text("utf-8")
    assert "TPR 92% · TNR 88% · corrected 85% (78–91%)" in page
    assert "<script>alert(1)" not in page


def test_a_measurement_of_no_case_is_no_measurement() -> None:
    empty: dict[Outcome, int] = {}
    found = Measurement(split="dev", outcomes=empty)
    assert (found.tpr, found.tnr, found.status) == (None, None, "unvalidated")
