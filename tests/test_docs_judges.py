"""The guide to judges shows what `validate` prints of a generated suite's judge."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.labels.file import Label, Word, write_labels
from helix_runtime.trace import Span, Trace
from helix_runtime.trust.validation import MIN_CASES
from support.suite_folder import write_traces

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "judges.md").read_text("utf-8")
SCORECARD = (ROOT / "docs" / "scorecard.md").read_text("utf-8")
COMMAND = "$ python -m returns_desk_evals "
ITEMS = ("lamp", "kettle", "chair", "coat", "drill")
REASON = "because it came back within thirty days"
MANY = 200


def answer(number: int) -> str:
    """Two of three answers give a reason; some of those in a way that is easily missed."""
    item = ITEMS[number % len(ITEMS)]
    if number % 3:
        if number % 23 == 1:
            return f"Within thirty days, so yes: we take the {item} back."
        return f"We take the {item} back, {REASON}."
    if number % 30 == 0:
        return f"We take the {item} back as you asked."
    return f"We take the {item} back."


def people(number: int) -> Word:
    if number % 30 == 0:
        return "underdetermined"
    return "pass" if number % 3 else "fail"


def judge(number: int) -> str:
    """A judge that misses a reason without "because", and takes a wish for one."""
    if number % 60 == 0:
        return "pass"
    if number % 30 == 0:
        return "uncertain"
    return "pass" if REASON in answer(number) or number % 57 == 0 else "fail"


def critique(number: int) -> str:
    result = judge(number)
    if result == "uncertain":
        return "It repeats the customer's wish; whether that is a reason is open."
    if result == "pass":
        return "It says why the item is taken back."
    return "It says that the item is taken back, and no word of why."


def run_of(number: int) -> Trace:
    asked = f"Order R-{4000 + number}: I want to return the {ITEMS[number % 5]}."
    return Trace(
        id=f"desk-{number}",
        spans=(
            Span(id="s1", name="user", kind="event", role="user", input=asked),
            Span(
                id="s2",
                name="desk",
                kind="llm",
                role="assistant",
                output=answer(number),
            ),
        ),
    )


def verdict_file(number: int) -> dict[str, Any]:
    result = judge(number)
    return {
        "trajectoryId": f"desk-{number}",
        "judgeModel": "example-judge-1",
        "temperature": 0,
        "verdicts": [
            {
                "criterionId": "explains-decision",
                "critique": critique(number),
                "result": result,
                "confidence": 0.9,
                "refs": [{"obs": "output", "path": "", "value": answer(number)}],
                **(
                    {"blockedBy": {"kind": "normative", "text": "is a wish a reason?"}}
                    if result == "uncertain"
                    else {}
                ),
            }
        ],
    }


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's suite, with 200 recorded runs that people and agents have judged."""
    out = tmp_path_factory.mktemp("judges") / "returns-desk-evals"
    spec = "examples/returns_desk/agentspec.yaml"
    subprocess.run(
        [sys.executable, "-m", "helix_gen", "suite", spec, "-o", str(out), "-q"],
        cwd=ROOT,
        check=True,
    )
    write_traces(out / "desk.jsonl", map(run_of, range(MANY)))
    verdicts = out / "matrix" / "verdicts"
    verdicts.mkdir(parents=True, exist_ok=True)
    for number in range(MANY):
        path = verdicts / f"desk-{number}.verdict.json"
        path.write_text(json.dumps(verdict_file(number)), "utf-8")
    write_labels(
        out / "labels.jsonl",
        [
            Label(
                trace_id=f"desk-{number}",
                criterion_id="explains-decision",
                label=people(number),
                annotator="ada",
            )
            for number in range(MANY)
        ],
    )
    return out


def said(suite: Path, words: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, "-u", "-m", "returns_desk_evals", *words.split()],
        cwd=suite,
        env={**os.environ, "PYTHONPATH": str(ROOT / "examples")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout.split("\n")


def test_the_page_shows_what_is_printed_and_later_runs_know_it(suite: Path) -> None:
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.S)
    shown = [b for b in blocks if "validate" in b or "run --traces" in b]
    assert len(shown) == 2
    for block, code in zip(shown, (0, 1), strict=True):
        first, *lines = block.rstrip("\n").split("\n")
        exit_code, printed = said(suite, first.removeprefix(COMMAND))
        assert exit_code == code, "\n".join(printed)
        at = 0
        for line in lines:
            if line.strip() != "…":  # cut here
                assert line in printed[at:], "\n".join([line, "not in", *printed])
                at = printed.index(line, at) + 1
    again = said(suite, f"{blocks_of_test()} --split test")
    assert again[0] in (0, 1, 3)
    refused, why = said(suite, f"{blocks_of_test()} --split test")
    assert refused == 2 and "was used once" in "\n".join(why)


def blocks_of_test() -> str:
    return (
        "validate --verdicts matrix/verdicts --traces desk.jsonl "
        "--criteria explains-decision"
    )


def test_the_thresholds_are_those_of_the_code() -> None:
    part = PAGE.partition("## Trust")[2].partition("\n## ")[0]
    assert f"{MIN_CASES} cases" in part
    for status in ("validated", "usable", "failed", "unvalidated"):
        assert f"`{status}`" in part and f"`{status}`" in SCORECARD
