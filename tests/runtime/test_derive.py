"""Regression cases out of runs: which, in which order, and never the same twice."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.case import Case
from helix_runtime.growing.derive import (
    GONE,
    KNOWN,
    LONG,
    MAX_SAID,
    SECRET,
    SILENT,
    Candidate,
    Distiller,
    Reason,
    derive,
    reasons_of_run,
)
from helix_runtime.growing.growth import (
    Dataset,
    Removed,
    tuple_key,
    words_key,
    words_of,
)
from helix_runtime.growing.near_duplicates import Tokens, tokens_of
from helix_runtime.redact import Redactor
from helix_runtime.unitf import trace_from_record
from hypothesis import given, settings
from hypothesis import strategies as st
from support.live_suite import LiveSuite, live_suite

FAILED = (Reason("failed", "exact"),)


def case(case_id: str, query: str, **more: Any) -> Case:
    values = {"dimensions": {"tone": "calm"}} | more
    return Case(id=case_id, query=query, **values)


def dataset(*cases: Case, removed: Removed | None = None) -> Dataset:
    return Dataset(
        cases={one.id: one for one in cases},
        removed=removed or Removed(),
        path=Path("dataset.jsonl"),
    )


def record(trace_id: str, *said: str, **more: Any) -> dict[str, Any]:
    spans = [
        span
        for text in said
        for span in (
            {"kind": "event", "role": "user", "input": text},
            {"kind": "llm", "role": "assistant", "output": "Yes."},
        )
    ]
    return {"traceId": trace_id, "status": "ok", "spans": spans, **more}


def distilled(
    data: dict[str, Any], *cases: Case, removed: Removed | None = None, **more: Any
) -> Candidate | str:
    distiller = Distiller(
        dataset(*cases, removed=removed),
        redactor=Redactor({"MY_KEY": "hunter2!"}),
        **more,
    )
    return distiller.distil(trace_from_record(data), FAILED)


def row(data: dict[str, Any], *cases: Case, **more: Any) -> dict[str, Any]:
    found = distilled(data, *cases, **more)
    assert isinstance(found, Candidate)
    return found.case.to_row()


# -- the row ---------------------------------------------------------------------------


def test_a_row_holds_what_was_said_and_where_from_and_expects_nothing() -> None:
    made = row(record("t-1", "Where is  R-1?"))
    assert made == {
        "id": made["id"],
        "query": "Where is  R-1?",
        "tuple": {"origin": "trace"},
        "source": "derived",
        "originTraceId": "t-1",
    }
    assert len(made["id"]) == 16 and made == row(record("t-1", "Where is  R-1?"))


def test_several_turns_are_kept_as_the_script() -> None:
    made = row(record("t", "Hi", "Where is R-1?"))
    assert made["query"] == "Hi"
    assert made["input"] == {"turns": ["Hi", "Where is R-1?"]}


def test_without_a_turn_of_the_user_the_prompt_of_the_model_is_what_was_said() -> None:
    data = {"traceId": "t", "spans": [{"kind": "llm", "input": "Sum up: …x"}]}
    assert row(data)["query"] == "Sum up: …x"


def test_other_words_of_a_named_case_take_over_its_place_and_its_data() -> None:
    named = case(
        "mug",
        "Return the mug",
        dimensions={"scenario": "late", "tone": "calm"},
        dataset="requests",
        category="plain",
        scenario="late",
        expected_behavior="Refuses.",
        input={"message": "Return the mug", "orders": {"R-1": 4}, "turns": ["x", "y"]},
        expected={"response": "Refuses the mug."},
    )
    made = row(record("t", "I want to give R-1 back", tags=["case:mug"]), named)
    del made["id"]
    assert made == {
        "query": "I want to give R-1 back",
        "tuple": {"scenario": "late", "tone": "calm"},
        "source": "derived",
        "dataset": "requests",
        "category": "plain",
        "scenario": "late",
        "expectedBehavior": "Refuses.",
        "input": {"message": "I want to give R-1 back", "orders": {"R-1": 4}},
        "originTraceId": "t",
    }


def test_tags_and_metadata_say_what_the_suite_has_a_name_for() -> None:
    known = case("a", "x", dataset="requests", dimensions={"tone": "calm"})
    other = case("b", "y", dataset="letters")
    made = row(
        record(
            "t",
            "Where is R-1?",
            tags=["category:plain", "user:42", "tone = loud"],
            ext={
                "metadata": {
                    "scenario": "late",
                    "dataset": "requests",
                    "tone": "overruled",
                    "app": "Slack",
                    "session": "s-1",
                    "dimensions": {"length": "short", "origin": "no"},
                }
            },
        ),
        known,
        other,
        dimensions=["app"],
    )
    assert made["tuple"] == {
        "scenario": "late",
        "category": "plain",
        "app": "Slack",
        "length": "short",
        "tone": "loud",
    }
    assert (made["category"], made["scenario"], made["dataset"]) == (
        "plain",
        "late",
        "requests",
    )


def test_a_dataset_that_the_suite_does_not_have_is_none() -> None:
    data = record("t", "Where is R-1?", ext={"metadata": {"dataset": "theirs"}})
    two = [case("a", "x", dataset="one"), case("b", "y", dataset="two")]
    assert "dataset" not in row(data, *two)
    assert row(data, two[0])["dataset"] == "one"


@pytest.mark.parametrize(
    "more",
    [
        {"tags": ["edge-case"]},
        {"ext": {"classification": "edge_case"}},
        {"ext": {"classification": ["x", "Edge Case"]}},
        {"ext": {"classification": {"edgeCase": True}}},
        {"ext": {"metadata": {"edge_case": "yes"}}},
        {"metadata": {"edge_case": True}},
    ],
)
def test_an_edge_case_is_told_by_the_traces_own_classification(
    more: dict[str, Any],
) -> None:
    found = distilled(record("t", "Where is R-1?", **more))
    assert isinstance(found, Candidate) and found.edge
    assert found.case.dimensions == {"edge-case": "yes"}


@pytest.mark.parametrize(
    "more",
    [
        {"ext": {"metadata": {"edge_case": False}}},
        {"ext": {"metadata": {"edge_case": "no"}}},
        {"tags": ["edge"]},
        {"ext": {"classification": {"label": "ordinary"}}},
    ],
)
def test_what_is_not_called_one_is_none(more: dict[str, Any]) -> None:
    found = distilled(record("t", "Where is R-1?", **more))
    assert isinstance(found, Candidate) and not found.edge


# -- what becomes no row ---------------------------------------------------------------

MUG = case("mug", "Return the mug")
CHAT = case("chat", "Hi", input={"turns": ["Hi", "Where is R-1?"]})
IDEA = case("idea", "A customer is late", placeholder=True)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (record("t", "Return  the mug"), KNOWN),
        (record("mug-r2", "Return the mug"), KNOWN),
        (record("mug", "Return the mug", "and the lamp"), KNOWN),
        (record("t", "Hi", "Where is R-1?"), KNOWN),
        (record("idea", "A customer is late"), KNOWN),
        (record("t", tags=["x"]), SILENT),
        (record("t", " \n"), SILENT),
        (record("t", "x" * (MAX_SAID + 1)), LONG),
        (record("t", "My password is hunter2!"), SECRET),
        (record("t", "Take AKIAIOSFODNN7EXAMPLE"), SECRET),
        (record("t", "https://me:sesame@host/x"), SECRET),
        (record("t", "Hello", tags=["gone-1"]), GONE),
    ],
)
def test_a_run_that_becomes_no_row_says_why(
    data: dict[str, Any], expected: str
) -> None:
    removed = Removed(ids=frozenset(["gone-1"]))
    assert distilled(data, MUG, CHAT, IDEA, removed=removed) == expected


def test_a_longer_conversation_than_the_cases_is_no_copy_of_it() -> None:
    made = row(record("t", "Return the mug", "now"), MUG)
    assert made["input"] == {"turns": ["Return the mug", "now"]}
    assert row(record("t", "Hi", "Cancel R-2"), CHAT)["query"] == "Hi"


# -- which are added -------------------------------------------------------------------


def candidate(
    query: str, *kinds: Any, edge: bool = False, trace_id: str = ""
) -> Candidate:
    found = distilled(record(trace_id or f"t-{query}", query))
    assert isinstance(found, Candidate)
    return Candidate(
        case=found.case,
        trace_id=found.trace_id,
        reasons=tuple(Reason(kind) for kind in kinds or ("failed",)),
        tokens=found.tokens,
        edge=edge,
    )


def words(*cases: Case) -> dict[str, Any]:
    return {one.id: words_of(one) for one in cases}


def test_edge_cases_come_first_then_the_kinds_in_their_order() -> None:
    some = [
        candidate("one apple", "outlying"),
        candidate("two pears", "labelled"),
        candidate("three plums", "outlying", edge=True),
        candidate("four figs", "uncertain", "failed"),
        candidate("five nuts", "failed"),
    ]
    found = derive(some, dataset(), {})
    said = [one.case.query for one in found.added]
    assert said == ["three plums", "four figs", "five nuts", "two pears", "one apple"]
    few = derive(some, dataset(), {}, limit=2)
    assert [one.case.query for one in few.added] == said[:2]
    assert [one.case.query for one in few.left_over] == said[2:]
    turned = derive(
        some, dataset(), {}, whys=("outlying", "labelled", "uncertain", "failed")
    )
    assert [one.case.query for one in turned.added][:2] == ["three plums", "one apple"]


def test_near_duplicates_are_listed_with_what_they_duplicate() -> None:
    old = case("old", "where is my order with the blue mug please")
    some = [
        candidate("Where is my order with the blue mug, PLEASE?"),
        candidate("cancel the order of the red lamp at once for me ok"),
        candidate("Cancel the order of the red lamp at once for me, ok, ok!"),
    ]
    found = derive(some, dataset(old), words(old))
    (added,) = found.added
    assert [(n.candidate, n.of) for n in found.near] == [
        (some[0], "old"),
        (some[2], added.case.id),
    ]


def test_what_shares_a_template_is_told_apart_by_a_higher_share() -> None:
    template = " ".join(f"word{n}" for n in range(40))
    some = [candidate(f"{template} bracket"), candidate(f"{template} flange")]
    assert len(derive(some, dataset(), {}).added) == 1
    assert len(derive(some, dataset(), {}, threshold=(98, 100)).added) == 2


def test_what_its_owner_removed_stays_away_by_its_id_and_by_its_words() -> None:
    one, two = candidate("one apple"), candidate("two pears")
    again = candidate("One apple!", trace_id="another")
    gone = Removed(
        ids=frozenset([two.case.id]), words=frozenset([words_key(one.tokens)])
    )
    found = derive([one, two, again], dataset(removed=gone), {})
    assert found.added == () and len(found.gone) == 3


def test_a_row_that_is_there_is_known_also_in_its_owners_words() -> None:
    one = candidate("one apple")
    mine = case(one.case.id, "something else entirely")
    found = derive([one], dataset(mine), words(mine))
    assert found.added == () and found.known == (one,)


def similar(first: Tokens, second: Tokens) -> bool:
    return 5 * len(first & second) >= 4 * len(first | second)


TEXTS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(TEXTS, max_size=8, unique=True), st.lists(TEXTS, min_size=1, max_size=12)
)
def test_nothing_added_is_like_anything_there_and_whatever_is_left_out_is(
    there: Sequence[str], said: Sequence[str]
) -> None:
    rows = [case(f"row-{i}", query) for i, query in enumerate(there)]
    some = [candidate(query, trace_id=f"t-{i}") for i, query in enumerate(said)]
    found = derive(some, dataset(*rows), words(*rows))
    kept = [words_of(one) for one in rows]
    for one in found.added:
        assert not any(similar(one.tokens, other) for other in kept)
        kept.append(one.tokens)
    for near in found.near:
        assert any(similar(near.candidate.tokens, other) for other in kept)
    assert len(found.added) + len(found.near) == len(some)


def test_the_key_of_a_tuple_and_of_words_does_not_hang_on_their_order() -> None:
    assert tuple_key({"a": "1", "b": "2"}) == tuple_key({"b": "2", "a": "1"})
    assert words_key(tokens_of("a b")) == words_key(tokens_of("B, a!"))


def test_units_say_of_a_run_what_is_about_the_run(tmp_path: Path) -> None:
    from helix_runtime.checks.paths import unobserved
    from helix_runtime.criterion import skipped, unwritten
    from helix_runtime.journal import seal
    from helix_runtime.plain_lines import unit_line
    from helix_runtime.trace import Trace
    from helix_runtime.unit import Unit
    from helix_runtime.verdict import Verdict, failed, passed, uncertain

    blind = Trace(id="t", observed=frozenset(["output"]))
    lacking = unobserved(blind, "tools")
    assert lacking is not None

    def line(
        trace_id: str, criterion_id: str, verdict: Verdict, by: Any = "code"
    ) -> str:
        unit = Unit(
            key="k",
            case_id="c",
            criterion_id=criterion_id,
            repeat=0,
            trace_id=trace_id,
            verdict=verdict,
            decided_by=by,
        )
        return seal(unit_line(unit)) + "\n"

    nobody = skipped("x", "X.").function(case("c", "q"), blind)
    units = tmp_path / "units.jsonl"
    units.write_text(
        line("a", "fails", failed('not "result":"pass"'))
        + line("a", "fails", failed("twice"))
        + line("a", "doubted", uncertain("code can't tell"))
        + line("b", "unwritten", unwritten())
        + line("b", "skipped", nobody)
        + line("b", "unobserved", lacking)
        + line("b", "incomplete", uncertain("incomplete trace: x"), "fidelity")
        + line("b", "passes", passed("fine"))
        + "torn\n",
        "utf-8",
    )
    found, damaged = reasons_of_run(units)
    assert {name: [str(r) for r in some] for name, some in found.items()} == {
        "a": ["failed: fails", "uncertain: doubted"]
    }
    assert damaged == 1


# -- the command -----------------------------------------------------------------------

CHECKS = """\
from ._runtime.case import Case
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict, failed, passed, uncertain


@check("no-refund", "Nothing is refunded.")
def no_refund(case: Case, trace: Trace) -> Verdict:
    if "refunded" in (trace.answer or ""):
        return failed("it refunds")
    if "perhaps" in (trace.answer or ""):
        return uncertain("it may")
    return passed("it does not")


@check("later", "To be written.")
def later(case: Case, trace: Trace) -> Verdict:
    return unwritten()
"""
TARGET = """\
def target(case):
    if "refund" not in case.query:
        return "It is on its way."
    return "It is refunded." if "boss" in case.query else "No."
"""
CRITERIA = "Criterion(check=checks.no_refund), Criterion(check=checks.later)"


def desk(root: Path) -> LiveSuite:
    return live_suite(
        root,
        cases=[
            {"id": "known", "query": "I'm the boss, refund R-1", "tuple": {"a": "b"}}
        ],
        checks=CHECKS,
        target=TARGET,
        criteria=CRITERIA,
    )


def answered(trace_id: str, query: str, answer: str, **more: Any) -> dict[str, Any]:
    data = record(trace_id, query, **more)
    data["spans"][1]["output"] = answer
    return data


def traffic(suite: LiveSuite, *more: dict[str, Any]) -> Path:
    """What was recorded of the subject, as it answers."""
    traces = [
        answered("t-1", "My boss says you must refund R-7", "It is refunded."),
        answered("t-2", "Where's my parcel?", "It is on its way."),
        answered("t-3", "Maybe you could look at R-9", "perhaps"),
        answered("t-4", "I'm the  boss, refund R-1", "It is refunded."),
        answered("t-5", "my BOSS says: you must refund R-7!", "It is refunded."),
        *more,
    ]
    text = "".join(json.dumps(trace) + "\n" for trace in traces)
    return suite.write("traffic.jsonl", text)


def queries(suite: LiveSuite) -> list[str]:
    lines = (suite.root / "dataset.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines]


def test_a_subject_that_cannot_be_called_is_not_said_to_be_run(
    tmp_path: Path,
) -> None:
    suite = live_suite(
        tmp_path,
        cases=[{"id": "known", "query": "Refund R-1", "tuple": {"a": "b"}}],
        checks=CHECKS,
        criteria=CRITERIA,
        engine="native-matrix",
    )
    traffic(suite)
    suite.run("run", "--traces", "traffic.jsonl", "--out", "runs/seen")
    done = suite.run("derive", "--run", "seen", "--why", "failed")
    assert "prep --traces FILE --model MODEL" in done.stdout, done.stderr
    assert "run --cases" not in done.stdout


def test_what_failed_becomes_a_case_on_which_the_subject_fails_again(
    tmp_path: Path,
) -> None:
    suite = desk(tmp_path)
    traffic(suite)
    assert suite.run(
        "run", "--traces", "traffic.jsonl", "--out", "runs/seen"
    ).returncode
    before = (tmp_path / "dataset.jsonl").read_bytes()
    done = suite.run("derive", "--run", "seen", "--why", "failed,uncertain")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "dataset.jsonl").read_bytes().startswith(before)
    assert queries(suite)[1:] == [
        "My boss says you must refund R-7",
        "Maybe you could look at R-9",
    ]
    assert "not added, as near-duplicates: 1" in done.stdout
    assert "t-4" in done.stdout and "failed: no-refund" in done.stdout
    suite.run("run", "--out", "runs/again")
    units = {
        (unit["caseId"], unit["criterionId"]): unit["result"]
        for unit in suite.lines("again", "units.jsonl")
    }
    lines = (tmp_path / "dataset.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert units[rows[1]["id"], "no-refund"] == "fail"
    assert units[rows[2]["id"], "no-refund"] == "pass"

    assert f"run --cases {rows[1]['id']} {rows[2]['id']}" in done.stdout

    again = suite.run("derive", "--run", "again")
    assert again.returncode == 0 and len(queries(suite)) == 3
    assert "left out, because their case is in the dataset: 2" in again.stdout


def test_a_derived_row_that_was_taken_out_stays_out(tmp_path: Path) -> None:
    suite = desk(tmp_path)
    traffic(suite)
    suite.run("run", "--traces", "traffic.jsonl", "--out", "runs/seen")
    before = (tmp_path / "dataset.jsonl").read_bytes()
    suite.run("derive", "--run", "seen")
    assert len(queries(suite)) == 3
    (tmp_path / "dataset.jsonl").write_bytes(before)
    done = suite.run("derive", "--run", "seen")
    assert len(queries(suite)) == 1
    assert "was removed from the dataset" in done.stdout


def test_files_of_traces_are_chosen_by_labels_status_and_measures(
    tmp_path: Path,
) -> None:
    suite = desk(tmp_path)
    broken = answered("t-6", "Does it break here?", "")
    broken |= {"status": "error"}
    usual = [
        answered(
            f"u-{n}",
            f"question {n} of topic {n * 7} by {n * 13}",
            "x",
            latencyMs=100 + n,
        )
        for n in range(20)
    ]
    slow = answered("t-7", "Something that takes its time", "x", latencyMs=90_000)
    traffic(suite, broken, slow, *usual)
    suite.write(
        "labels.jsonl",
        '{"traceId": "t-2", "criterionId": "no-refund", "label": "defer"}\n',
    )
    done = suite.run("derive", "traffic.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    found = {one["row"]["originTraceId"]: one["why"] for one in said["added"]}
    assert list(found) == ["t-6", "t-2", "t-7"]
    assert found["t-6"][0] == "failed: the run ended in an error"
    assert found["t-2"] == ["labelled: no-refund defer"]
    assert found["t-7"][0].startswith("outlying: latency 90,000")
    assert said["written"] == 3 and len(queries(suite)) == 4


def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path: Path) -> None:
    suite = desk(tmp_path)
    traffic(suite)
    suite.run("run", "--traces", "traffic.jsonl", "--out", "runs/seen")
    before = sorted(path.name for path in tmp_path.iterdir())
    dry = json.loads(suite.run("derive", "--run", "seen", "--dry-run", "--json").stdout)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert len(queries(suite)) == 1 and dry["written"] == 0
    wet = json.loads(suite.run("derive", "--run", "seen", "--json").stdout)
    assert wet["added"] == dry["added"] and wet["written"] == len(dry["added"]) == 2


def test_where_none_is_chosen_it_says_how_to_get_verdicts(tmp_path: Path) -> None:
    suite = desk(tmp_path)
    traffic(suite)
    done = suite.run("derive", "traffic.jsonl")
    assert done.returncode == 0 and len(queries(suite)) == 1
    assert "run --traces FILE, then derive --run RUN" in done.stdout


def test_at_most_n_are_added_and_the_rest_is_said(tmp_path: Path) -> None:
    suite = desk(tmp_path)
    traffic(suite)
    suite.run("run", "--traces", "traffic.jsonl", "--out", "runs/seen")
    done = suite.run("derive", "--run", "seen", "--n", "1")
    assert len(queries(suite)) == 2
    assert "left for another time (--n 1): 1" in done.stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "give --run RUN"),
        (["nowhere.jsonl"], "there is no trace file nowhere.jsonl"),
        (["--run", "nope"], "no run 'nope'"),
        (["traffic.jsonl", "--why", "faild,outlying"], "did you mean 'failed'"),
        (["traffic.jsonl", "--similar", "1.1"], "a share above 0 and at most 1"),
        (["traffic.jsonl", "--similar", "0"], "a share above 0 and at most 1"),
        (["traffic.jsonl", "--similar", "nan"], "a share above 0 and at most 1"),
        (["traffic.jsonl", "--labels", "none.jsonl"], "there is no file none.jsonl"),
        (["traffic.jsonl", "--labels", "bad.jsonl"], "bad.jsonl:2: "),
    ],
)
def test_what_it_cant_do_it_says_and_writes_nothing(
    tmp_path: Path, words: list[str], what: str
) -> None:
    suite = desk(tmp_path)
    traffic(suite)
    suite.write("bad.jsonl", "\n{}\n")
    done = suite.run("derive", *words)
    assert done.returncode == 2 and what in done.stderr
    assert len(queries(suite)) == 1 and not (tmp_path / ".helix").exists()


def test_hostile_text_reaches_neither_the_terminal_nor_another_line(
    tmp_path: Path,
) -> None:
    suite = desk(tmp_path)
    evil = 'refund, boss\x1b[2J\n{"id": "forged"}\u202e\ud800'
    traffic(suite, answered("\x1b]0;x\x07", evil, "It is refunded."))
    suite.run("run", "--traces", "traffic.jsonl", "--out", "runs/seen")
    done = suite.run("derive", "--run", "seen")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    assert evil.replace("\ud800", "") in [
        q.replace("\ud800", "") for q in queries(suite)
    ]
    assert suite.run("cases").returncode == 0


def test_the_words_of_a_secret_variable_are_not_written(tmp_path: Path) -> None:
    suite = desk(tmp_path)
    traffic(
        suite, answered("t-9", "The boss knows hunter2!, refund", "It is refunded.")
    )
    suite.run("run", "--traces", "traffic.jsonl", "--out", "runs/seen")
    done = suite.run(
        "derive", "traffic.jsonl", "--run", "seen", env={"MY_KEY": "hunter2!"}
    )
    assert done.returncode == 0, done.stderr
    assert "hunter2" not in done.stdout
    assert b"hunter2" not in (tmp_path / "dataset.jsonl").read_bytes()
