"""Every small run decided anew by the definition alone, and every report held to it.

The model below is written from the method, in fractions, and tries out what open units
may still become; it shares no code with what decides.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from helix_runtime.criterion import Aggregate, every, mean, pass_k, rate
from helix_runtime.decide import CriterionDecision
from helix_runtime.report.html import write_report
from helix_runtime.report.junit import write_junit
from helix_runtime.report.terminal import render_dashboard
from helix_runtime.scorecard import EXIT_CODE, read_scorecard
from helix_runtime.suite import Suite
from helix_runtime.testing import Evals, _read
from helix_runtime.verdict import failed, passed
from support.decisions import (
    VERDICTS,
    Said,
    criterion,
    decide,
    repeated,
    results,
    suite,
    write_run,
)

Outcome = Literal["pass", "fail", "indeterminate"]
OPEN = "uem"


def meets(operator: str, limit: Fraction, number: Fraction) -> bool:
    if operator == ">=":
        return number >= limit
    if operator == ">":
        return number > limit
    return number <= limit if operator == "<=" else number < limit


def completions(text: str) -> Iterator[str]:
    """Yield what a run may become once every open unit is a pass or a fail."""
    for filled in product("pf", repeat=sum(map(text.count, OPEN))):
        rest = iter(filled)
        yield "".join(next(rest) if unit in OPEN else unit for unit in text)


def of_rate(text: str, operator: str, limit: Fraction) -> Outcome:
    """A criterion over its units, by the method: na units don't count."""

    def holds(whole: str) -> bool:
        decided = whole.count("p") + whole.count("f")
        return meets(operator, limit, Fraction(whole.count("p"), decided))

    if not (text.count("p") + text.count("f")):
        return "indeterminate"
    if not holds("".join(unit for unit in text if unit not in OPEN)):
        return "fail"
    return "pass" if all(map(holds, completions(text))) else "indeterminate"


def small(kinds: str, most: int) -> list[str]:
    return [
        "".join(units)
        for size in range(most + 1)
        for units in combinations_with_replacement(kinds, size)
    ]


def only(asked: Suite, units: list[Said], **options: Any) -> CriterionDecision:
    (found,) = decide(asked, units, **options).criteria
    return found


# -- a criterion over its units -----------------------------------------------------------


@pytest.mark.parametrize(
    ("aggregate", "operator", "limit"),
    [
        (every(), ">=", "1"),
        (rate(">= 0.5"), ">=", "0.5"),
        (rate("> 0.5"), ">", "0.5"),
        (rate(">= 0.666666"), ">=", "0.666666"),
        (rate("> 0.75"), ">", "0.75"),
        (rate(">= 0.2"), ">=", "0.2"),
        (rate("> 0"), ">", "0"),
    ],
)
def test_every_small_run_is_decided_as_the_method_says(
    aggregate: Aggregate, operator: str, limit: str
) -> None:
    asked = suite(criterion(passes=aggregate))
    for text in small("pfunem", 6):
        found = only(asked, results(text))
        assert found.verdict == of_rate(text, operator, Fraction(limit)), text
        whole = [w for w in completions(text) if "p" in w or "f" in w]
        if not whole:
            assert found.bounds is None
            continue
        shares = [Fraction(w.count("p"), w.count("p") + w.count("f")) for w in whole]
        assert found.bounds == (float(min(shares)), float(max(shares))), text


@pytest.mark.parametrize("units", range(1, 121))
def test_every_share_meets_the_limit_that_it_is(units: int) -> None:
    for passes in range(units + 1):
        text = "p" * passes + "f" * (units - passes)
        share = Fraction(passes, units)
        for percent in (50, 80, 90, 95, 99):
            limit = Fraction(percent, 100)
            close = abs(share - limit) * units < 2
            if not close:
                continue
            for operator in (">=", ">"):
                asked = suite(criterion(passes=rate(f"{operator} {float(limit)}")))
                wanted = "pass" if meets(operator, limit, share) else "fail"
                assert only(asked, results(text)).verdict == wanted, (text, operator)


# A unit of a mean: its result, and what it measured.
Measured = tuple[str, float | None]
MEASURED: list[Measured] = [
    ("p", None),
    ("p", 0.75),
    ("p", 0.0),
    ("f", None),
    ("f", 0.5),
    ("u", None),
    ("n", None),
]


def of_mean(units: Sequence[Measured], operator: str, limit: Fraction) -> Outcome:
    """A mean that must be high is one of shares: a fail is worth 0, a pass 1.

    Of another one nobody knows what was not measured.
    """
    shares = operator in (">=", ">")

    def worth(unit: Measured) -> Fraction | None:
        if unit[1] is not None:
            return Fraction(unit[1])
        return Fraction(unit[0] == "p") if shares else None

    def holds(values: list[Fraction]) -> bool:
        return meets(operator, limit, sum(values, Fraction()) / len(values))

    values = [worth(unit) for unit in units if unit[0] in "pf"]
    known = [value for value in values if value is not None]
    still_open = sum(unit[0] == "u" for unit in units)
    if not known:
        return "indeterminate"
    if not holds(known):
        return "fail"
    if not shares:
        whole = len(known) == len(values) and not still_open
        return "pass" if whole else "indeterminate"
    ends = product((Fraction(0), Fraction(1)), repeat=still_open)
    return "pass" if all(holds([*known, *end]) for end in ends) else "indeterminate"


@pytest.mark.parametrize(
    ("condition", "operator", "limit"),
    [
        (">= 0.5", ">=", "0.5"),
        ("> 0.5", ">", "0.5"),
        (">= 0.75", ">=", "0.75"),
        ("<= 0.5", "<=", "0.5"),
        ("< 0.5", "<", "0.5"),
        ("<= 2", "<=", "2"),
    ],
)
def test_every_small_mean_is_decided_as_the_method_says(
    condition: str, operator: str, limit: str
) -> None:
    asked = suite(criterion(passes=mean(condition)))
    for size in range(5):
        for units in combinations_with_replacement(MEASURED, size):
            said = []
            for number, (result, value) in enumerate(units):
                verdict = {
                    "p": passed("measured", value=value),
                    "f": failed("measured", value=value),
                    "u": VERDICTS["uncertain"],
                    "n": VERDICTS["na"],
                }[result]
                said.append(Said("names-shelf", f"case-{number}", verdict))
            wanted = of_mean(units, operator, Fraction(limit))
            assert only(asked, said).verdict == wanted, units


def of_pass_k(cases: Sequence[str], k: int) -> Outcome:
    """Any k finished repeats of a case all pass, over every case that counts."""

    def estimate(case: str) -> Fraction:
        subsets = list(combinations([unit for unit in case if unit in "pf"], k))
        return Fraction(sum(set(one) == {"p"} for one in subsets), len(subsets))

    counted = [case for case in cases if set(case) & set("pf" + OPEN)]
    finished = [c for c in counted if c.count("p") + c.count("f") >= k]
    if any(estimate(case) < 1 for case in finished):
        return "fail"
    # A fail among the repeats of a case: no k of them all pass, whatever is to come.
    if any("f" in case for case in counted):
        return "fail"
    if not counted or len(finished) < len(counted):
        return "indeterminate"
    could_fail = any(estimate(w) < 1 for c in counted for w in completions(c))
    return "indeterminate" if could_fail else "pass"


@pytest.mark.parametrize(("k", "repeats"), [(1, 1), (2, 2), (2, 3), (3, 3)])
def test_every_small_pass_k_is_decided_as_the_method_says(k: int, repeats: int) -> None:
    asked = suite(criterion(passes=pass_k(k)))
    texts = [t for t in small("pfun", repeats) if len(t) == repeats]
    for cases in combinations_with_replacement(texts, 2):
        found = only(asked, repeated(*cases), repeats=repeats)
        assert found.verdict == of_pass_k(cases, k), cases


@pytest.mark.parametrize("condition", [">= 0.5", ">= 1"])
def test_no_small_run_passes_while_a_case_contradicts_itself(condition: str) -> None:
    asked = suite(criterion(passes=rate(condition)))
    limit = Fraction(condition.split()[1])
    texts = [t for t in small("pfun", 3) if len(t) == 3]
    for cases in combinations_with_replacement(texts, 2):
        plain = of_rate("".join(cases), ">=", limit)
        flaps = any("p" in case and "f" in case for case in cases)
        wanted = "indeterminate" if plain == "pass" and flaps else plain
        found = only(asked, repeated(*cases), repeats=3)
        assert found.verdict == wanted, cases


# -- from criteria to the gate, and what every report says of it ---------------------------

ROWS = [
    (s, t) for s in ("CRIT", "HIGH", "MED", "LOW") for t in ("p", "f", "u", "m", "n")
]
RANK = ("fail", "incomplete", "pass")


def worst(verdicts: Sequence[str]) -> str:
    return min(verdicts, key=RANK.index)


def of_component(rows: Sequence[tuple[str, Outcome]]) -> str:
    gating = [verdict for severity, verdict in rows if severity in ("CRIT", "HIGH")]
    if "fail" in gating:
        return "fail"
    return "incomplete" if "indeterminate" in gating else "pass"


def of_gate(rows: Sequence[tuple[str, str]], operator: str, limit: Fraction) -> str:
    """The whole, and the one dataset in which a criterion of na units has no say."""
    said = [(s, of_rate(text, operator, limit)) for s, text in rows]
    gating = [severity for severity, _ in rows if severity in ("CRIT", "HIGH")]
    whole = of_component(said) if gating else "incomplete"
    there = [row for row, (_, text) in zip(said, rows, strict=True) if text.strip("n")]
    return worst([whole, of_component(there)])


def run_of(rows: Sequence[tuple[str, str]], limit: str) -> tuple[Suite, list[Said]]:
    criteria = []
    units: list[Said] = []
    for number, (severity, text) in enumerate(rows):
        name = f"c-{number}"
        passes = rate(f">= {limit}")
        criteria.append(criterion(name, severity=severity, passes=passes))
        units += results(text, criterion=name)
    return suite(*criteria), units


def test_every_small_gate_is_the_worst_of_what_gates() -> None:
    for size in range(4):
        for rows in combinations_with_replacement(ROWS, size):
            asked, units = run_of(rows, "1")
            assert decide(asked, units).gate == of_gate(rows, ">=", Fraction(1)), rows


def test_every_small_run_of_two_datasets_is_no_better_than_either() -> None:
    asked = suite(criterion(passes=rate(">= 0.5")))
    limit = Fraction(1, 2)
    for first, second in product(small("pfun", 3), repeat=2):
        units = results(first, dataset="a") + results(second, dataset="b")
        parts = [first + second, *(text for text in (first, second) if text.strip("n"))]
        wanted = worst(
            [of_component([("HIGH", of_rate(part, ">=", limit))]) for part in parts]
        )
        assert decide(asked, units).gate == wanted, (first, second)


def pytest_fails(asked: Suite, folder: Path, units: Sequence[Said]) -> bool:
    """Whether any test of the suite under pytest fails: a unit's or the gate's."""
    evals = Evals.__new__(Evals)
    evals._suite, evals._run, evals._names = asked, _read(folder, "runs/run-1"), {}
    evals._gate_is_tested, evals._has_said_why = True, False
    red = False
    for unit in {(said.case, said.criterion) for said in units}:
        try:
            evals.check(unit)
        except (pytest.skip.Exception, pytest.xfail.Exception):
            continue  # an expected failure is a failure too, so it is looked for first
        except pytest.fail.Exception:
            red = True
    try:
        evals.check_gate()
    except pytest.fail.Exception:
        return True
    return red


@pytest.mark.parametrize("limit", ["1", "0.5"])
def test_every_report_of_a_small_run_says_what_its_scorecard_says(
    tmp_path: Path, limit: str
) -> None:
    texts = ("pp", "pf", "ff", "pu", "pe", "fu", "pm", "mm", "pn", "nn")
    rows = [(severity, text) for severity in ("HIGH", "LOW") for text in texts]
    for number, chosen in enumerate(combinations_with_replacement(rows, 2)):
        asked, units = run_of(chosen, limit)
        folder = tmp_path / str(number)
        write_run(folder, asked, units)
        card = read_scorecard(folder / "scorecard.json")
        gate = of_gate(chosen, ">=", Fraction(limit))
        assert card["gate"]["verdict"] == gate, chosen
        assert (EXIT_CODE[card["gate"]["verdict"]] == 0) == (gate == "pass")

        board = render_dashboard(card, width=100, color=False, run_folder=None)
        assert [g for g in RANK if f"GATE {g.upper()}" in board] == [gate]
        page = write_report(folder).read_text("utf-8")
        assert [g for g in RANK if f"GATE {g.upper()}" in page] == [gate]

        write_junit(folder / "junit.xml", folder / "units.jsonl", card)
        totals = ElementTree.parse(folder / "junit.xml").getroot().attrib
        red = int(totals["failures"]) + int(totals["errors"])
        assert (red == 0) == (gate == "pass"), chosen
        assert pytest_fails(asked, folder, units) == (gate != "pass"), chosen


def test_no_report_calls_a_dataset_a_pass_in_which_nothing_gates(
    tmp_path: Path,
) -> None:
    asked = suite(criterion("c-0"), criterion("c-1", severity="LOW"))
    units = results("p", criterion="c-0")
    units += results("p", criterion="c-1", dataset="maps")
    card = write_run(tmp_path, asked, units)
    assert [part["verdict"] for part in card["gate"]["components"]] == ["pass"] * 3

    for width in (50, 100):
        board = render_dashboard(card, width=width, color=True, run_folder=None)
        (line,) = (line for line in board.splitlines() if "dataset:maps" in line)
        assert "not gated" in line and "✓" not in line and "\x1b[32m" not in line
        (other,) = (line for line in board.splitlines() if "dataset:books" in line)
        assert "✓" in other
    page = write_report(tmp_path).read_text("utf-8")
    assert page.count("– not gated</span>") == 1
    write_junit(tmp_path / "junit.xml", tmp_path / "units.jsonl", card)
    root = ElementTree.parse(tmp_path / "junit.xml")
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert cases["dataset:maps"].find("skipped") is not None
    assert len(cases["dataset:books"]) == 0
