"""The rules for a judge's labelled examples: from TRAIN only, of each kind, few.

An example that also stands in the dev or test split would let a judge be measured on
what it was shown. The guard compares cases and runs by id, and texts by content with
white space and case folded, so a copy under another id is found too.
"""

from collections.abc import Iterable
from typing import Final

from .canonical import content_key
from .criterion import Example, Judge
from .record import record
from .suite import Suite

MAX_EXAMPLES: Final = 8
LABELS: Final = ("pass", "fail", "borderline")


@record(kw_only=True)
class HeldOut:
    """One labelled run outside of TRAIN: its split, ids, and what was said in it."""

    split: str
    case_id: str = ""
    trace_id: str = ""
    text: str = ""


def example_faults(suite: Suite) -> list[str]:
    """Return what is wrong with the examples of the suite's judges, a line each."""
    faults: list[str] = []
    for criterion in suite.criteria:
        if criterion.judge is not None:
            faults += judge_faults(criterion.judge)
    return faults


def judge_faults(judge: Judge) -> list[str]:
    """Return what is wrong with one judge's examples: their number and their kinds."""
    examples = judge.examples
    if not examples:
        return []
    place = f"judges.py: the examples of {judge.criterion!r}"
    faults = []
    if len(examples) > MAX_EXAMPLES:
        faults.append(f"{place}: {len(examples)}, but at most {MAX_EXAMPLES} help")
    missing = [x for x in LABELS if not any(e.label == x for e in examples)]
    if missing:
        faults.append(
            f"{place}: none is labelled {', '.join(missing)}; a judge needs at least "
            "one pass, one fail and one borderline"
        )
    for example in examples:
        if example.label in ("pass", "fail") and example.result != example.label:
            faults.append(
                f"{place}: one labelled {example.label} has the result "
                f"{example.result}"
            )
        if not example.excerpt.strip() or not example.critique.strip():
            faults.append(f"{place}: one has no excerpt or no critique")
    seen: dict[str, str] = {}
    for example in examples:
        content = folded(example.excerpt)
        before = seen.setdefault(content, example.result)
        if before != example.result:
            faults.append(
                f"{place}: one excerpt is shown with the results {before} and "
                f"{example.result}"
            )
    return faults


def leaks(judges: Iterable[Judge], held_out: Iterable[HeldOut]) -> list[str]:
    """Return a line for each example that also stands in dev or test."""
    cases: dict[str, str] = {}
    traces: dict[str, str] = {}
    texts: dict[str, str] = {}
    for one in held_out:
        if one.case_id:
            cases.setdefault(one.case_id, one.split)
        if one.trace_id:
            traces.setdefault(one.trace_id, one.split)
        if one.text.strip():
            texts.setdefault(folded(one.text), one.split)
    lines = []
    for judge in judges:
        for number, example in enumerate(judge.examples, 1):
            found = _leak(example, cases, traces, texts)
            if found is not None:
                lines.append(
                    f"judges.py: example {number} of {judge.criterion!r} leaks: {found}"
                )
    return lines


def _leak(
    example: Example,
    cases: dict[str, str],
    traces: dict[str, str],
    texts: dict[str, str],
) -> str | None:
    if example.case_id in cases:
        return f"its case is in the {cases[example.case_id]} split"
    if example.trace_id in traces:
        return f"its run is in the {traces[example.trace_id]} split"
    split = texts.get(folded(example.excerpt))
    return None if split is None else f"its text stands in the {split} split"


def folded(text: str) -> str:
    """Return the content key of a text, whatever its white space and case."""
    return content_key(" ".join(text.casefold().split()))
