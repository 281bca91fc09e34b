"""The rules for a judge's labelled examples: from TRAIN only, of each kind, few.

An example that also stands in the dev or test split would let a judge be measured on
what it was shown. The guard compares cases and runs by id, and texts by content with
white space and case folded, so a copy under another id is found too, and an excerpt
that was shortened by hand.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ..canonical import content_key, dump_line, escape_surrogates
from ..case import Case
from ..criterion import JUDGE_INPUTS, Criterion, Example, Judge
from ..record import record
from ..suite import Suite
from ..trace import Trace
from .evidence import evidence_of
from .prompt import cut_middle, shown_inputs

MAX_EXAMPLES: Final = 8
LONG_TEXT: Final = 80
"""From so many characters on an excerpt whose every line stands in a run is of it."""
MAX_LINE: Final = 1_500
MAX_EXCERPT: Final = 6_000
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


def leaks(
    judges: Iterable[Judge],
    held_out: Iterable[HeldOut],
    *,
    split_of: Callable[[str], str | None] = lambda name: None,
) -> list[str]:
    """Return a line for each example that also stands in dev or test.

    `split_of` gives the split of a case or a run, also of a copy of a labelled one.
    """
    cases: dict[str, str] = {}
    traces: dict[str, str] = {}
    texts: dict[str, str] = {}
    for one in held_out:
        if one.case_id:
            cases.setdefault(one.case_id, one.split)
        if one.trace_id:
            traces.setdefault(one.trace_id, one.split)
        text = _folded_text(one.text)
        if text:
            texts.setdefault(text, one.split)
    lines = []
    for judge in judges:
        for number, example in enumerate(judge.examples, 1):
            found = _leak(example, cases, traces, texts, split_of)
            if found is not None:
                lines.append(
                    f"judges.py: example {number} of {judge.criterion!r} leaks: "
                    f"{found} of labels.jsonl. Take it out; `labels examples "
                    f"{judge.criterion}` prints some of TRAIN"
                )
    return lines


def _leak(
    example: Example,
    cases: dict[str, str],
    traces: dict[str, str],
    texts: dict[str, str],
    split_of: Callable[[str], str | None],
) -> str | None:
    """Return where an example stands that it must not, or None."""
    for what, name, known in (
        ("case", example.case_id, cases),
        ("run", example.trace_id, traces),
    ):
        split = known.get(name) or (split_of(name) if name else None)
        if split is not None and split != "train":
            return f"its {what} {name!r} is in the {split} split"
    whole = _folded_text(example.excerpt)
    if whole in texts:
        return f"its text stands in the {texts[whole]} split"
    pieces = _pieces(example.excerpt)
    if sum(map(len, pieces)) >= LONG_TEXT:
        for text, split in texts.items():
            if all(piece in text for piece in pieces):
                return f"all of its text stands in a run of the {split} split"
    return None


# How an excerpt's line begins, and what stands where a part of it was cut.
_LABELLED_LINE: Final = re.compile(r"^\s*[\w ]{1,20}(\[\d+\])?: ?")
_CUT: Final = re.compile(r"\[… [^\]]*cut …\]|…")


def _pieces(excerpt: str) -> list[str]:
    """Return what an excerpt quotes, line by line, as it would stand in a run's text."""
    found = []
    for line in excerpt.split("\n"):
        line = _LABELLED_LINE.sub("", line, count=1)
        found += [folded for part in _CUT.split(line) if (folded := _folded_text(part))]
    return found


def _folded_text(text: str) -> str:
    return " ".join(text.casefold().split())


def folded(text: str) -> str:
    """Return the content key of a text, whatever its white space and case."""
    return content_key(_folded_text(text))


# -- what is shown of a run ------------------------------------------------------------


def text_of(case: Case, trace: Trace) -> str:
    """Return all that was asked, done and said in a run, a line each."""
    return "\n".join([case.query, *_lines(JUDGE_INPUTS, case, trace, limit=None)])


def excerpt_of(criterion: Criterion, case: Case, trace: Trace) -> str:
    """Return a run as an example shows it: what its judge is shown, cut to size."""
    shown = shown_inputs(criterion)
    lines = _lines(shown, case, trace, limit=MAX_LINE)
    return cut_middle("\n".join(lines), MAX_EXCERPT)[0]


def _lines(
    shown: Sequence[str], case: Case, trace: Trace, *, limit: int | None
) -> list[str]:
    evidence = evidence_of(trace)
    lines = []
    if "transcript" in shown:
        lines += [f"{turn['role']}: {turn['content']}" for turn in evidence.transcript]
    else:
        if "case" in shown:
            lines.append(f"query: {case.query}")
        if "output" in shown:
            lines.append(f"answer: {trace.answer or '(none)'}")
    if "trajectory" in shown:
        lines += [
            f"trajectory[{number}]: {dump_line(entry)}"
            for number, entry in enumerate(evidence.trajectory)
        ]
    if limit is not None:
        lines = [cut_middle(line, limit)[0] for line in lines]
    return [escape_surrogates(line) for line in lines]
