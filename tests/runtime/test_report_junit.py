"""JUnit XML: well formed whatever strangers write, and red exactly where the gate is."""

import json
import tracemalloc
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.criterion import mean, rate
from helix_runtime.report.junit import write_junit
from helix_runtime.verdict import Ref, failed, passed
from hypothesis import given, settings
from hypothesis import strategies as st
from support.decisions import Said, criterion, results, suite, write_run
from support.nasty_texts import NASTY


def junit(folder: Path, asked: Any, units: Any) -> ET.Element:
    card = write_run(folder, asked, units)
    path = folder / "out" / "junit.xml"
    write_junit(path, folder / "units.jsonl", card)
    assert not list(path.parent.glob("*.part"))
    return ET.parse(path).getroot()


def outcomes(root: ET.Element, classname: str) -> dict[str, str]:
    return {
        str(case.get("name")): case[0].tag if len(case) else "passed"
        for case in root.iter("testcase")
        if case.get("classname") == classname
    }


def is_red(root: ET.Element) -> bool:
    return bool(int(root.attrib["failures"]) + int(root.attrib["errors"]))


def test_units_of_a_failing_criterion_are_failures_and_errors(tmp_path: Path) -> None:
    root = junit(tmp_path, suite(criterion()), results("pfuenm"))
    assert outcomes(root, "names-shelf") == {
        "books-0": "passed",
        "books-1": "failure",
        "books-2": "error",
        "books-3": "error",
        "books-4": "skipped",
        "1 unit without a verdict": "skipped",
    }
    assert outcomes(root, "gate") == {"subject": "failure", "dataset:books": "failure"}
    failure = root.find(".//testcase[@name='books-1']/failure")
    assert failure is not None and failure.text is not None
    assert failure.get("type") == "fail"
    assert failure.get("message") == "It names another shelf."
    assert "answer output: shelf 9" in failure.text


def test_what_advises_or_is_tolerated_is_neither_red_nor_a_pass(
    tmp_path: Path,
) -> None:
    asked = suite(
        criterion(passes=rate(">= 0.5")), criterion("is-kind", severity="LOW")
    )
    units = [*results("pppfu"), *results("pfum", criterion="is-kind")]
    root = junit(tmp_path, asked, units)
    assert not is_red(root)
    skipped = {
        case.attrib["name"]: case[0].attrib["message"]
        for case in root.iter("testcase")
        if len(case)
    }
    assert skipped == {
        "books-3": "fail, but rate >= 0.5 holds: It names another shelf.",
        "books-4": "uncertain, but rate >= 0.5 holds: Which book is meant?",
        "books-1": "fail, but LOW only advises: It names another shelf.",
        "books-2": "uncertain, but LOW only advises: Which book is meant?",
        "1 unit without a verdict": "1 unit without a verdict",
    }


def test_a_mean_that_is_missed_is_red_although_every_unit_passes(
    tmp_path: Path,
) -> None:
    units = [Said("names-shelf", "a", passed("close", value=0.5))]
    root = junit(tmp_path, suite(criterion(passes=mean("> 0.9"))), units)
    assert outcomes(root, "names-shelf") == {"a": "passed"}
    assert outcomes(root, "gate")["subject"] == "failure"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["CRIT", "MED"]),
            st.sampled_from([">= 1", ">= 0.5"]),
            st.text("pfunem", max_size=6),
        ),
        max_size=3,
    )
)
def test_it_is_red_exactly_where_the_gate_is_not_a_pass(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("junit")
    asked = suite(
        *[
            criterion(f"c-{n}", severity=severity, passes=rate(condition))
            for n, (severity, condition, _) in enumerate(rows)
        ]
    )
    units = [
        said
        for n, (_, _, text) in enumerate(rows)
        for said in results(text, criterion=f"c-{n}", dataset=f"d-{n % 2}")
    ]
    root = junit(folder, asked, units)
    card = json.loads((folder / "scorecard.json").read_text("utf-8"))
    assert is_red(root) == (card["gate"]["verdict"] != "pass")
    for element in (root, *root.iter("testsuite")):
        cases = list(element.iter("testcase"))
        tags = [case[0].tag for case in cases if len(case)]
        assert element.attrib["tests"] == str(len(cases))
        assert element.attrib["failures"] == str(tags.count("failure"))
        assert element.attrib["errors"] == str(tags.count("error"))
        assert element.attrib["skipped"] == str(tags.count("skipped"))


@pytest.mark.parametrize("text", [*NASTY, "]]>", "\ufffe\uffff", "&amp;<!--"])
def test_no_text_breaks_the_file(tmp_path: Path, text: str) -> None:
    name = text or "empty"
    said = failed(f"bad {text}", Ref(text, text, text))
    root = junit(tmp_path, suite(criterion(name)), [Said(name, name, said)])
    (case,) = [c for c in root.iter("testcase") if c.get("classname") != "gate"]
    message = case[0].get("message")
    assert message is not None and message.startswith("bad ")
    assert message.isprintable()


def test_long_texts_are_cut(tmp_path: Path) -> None:
    said = failed("x" * 10**6, Ref("o", "p", "y" * 10**6))
    junit(tmp_path, suite(criterion()), [Said("names-shelf", "a", said)])
    assert (tmp_path / "out" / "junit.xml").stat().st_size < 50_000


def test_repeats_have_names_of_their_own(tmp_path: Path) -> None:
    units = [
        Said("names-shelf", "a", passed("good"), repeat=repeat) for repeat in range(2)
    ]
    root = junit(tmp_path, suite(criterion()), units)
    assert list(outcomes(root, "names-shelf")) == ["a", "a (repeat 2)"]


def test_a_damaged_journal_is_an_error_not_a_gap(tmp_path: Path) -> None:
    card = write_run(tmp_path, suite(criterion()), results("pp"))
    units = tmp_path / "units.jsonl"
    units.write_bytes(units.read_bytes() + b'{"torn')
    write_junit(tmp_path / "junit.xml", units, card)
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert outcomes(root, "journal") == {"readable": "error"}


def test_memory_does_not_grow_with_the_units(tmp_path: Path) -> None:
    def peak(units: int) -> int:
        folder = tmp_path / str(units)
        card = write_run(folder, suite(criterion()), results("p" * units))
        tracemalloc.start()
        try:
            write_junit(folder / "junit.xml", folder / "units.jsonl", card)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(4_000) < peak(400) + 20_000
