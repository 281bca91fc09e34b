"""Examples out of labelled runs: which are chosen, and the Python that they become."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

from helix_runtime.criterion import Example
from helix_runtime.judges.examples import (
    MAX_EXAMPLES,
    MAX_EXCERPT,
    judge_faults,
    text_of,
)
from helix_runtime.labels.example_source import (
    Said,
    choose,
    example_of,
    literal,
    said_of,
    source_of,
)
from helix_runtime.labels.file import Label
from helix_runtime.labels.labelled import LabelledRun
from helix_runtime.record import replace
from hypothesis import given
from hypothesis import strategies as st
from support.nasty_texts import NASTY
from support.runs import case, judged, trace


def label(trace_id: str, word: Any, note: str | None = None, who: str = "") -> Label:
    return Label(
        trace_id=trace_id,
        criterion_id="cites-order",
        label=word,
        note=note,
        annotator=who or None,
    )


def read_back(source: str) -> list[Example]:
    scope: dict[str, Any] = {"Example": Example}
    found: list[Example] = eval(f"dict(\n{source})", scope)["examples"]
    return found


# -- what people said ------------------------------------------------------------------


def test_labels_become_kinds_and_notes_become_critiques() -> None:
    found = said_of(
        [
            label("a", "pass", "names 4711"),
            label("b", "fail", "names\nno order"),
            label("c", "underdetermined", "which order?"),
            label("d", "pass", "close enough", "ada"),
            label("d", "fail", "not the number", "bob"),
            label("e", "defer"),
            label("f", "pass"),
        ],
        "cites-order",
    )
    assert [(one.trace_id, one.kind, one.critique) for one in found] == [
        ("a", "pass", "names 4711"),
        ("b", "fail", "names no order"),
        ("c", "borderline", "which order?"),
        ("d", "borderline", "pass: close enough fail: not the number"),
        ("f", "pass", ""),
    ]
    assert said_of([label("a", "pass")], "another") == []


# -- which are chosen ------------------------------------------------------------------

SAID = st.lists(
    st.builds(
        lambda name, kind, critique: Said(trace_id=name, kind=kind, critique=critique),
        st.text(min_size=1, max_size=4),
        st.sampled_from(["pass", "fail", "borderline"]),
        st.sampled_from(["", "a reason"]),
    ),
    max_size=30,
    unique_by=lambda one: one.trace_id,
)


@given(said=SAID, seed=st.text())
def test_some_of_each_kind_are_chosen_whatever_their_order(
    said: list[Said], seed: str
) -> None:
    chosen = choose(said, seed=seed)
    assert len(chosen) == min(len(said), MAX_EXAMPLES)
    assert {one.kind for one in chosen} == {one.kind for one in said}
    assert choose(list(reversed(said)), seed=seed) == chosen
    for kind in ("pass", "fail", "borderline"):
        of_kind = [one for one in said if one.kind == kind]
        if any(one.critique for one in of_kind):
            assert any(one.critique for one in chosen if one.kind == kind)


# -- the Python ------------------------------------------------------------------------

TEXTS = st.text() | st.sampled_from(NASTY)


@given(text=TEXTS)
def test_a_literal_is_its_text_on_one_printable_line(text: str) -> None:
    spelled = literal(text)
    assert ast.literal_eval(spelled) == text
    assert spelled.isprintable()
    spelled.encode("utf-8")


@given(
    texts=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=3),
)
def test_what_is_printed_reads_back_as_the_examples(
    texts: list[tuple[str, str, str]],
) -> None:
    examples = [
        Example(
            label="pass",
            excerpt=excerpt or "x",
            critique=critique,
            result="pass",
            trace_id=name,
        )
        for excerpt, critique, name in texts
    ]
    assert read_back(source_of(examples)) == examples


def test_what_is_printed_is_as_black_would_have_it(tmp_path: Path) -> None:
    long = "An answer that says at length why the order is late. " * 5
    examples = [
        Example(
            label="fail",
            excerpt=f'user: Where\'s "4711"?\nassistant: {long}\ntrajectory[0]: {{}}',
            critique=critique,
            result="fail",
            case_id="case-1",
            trace_id="case-1-r0",
        )
        for critique in ("It is late.", long, 'It says "soon".', "two\nlines\n")
    ]
    file = tmp_path / "judges.py"
    file.write_text(
        "from x import Example, Judge\n\n"
        'kind = Judge(\n    "kind",\n    "Kind.",\n    "It is.",\n    "It is not.",\n'
        f"{source_of(examples)})\n",
        "utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "black", "--check", "--diff", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def run(answer: str | None = None) -> LabelledRun:
    return LabelledRun(case=case(), trace=trace(answer=answer), file=Path("t.jsonl"))


def test_an_excerpt_shows_what_its_judge_is_shown() -> None:
    said = Said(trace_id="case-1-r0", kind="pass", critique="It names 4711.")
    whole = example_of(said, run(), judged())
    assert "user: Where is 4711?" in whole.excerpt
    assert "assistant: Order 4711 was sent on Monday." in whole.excerpt
    assert 'trajectory[0]: {"name":"orders.find"' in whole.excerpt
    answer = example_of(said, run(), judged(inputs=["output"]))
    assert answer.excerpt == "answer: Order 4711 was sent on Monday."
    assert (whole.case_id, whole.trace_id, whole.result) == (
        "case-1",
        "case-1-r0",
        "pass",
    )


def test_an_excerpt_of_a_long_run_is_cut_and_says_so() -> None:
    said = Said(trace_id="t", kind="borderline", critique="?")
    made = example_of(said, run("very " * 50_000), judged())
    assert len(made.excerpt) < MAX_EXCERPT + 100 and "characters cut" in made.excerpt
    assert made.result == "uncertain"
    assert len(text_of(case(), trace(answer="very " * 50_000))) > 250_000


def test_examples_of_each_kind_keep_the_rules_of_a_judge() -> None:
    examples = [
        example_of(
            Said(trace_id=kind, kind=kind, critique="Because."), run(kind), judged()
        )
        for kind in ("pass", "fail", "borderline")
    ]
    judge = judged().judge
    assert judge is not None
    assert judge_faults(replace(judge, examples=examples)) == []
