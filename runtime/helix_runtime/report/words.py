"""How numbers, thresholds, verdicts and judges read, in the terminal and in the page alike."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..names import sample_label
from ..rollup import FLAPS, IDLE, NO_CASE_IN_SCOPE, NOTHING_GATES
from ..selection import NARROWED, OUTLIVED
from ..spread import FORCED

SEVERITY_RANK: Final[Mapping[str, int]] = {"CRIT": 0, "HIGH": 1, "MED": 2, "LOW": 3}
GATING: Final = frozenset(("CRIT", "HIGH"))

ROUTES: Final[Mapping[str, str]] = {
    "factual-intent": "ground the fact again",
    "normative": "ask the owner",
}
"""Whom an abstention goes to; what a scope needs stands in its own words."""

_HOW: Final[Mapping[str, str]] = {
    "factual-intent": " Look at the run; where it is clear, sharpen `pass_when` and "
    "`fail_when`.",
    "normative": "",
}

SCOPE: Final = "scope: what the run shows, or what the suite holds, does not reach this"
"""What `scope` means, where a reader meets the word."""

_REASON: Final = re.compile(r"`(.+)` (fails|is indeterminate): (.*)", re.DOTALL)
_HALVES: Final = ("the run is not complete: ", "the run was interrupted: ")
_RAISED: Final = re.compile(
    r"could not be judged: (\S+\.py:\d+) ((?:raised|returned) .+)", re.DOTALL
)
_PLACED: Final = re.compile(r" \(([^\s()]+:\d+)\)$")

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


def is_idle(criterion: Mapping[str, Any]) -> bool:
    """Whether a criterion passes and no run exercised it: its critique says so."""
    critique: str = criterion["critique"]
    by_code = criterion["class"] == "code"
    return by_code and criterion["verdict"] == "pass" and critique.startswith(IDLE)


def open_units(counts: Mapping[str, int]) -> int:
    """Return how many units could still be a pass or a fail."""
    return counts["uncertain"] + counts["error"] + counts["missing"]


def is_share(threshold: str) -> bool:
    """Whether the criterion's number is a share, not a mean of measured values."""
    return not threshold.startswith("mean ")


def number(value: float, *, share: bool) -> str:
    """Return a rate as a percentage, a mean as it is.

    A share never reads a whole percentage that it is not: what just misses 95 % does
    not read 95 %, and 100 % and 0 % are exactly so.
    """
    return _percentage(value, whole=True) if share else f"{value:.4g}"


def _percentage(value: float, *, whole: bool) -> str:
    """Return a percentage; one that is not exactly 0, 100 or (`whole`) whole reads so."""
    for digits in (0, 1, 2, 3, 4):
        text = f"{value * 100:.{digits}f}"
        held = float(text)
        if abs(value * 100 - held) <= 1e-9 and (
            held not in (0, 100) or value in (0, 1)
        ):
            return f"{text}%"
        if digits and held not in (0, 100) and not (whole and held.is_integer()):
            return f"{text}%"
    return f"{'<' if value * 100 < held else '>'}{held:g}%"


def span(bounds: Sequence[float] | None, *, share: bool) -> str:
    """Return an interval or bounds as `49–94%`; a dash where there are none."""
    if bounds is None:
        return "–"
    low, high = (
        _percentage(bound, whole=False) if share else number(bound, share=False)
        for bound in bounds
    )
    if low == high:
        return low
    return f"{low.removesuffix('%')}–{high}"


def measured(criterion: Mapping[str, Any]) -> bool:
    """Whether a criterion's judge was held against labels at all."""
    known = criterion["validation"]
    return known["tpr"] is not None or known["tnr"] is not None


def judge_words(criterion: Mapping[str, Any]) -> str:
    """Return TPR, TNR and the corrected rate of a measured judge."""
    known = criterion["validation"]
    said = [
        f"{name} {percent(known[key])}"
        for name, key in (("TPR", "tpr"), ("TNR", "tnr"))
        if known[key] is not None
    ]
    if known["corrected"] is not None:
        interval = span(known["interval"], share=True)
        said.append(f"corrected {percent(known['corrected'])} ({interval})")
    return " · ".join(said)


def unmeasured(scorecard: Mapping[str, Any]) -> list[str]:
    """Return the criteria that were judged and of whose judges nothing is known."""
    return [
        criterion["criterionId"]
        for criterion in scorecard["criteria"]
        if scorecard["pin"] is not None
        and criterion["class"] != "code"
        and not measured(criterion)
    ]


def percent(value: float) -> str:
    """Return a share as a percentage, to a tenth of one where that is no other one."""
    return number(value, share=True)


def needs(threshold: str) -> str:
    """Return what a criterion needs, in words."""
    if threshold == "rate >= 1":
        return "all must pass"
    if threshold in _AGAINST:
        return _AGAINST[threshold]
    if threshold.endswith(" >= 1") and threshold.startswith("pass^"):
        return f"{threshold.removesuffix(' >= 1')}: all repeats must pass"
    return threshold.replace(">=", "≥").replace("<=", "≤")


_AGAINST: Final[Mapping[str, str]] = {
    "baseline >= 0": "no worse than the baseline",
    "baseline > 0": "better than the baseline",
}


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


def is_not_gated(component: Mapping[str, Any]) -> bool:
    """Whether a component passes for want of anything that gates there."""
    return NOTHING_GATES in component["because"]


def variance_words(variance: Mapping[str, Any]) -> str:
    """Return how steady repeats were: the subject's and the judge's series apart."""
    said = []
    for who in ("subject", "judge"):
        found = variance[who]
        total = found["stable"] + found["flapping"] + found["underSampled"]
        if total:
            parts = [f"{found['stable']:,} of {total:,} series stable"]
            if found["flapping"]:
                parts.append(f"{found['flapping']:,} flapping")
            if found["underSampled"]:
                parts.append(f"{found['underSampled']:,} under-sampled")
            said.append(f"{who} {', '.join(parts)}")
    if variance["verdict"] == "stable" and any(
        variance[who]["flapping"] + variance[who]["underSampled"]
        for who in ("subject", "judge")
    ):
        said.append("what is not stable only advises")
    return f"{variance['verdict']} ({'; '.join(said)})"


def flapping_words(scorecard: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    """Return the flapping cases of a criterion that they keep from passing, one a line.

    `entry` is its entry in `calibration[]`. May hold strangers' text.
    """
    if not entry["blockedBy"]["text"].endswith(FLAPS):
        return []
    lines = []
    for found in scorecard["variance"]["criteria"]:
        if found["criterionId"] != entry["criterionId"]:
            continue
        lines += [
            f"{sample_label(case)}: {case['passes']:,} of "
            f"{plural(case['decided'], 'run')} pass"
            for case in found["flapping"]
        ]
        for trace in found.get("judgeFlapping", ()):
            said = ", ".join(f"{n:,} {what}" for what, n in trace["results"].items())
            lines.append(f"{sample_label(trace)}: the judge says {said} of one run")
    return lines


def reservations(scorecard: Mapping[str, Any]) -> list[str]:
    """Return what a reader must know who sees the gate alone.

    What it is not about, for the run was narrowed or cut short, and the judges that it
    passes by though no labels bear them out.
    """
    notes = scorecard["run"].get("notes", ())
    return [*filter(_reserves, notes), *_unproven(scorecard)]


def _unproven(scorecard: Mapping[str, Any]) -> list[str]:
    if scorecard["gate"]["verdict"] != "pass":
        return []
    found = [
        f"{criterion['criterionId']} ({criterion['validation']['status']})"
        for criterion in scorecard["criteria"]
        if criterion["severity"] in GATING
        and criterion["class"] != "code"
        and (criterion["class"] == "judge" or scorecard["pin"] is not None)
        and criterion["validation"]["status"] in _UNPROVEN
    ]
    return [f"it passes by judges that no labels bear out: {_names(found)}"] * bool(
        found
    )


_UNPROVEN: Final = ("unvalidated", "failed")


_LACKS: Final = (" not judged", " no recorded run", " not count")
_BEGIN: Final = (NARROWED, OUTLIVED, FORCED, *_HALVES)


def _reserves(note: str) -> bool:
    # Runs that could not be read, and cases that were not run, are no part of it either.
    return note.startswith(_BEGIN) or note.endswith(_LACKS)


def other_notes(scorecard: Mapping[str, Any]) -> list[str]:
    """Return the notes that are no reservations."""
    notes = scorecard["run"].get("notes", ())
    return [note for note in notes if not _reserves(note)]


def blocked_words(blocked: Mapping[str, str]) -> str:
    """Return what blocks, and whom that goes to, in words."""
    kind, text = blocked["kind"], blocked["text"]
    route = ROUTES.get(kind, "")
    return f"{kind} ({route}): {text}" if route else f"{kind}: {text}"


def grouped(because: Sequence[str]) -> list[str]:
    """Return a component's reasons, criteria with the same reason in one sentence."""
    groups: dict[tuple[str, str], list[str]] = {}
    for text in because:
        found = _REASON.fullmatch(text)
        if found is None:
            groups[text, ""] = []
        else:
            groups.setdefault((found[2], found[3]), []).append(f"`{found[1]}`")
    lines = []
    for (verb, reason), names in groups.items():
        if not names:
            lines.append(verb)
            continue
        if len(names) > 1:
            verb = verb.replace("fails", "fail").replace("is ", "are ")
        lines.append(f"{_names(names)} {verb}: {reason}")
    return lines


def failure_lines(scorecard: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return how the subject failed, a line for each cause, with its cases."""
    found = scorecard["run"].get("failures")
    if not found:
        return []
    lines = []
    for cause in found["causes"]:
        names = [sample_label(case) for case in cause["cases"]]
        more = cause["runs"] - len(names)
        cases = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
        what = "case" if scorecard["run"]["repeats"] == 1 else "run"
        said = f"The subject failed on {cause['runs']:,} of {plural(found['of'], what)}"
        lines.append((f"{said}: {cause['text']}", cases))
    if found["more"]:
        lines.append((f"and {plural(found['more'], 'other cause')}", ""))
    return lines


def next_steps(scorecard: Mapping[str, Any]) -> list[str]:
    """Return what to do next, most urgent first. May hold strangers' text."""
    waiting = scorecard["calibration"]
    texts = [entry["blockedBy"]["text"] for entry in waiting]
    steps = [
        *_mend_subject(scorecard),
        *_mend_what_fails(scorecard["handoff"]),
        *_decide_the_rest(texts),
        *_write_checks(texts),
        *_record_more(texts, recorded=scorecard["run"]["target"] is None),
        *_mend_checks(waiting),
    ]
    for text in texts:
        if text.startswith("pass^") and " needs " in text:
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
            steps.append(f"{route[0].upper()}{route[1:]}: {_names(held)}.{_HOW[kind]}")
    return [*steps, *_give_scope(scorecard)]


def _mend_what_fails(handoff: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what to do about criteria that fail."""
    failing = [c for c in handoff if c["severity"] in GATING]
    if failing:
        return [
            "Mend what fails: handoff[] in scorecard.json names each failing case "
            "with its evidence; `requests` asks for the changes as data."
        ]
    if handoff:
        names = [entry["criterionId"] for entry in handoff]
        return [
            f"Look at what fails without gating: {_names(names)}. handoff[] in "
            "scorecard.json and report.html name each failing case with its evidence, "
            "`requests` asks for the changes; the severity HIGH makes a criterion gate."
        ]
    return []


def _decide_the_rest(texts: Sequence[str]) -> list[str]:
    """Return how to come to the verdicts that are still to come."""
    steps: list[str] = []
    if any(text.startswith("the run was interrupted") for text in texts):
        steps.append("Go on with the run: `run --resume`.")
    if any(text.endswith(FLAPS) for text in texts):
        steps.append(
            "Find out what flaps: `stability` names the cases, and tells the subject's "
            "spread from the judge's. `--allow-flapping` lets the rate stand as it is."
        )
    if any(text.startswith("no baseline run") for text in texts):
        steps.append(
            "Name the run to compare with: `run --baseline RUN`, or `baseline` in "
            "evals.toml."
        )
    if any("no judge was asked" in text for text in texts):
        steps.append(
            "Ask a judge: `run --judge PROVIDER:MODEL`, or let agents judge: `prep`, "
            "then `aggregate`. Where only code is to decide, narrow the run: "
            "`run --criteria class:code`."
        )
    if any(_lacks_verdict_files(text) for text in texts):
        steps.append("Judge the packets that have no verdict yet, then `aggregate`.")
    return steps


def _write_checks(texts: Sequence[str]) -> list[str]:
    """Return which checks are still to write."""
    unwritten = [
        text.partition(": write it in ")[2]
        for text in texts
        if text.startswith("no executable check yet")
    ]
    if not unwritten:
        return []
    places = ", ".join([p for p in unwritten if p][:3])
    more = len(unwritten) - 3
    return [
        f"Write {plural(len(unwritten), 'check')}"
        + (f": {places}" if places else "")
        + (f" and {more} more." if more > 0 else ".")
    ]


def _record_more(texts: Sequence[str], *, recorded: bool) -> list[str]:
    """Return what traces must show; `recorded` ones come from elsewhere."""
    steps: list[str] = []
    short = [text for text in texts if text.startswith("incomplete trace")]
    if recorded and any("the subject failed" not in text for text in short):
        steps.append("Record traces to their end: what stops short is not judged.")
    elif any(text.endswith("ends before the subject answered") for text in short):
        steps.append(
            "Look at the target: it returned no answer (nothing, or an empty text), and "
            "a run without one is not judged."
        )
    if any(text.startswith("record tool calls") for text in texts):
        steps.append(
            "Let the target return its tool calls: a dict with `output` and "
            "`tool_calls` ({name, arguments, result}), in place of its answer alone."
        )
    return steps


def _give_scope(scorecard: Mapping[str, Any]) -> list[str]:
    """Return what keeps criteria from gating, and cases from being judged."""
    waiting = scorecard["calibration"]
    steps: list[str] = []
    if not scorecard["criteria"]:
        steps.append("Give the spec a criterion: a suite without one decides nothing.")
    elif not any(c["severity"] in GATING for c in scorecard["criteria"]):
        steps.append("Give a criterion the severity HIGH or CRIT, or nothing can gate.")
    outside = [
        entry["criterionId"]
        for entry in waiting
        if entry["severity"] in GATING
        and entry["blockedBy"]["text"] == NO_CASE_IN_SCOPE
    ]
    if outside:
        steps.append(
            f"Run cases that are in the scope of {_names(outside)}: of those of this "
            "run none was."
        )
    if any(one["blockedBy"]["text"] == "no case was run" for one in waiting):
        steps.append("Run cases: this run had none for at least one criterion.")
    return steps


def _mend_subject(scorecard: Mapping[str, Any]) -> list[str]:
    """Return what to do about a subject that failed, by its most frequent cause."""
    failures = scorecard["run"].get("failures")
    if not failures:
        return []
    cause = failures["causes"][0]["text"]
    found = _PLACED.search(cause)
    where = found[1] if found else "the subject"
    if "ModuleNotFoundError" in cause or "ImportError" in cause:
        what = (
            f"Make the module importable (install it, or set PYTHONPATH), or mend "
            f"{where}"
        )
    elif cause.startswith("timed out"):
        what = "Find out what hangs, or give the subject more time (`run --timeout S`)"
    else:
        what = f"Mend {where}: the subject fails before it answers"
    return [f"{what}. traces.jsonl has each failure whole (ext.helix)."]


def _mend_checks(waiting: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which checks to mend, and whether anything else could not be judged."""
    places: dict[str, str] = {}
    others = False
    for entry in waiting:
        blocked = [entry["blockedBy"], *(c["blockedBy"] for c in entry["openCases"])]
        for block in filter(None, blocked):
            found = _RAISED.match(block["text"])
            if found is not None:
                places.setdefault(found[1], found[2])
            elif block["text"].startswith("could not be judged"):
                others = True
    steps = [f"Mend {place}: it {what}." for place, what in list(places.items())[:3]]
    if len(places) > 3:
        steps.append(f"Mend {plural(len(places) - 3, 'more check')}: see units.jsonl.")
    if others:
        steps.append(
            "See the units with `error` in units.jsonl; `run --resume` decides them again."
        )
    return steps


def _lacks_verdict_files(text: str) -> bool:
    return text.startswith("no verdict file") or (
        "verdict file" in text and "missing" in text
    )


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def usage_line(usage: Mapping[str, Any]) -> str:
    """Return what each role used; a sum that not every call is in is `at least`."""
    said = []
    for role, figures in usage.items():
        parts = []
        if figures["inputTokens"] is not None or figures["outputTokens"] is not None:
            parts.append(
                f"{_at_least(figures['unknown'])}{figures['inputTokens'] or 0:,} tokens "
                f"in, {figures['outputTokens'] or 0:,} out"
            )
        if figures["costUsd"] is not None:
            least = _at_least(figures.get("unpriced", 0))
            parts.append(f"{least}${figures['costUsd']:,.4f}")
        if parts:
            said.append(f"{role} {', '.join(parts)}")
    return "; ".join(said)


def _at_least(left_out: int) -> str:
    return "at least " if left_out else ""
