"""How numbers, thresholds and verdicts read, in the terminal and in the page alike."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

SEVERITY_RANK: Final[Mapping[str, int]] = {"CRIT": 0, "HIGH": 1, "MED": 2, "LOW": 3}
GATING: Final = frozenset(("CRIT", "HIGH"))

ROUTES: Final[Mapping[str, str]] = {
    "factual-intent": "ground the fact again",
    "normative": "ask the owner",
}
"""Whom an abstention goes to; what a scope needs stands in its own words."""

_VERDICT_RANK: Final[Mapping[str, int]] = {"fail": 0, "indeterminate": 1, "pass": 2}


def by_urgency(criteria: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return criteria with what gates first: fails, then open ones, then passes."""
    return sorted(
        criteria,
        key=lambda c: (
            (0 if c["severity"] in GATING else 1) if c["verdict"] != "pass" else 2,
            _VERDICT_RANK[c["verdict"]],
            SEVERITY_RANK[c["severity"]],
        ),
    )


def open_units(counts: Mapping[str, int]) -> int:
    """Return how many units could still be a pass or a fail."""
    return counts["uncertain"] + counts["error"] + counts["missing"]


def is_share(threshold: str) -> bool:
    """Whether the criterion's number is a share, not a mean of measured values."""
    return not threshold.startswith("mean ")


def number(value: float, *, share: bool) -> str:
    """Return a rate as a percentage, a mean as it is.

    A share never reads 100 % or 0 % that is not exactly so.
    """
    if not share:
        return f"{value:.4g}"
    for digits in (0, 1, 2, 4):
        text = f"{value * 100:.{digits}f}"
        if digits == 0 and abs(value * 100 - float(text)) > 1e-9:
            continue
        if float(text) not in (0.0, 100.0) or value in (0, 1):
            return f"{text}%"
    return "<100%" if value > 0.5 else ">0%"


def span(bounds: Sequence[float] | None, *, share: bool) -> str:
    """Return an interval or bounds as `49–94%`; a dash where there are none."""
    if bounds is None:
        return "–"
    low, high = (number(bound, share=share) for bound in bounds)
    if low == high:
        return low
    return f"{low.removesuffix('%')}–{high}"


def needs(threshold: str) -> str:
    """Return what a criterion needs, in words."""
    if threshold == "rate >= 1":
        return "all must pass"
    if threshold.endswith(" >= 1") and threshold.startswith("pass^"):
        return f"{threshold.removesuffix(' >= 1')}: all repeats must pass"
    return threshold.replace(">=", "≥").replace("<=", "≤")


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return `1 unit`, `2 units`, `10,000 units`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def gate_summary(scorecard: Mapping[str, Any]) -> str:
    """Return one sentence that says why the gate is what it is."""
    gating = [c for c in scorecard["criteria"] if c["severity"] in GATING]
    failing = sum(1 for c in gating if c["verdict"] == "fail")
    waiting = sum(1 for c in gating if c["verdict"] == "indeterminate")
    verdict = scorecard["gate"]["verdict"]
    if not gating:
        return "no criterion gates: none is CRIT or HIGH"
    of = f"of {plural(len(gating), 'gating criterion', 'gating criteria')}"
    said = []
    if failing:
        said.append(f"{failing:,} {of} {'fails' if failing == 1 else 'fail'}")
    if waiting:
        verb = "is" if waiting == 1 else "are"
        said.append(f"{waiting:,} {'' if failing else of + ' '}{verb} indeterminate")
    if said:
        return ", ".join(said)
    if verdict == "pass":
        return (
            "the one gating criterion passes"
            if len(gating) == 1
            else f"all {plural(len(gating), 'gating criterion', 'gating criteria')} pass"
        )
    parts = [c for c in scorecard["gate"]["components"] if c["verdict"] == verdict]
    verb = "fails" if verdict == "fail" else "is incomplete"
    return f"the whole passes, but {parts[0]['id']} {verb}" if parts else verb


def next_steps(scorecard: Mapping[str, Any]) -> list[str]:
    """Return what to do next, most urgent first. May hold strangers' text."""
    steps = []
    failing = [c for c in scorecard["handoff"] if c["severity"] in GATING]
    if failing:
        steps.append(
            "Mend what fails: handoff[] in scorecard.json names each failing case "
            "with its evidence."
        )
    waiting = scorecard["calibration"]
    texts = [entry["blockedBy"]["text"] for entry in waiting]
    if any(text.startswith("the run was interrupted") for text in texts):
        steps.append("Go on with the run: `run --resume`.")
    if any("no judge was asked" in text for text in texts):
        steps.append(
            "Ask a judge: `run --judge PROVIDER:MODEL`, or let agents judge: `prep`, "
            "then `aggregate`."
        )
    if any(_lacks_verdict_files(text) for text in texts):
        steps.append("Judge the packets that have no verdict yet, then `aggregate`.")
    unwritten = [
        text.partition(": write it in ")[2]
        for text in texts
        if text.startswith("no executable check yet")
    ]
    if unwritten:
        places = ", ".join([p for p in unwritten if p][:3])
        more = len(unwritten) - 3
        steps.append(
            f"Write {plural(len(unwritten), 'check')}"
            + (f": {places}" if places else "")
            + (f" and {more} more." if more > 0 else ".")
        )
    if any(text.startswith("incomplete trace") for text in texts):
        steps.append("Record traces to their end: what stops short is not judged.")
    if any(text.startswith("could not be judged") for text in texts):
        steps.append("See the units with `error` in units.jsonl, and run again.")
    for text in texts:
        if text.startswith("pass^"):
            k = text[len("pass^") :].split(" ")[0]
            steps.append(f"Repeat each case: `run --repeats {k}`.")
            break
    for kind, route in ROUTES.items():
        held = [
            entry["criterionId"]
            for entry in waiting
            if entry["blockedBy"]["kind"] == kind
        ]
        if held:
            steps.append(f"{route[0].upper()}{route[1:]}: {_names(held)}.")
    if not scorecard["criteria"]:
        steps.append("Give the spec a criterion: a suite without one decides nothing.")
    elif not any(c["severity"] in GATING for c in scorecard["criteria"]):
        steps.append("Give a criterion the severity HIGH or CRIT, or nothing can gate.")
    if any(text == "no case was run" for text in texts):
        steps.append("Run cases: this run had none for at least one criterion.")
    return steps


def _lacks_verdict_files(text: str) -> bool:
    return "verdict file" in text and ("missing" in text or text.startswith("no "))


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
