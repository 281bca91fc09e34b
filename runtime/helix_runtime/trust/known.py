"""What a run knows of its judges: how they did against labels, and what that makes of it.

`validation.json` tells of judges, `run.json` who judged the run. Where one of the file's
judges is the run's, the scorecard's `validation` is filled in; where it was another one,
that is said. No verdict and no gate hangs on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..pin import Pin
from ..record import record
from ..refusal import Refusal
from ..scorecard import masked_digest, rounded, rounded_range
from ..suite import Suite
from ..unit import Unit
from .correction import Observed, correct
from .judged import JournalEdited, judged_in_run
from .validation import Measurement
from .validation_file import (
    FILE_NAME,
    Validated,
    ValidationFile,
    WhoJudges,
    pin_record,
    read_validation,
)

NOTE: Final = "validation: "
"""How each note of a scorecard begins that is on how far a judge is validated."""


# -- who judged ------------------------------------------------------------------------


def judges_record(suite: Suite, *, verifies: Sequence[str] = ()) -> dict[str, Any]:
    """Return what `run.json` keeps of the suite's judges, beside the pins.

    `verifies` are the results that a second judge is asked about.
    """
    from ..judges.prompt import PROMPT_DIGEST
    from ..matrix.packet_index import judge_digests

    return {
        "prompt": PROMPT_DIGEST,
        "verifies": list(verifies),
        "of": judge_digests(suite),
    }


def who_judges(suite: Suite, pin: Pin) -> dict[str, WhoJudges]:
    """Return who judges, by criterion, where this model does, and no second one."""
    return who_judged({"pin": pin.to_record(), "judges": judges_record(suite)})


def who_judged(run: Mapping[str, Any]) -> dict[str, WhoJudges]:
    """Return who judged a run, by criterion, from its `run.json`.

    Nothing where nobody did, or no single model stands behind the verdicts; nor where
    an earlier runtime wrote it. Raises Refusal where it was edited to what can't be.
    """
    judges, pin, verifier = (run.get(key) for key in ("judges", "pin", "verifier"))
    if judges is None or pin is None:
        return {}
    try:
        found = {
            str(criterion_id): WhoJudges(
                judge=str(digest),
                prompt=str(judges["prompt"]),
                pin=pin_record(pin),
                verifier=None if verifier is None else pin_record(verifier),
                verifies=tuple(str(result) for result in judges["verifies"]),
            )
            for criterion_id, digest in judges["of"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        name = str(run.get("id"))[:80]
        raise Refusal(
            f"run.json of {name}: who judged can't be read: {error}"
        ) from error
    return found


# -- what it makes of a run ------------------------------------------------------------


@record(kw_only=True)
class Trust:
    """The `validation` of each criterion that was judged, and what to say of it."""

    blocks: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]


def read_held(root: Path) -> ValidationFile:
    """Return what the suite's `validation.json` holds. Raises Refusal."""
    path = root / FILE_NAME
    try:
        return read_validation(path)
    except OSError as error:
        raise Refusal(f"{FILE_NAME} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise Refusal(
            f"{FILE_NAME} can't be read: {error}. Mend it or take the version before; "
            "without the file all judges are unvalidated"
        ) from error


def trust_in(
    held: ValidationFile, who: Mapping[str, WhoJudges], run_folder: Path
) -> Trust:
    """Return how far the judges of a run can be trusted, and its corrected rates.

    Raises OSError where the run's journal can't be read, JournalEdited where it was
    edited.
    """
    known, outdated = known_of(held, who)
    notes = [f"{NOTE}{why}: run `validate` again" for why in outdated]
    observed: dict[str, dict[Observed, int]] = {}
    if known:
        observed = observed_in(
            unit for unit in judged_in_run(run_folder) if unit.criterion_id in known
        )
    dev_only = [
        criterion_id
        for criterion_id, found in known.items()
        if found.enough and found.split == "dev"
    ]
    if dev_only:
        notes.append(
            f"{NOTE}measured on dev alone, on which a judge is tuned: "
            f"{', '.join(dev_only)} (`validate --split test`, once)"
        )
    return Trust(
        blocks={
            criterion_id: block(
                found, observed.get(criterion_id, {}), seed=criterion_id
            )
            for criterion_id, found in known.items()
        },
        notes=tuple(notes),
    )


def known_of(
    held: ValidationFile, who: Mapping[str, WhoJudges]
) -> tuple[dict[str, Measurement], list[str]]:
    """Return how judges were measured, and a sentence of each that was another one then."""
    known: dict[str, Measurement] = {}
    outdated: list[str] = []
    for criterion_id, judge in who.items():
        found = best(held, criterion_id, judge)
        if found is not None:
            known[criterion_id] = found.measurement
        elif before := held.of(criterion_id):
            outdated.append(_stale(before, judge))
    return known, outdated


def best(held: ValidationFile, criterion_id: str, who: WhoJudges) -> Validated | None:
    """Return what is known of a judge: on enough cases before on few, test before dev."""
    found = [one for one in held.of(criterion_id) if one.who == who]
    return max(
        found,
        key=lambda one: (one.measurement.enough, one.measurement.split == "test"),
        default=None,
    )


def _stale(before: Iterable[Validated], now: WhoJudges) -> str:
    """Say why what is known of other judges of a criterion says nothing of this one."""
    nearest = min(before, key=lambda one: len(one.who.differs(now)))
    why = " and ".join(nearest.who.differs(now))
    return f"the judge of {nearest.criterion_id} is unvalidated since {why}"


def observed_in(units: Iterable[Unit]) -> dict[str, dict[Observed, int]]:
    """Count the cases of each criterion by their passes and their decided verdicts."""
    cases: dict[str, dict[str, list[int]]] = {}
    for unit in units:
        result = unit.verdict.result
        if result == "pass" or result == "fail":
            of_case = cases.setdefault(unit.criterion_id, {})
            found = of_case.setdefault(unit.case_id, [0, 0])
            found[0] += result == "pass"
            found[1] += 1
    counted: dict[str, dict[Observed, int]] = {}
    for criterion_id, those in cases.items():
        groups = counted[criterion_id] = {}
        for passes, decided in those.values():
            groups[passes, decided] = groups.get((passes, decided), 0) + 1
    return counted


def block(
    measured: Measurement, observed: Mapping[Observed, int], *, seed: str
) -> dict[str, Any]:
    """Return the scorecard's `validation` of a judge that was measured.

    `corrected` is the share of passes among what the judge decided in the run, and
    `interval` its 95 % interval; both null where the judge tells nothing or decided
    nothing.
    """
    rate, interval = correct(measured.outcomes, observed, seed=seed) or (None, None)
    return {
        "status": measured.status,
        "tpr": rounded(measured.tpr),
        "tnr": rounded(measured.tnr),
        "corrected": rounded(rate),
        "interval": rounded_range(interval),
    }


# -- on the scorecard ------------------------------------------------------------------


def with_trust(scorecard: Mapping[str, Any], trust: Trust) -> dict[str, Any]:
    """Return a scorecard with what is known of its judges, and its digest anew.

    What it said of them before is gone. Nothing else of it changes.
    """
    filled = dict(scorecard)
    filled["criteria"] = [
        (
            {
                **one,
                "validation": {**_UNKNOWN, **trust.blocks.get(one["criterionId"], {})},
            }
            if one["class"] != "code"
            else one
        )
        for one in scorecard["criteria"]
    ]
    run = dict(scorecard["run"])
    failures = run.pop("failures", None)
    notes = [note for note in run.pop("notes", ()) if not note.startswith(NOTE)]
    if notes or trust.notes:
        run["notes"] = [*notes, *trust.notes]
    if failures is not None:
        run["failures"] = failures
    filled["run"] = run
    filled["digest"] = masked_digest(filled)
    return filled


_UNKNOWN: Final[Mapping[str, Any]] = {
    "status": "unvalidated",
    "tpr": None,
    "tnr": None,
    "corrected": None,
    "interval": None,
}


def trusted(
    scorecard: dict[str, Any], *, root: Path, run_folder: Path, run: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a run's scorecard with what the suite knows of its judges by now.

    `run` is its `run.json`. It is the very same where nothing is new. Raises Refusal.
    """
    who = who_judged(run)
    if not who:
        return scorecard
    try:
        filled = with_trust(scorecard, trust_in(read_held(root), who, run_folder))
    except (FileNotFoundError, JournalEdited):
        # Its journal is gone, or was edited: what was known of it stands.
        return scorecard
    except OSError as error:
        raise Refusal(f"{error.filename}: {error.strerror or error}") from error
    return scorecard if filled == scorecard else filled
