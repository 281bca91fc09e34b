"""A run that did not come to its end: decided from its journal, as far as that goes.

Nothing is called and nothing of the run is changed: what has no verdict yet is
missing, so such a scorecard never passes what the whole run might fail. It takes the
journal as it stands; only `--resume` knows which of its lines an edit superseded.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..case import Case
from ..decide import Tally
from ..failures import SubjectFailures
from ..folder import SuiteFolder, with_thresholds
from ..journal import SUPERSEDED, TRACES, UNITS, lines_before, read_unit, spent_in
from ..pin import Pin
from ..record import record, replace
from ..refusal import Refusal
from ..scorecard import RunInfo, UsageTally, build_scorecard
from ..selection import Selection
from ..settings import Settings
from ..spread import MAX_CEILING, SpreadRule
from ..suite import Engine, Suite
from ..targets.recorded import RecordedCount, TraceFiles, index_cases, read_recorded
from ..unit import FROM_CACHE, Unit, trace_id_of
from ..verdict import not_applicable

if TYPE_CHECKING:
    from ..baseline.comparing import Comparing

NOT_DECIDED: Final = "the run was interrupted before it was decided"
EDITED: Final = (
    "what decides was edited before the run was gone on with: what was decided before "
    "that is not counted, `run --resume` tells what of it still stands"
)


@record
class _Planned:
    """One run of the subject that the journal holds or should hold."""

    number: int
    case: Case
    repeat: int


def decide_interrupted(
    folder: SuiteFolder, run_folder: Path, record: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the scorecard of what a run's journal holds; `record` is its `run.json`.

    Raises Refusal where the suite or the run can't be read.
    """
    folder = folder.of_run(record)
    selection = selection_of(record)
    settings = folder.settings()
    whole = with_thresholds(folder.load_suite(), settings)
    suite = selection.narrow(whole)
    usage = UsageTally()
    recorded = record.get("target") is None
    repeats = record.get("repeats")
    repeats = repeats if isinstance(repeats, int) and repeats > 0 else 1
    runs = _Runs()
    if not recorded:
        runs.plan(folder.cases(), selection, repeats)
    runs.read(run_folder / TRACES, folder.cases() if recorded else None, usage)
    plain = _open_tally(
        record, suite, repeats=0 if recorded else repeats, settings=settings
    )
    tally = _against(plain, record, whole, suite, settings, folder)
    before = lines_before(record)
    units = run_folder / UNITS
    for spent in spent_in(run_folder / SUPERSEDED):
        if isinstance(spent, Unit):
            if FROM_CACHE not in spent.notes:
                usage.add_unit(spent)
        elif not recorded:
            usage.add_trace(spent)
    decided = _add_units(units, before, suite, runs.planned, tally, usage)
    if plain.__class__ is not Tally:
        from ..judges.judged_again import AgainTally, take_again

        if isinstance(plain, AgainTally):
            take_again(run_folder, plain)
    total = len(runs.planned) * len(suite.criteria)
    narrowed = selection.note(whole, kept=runs.kept, of=runs.cases, what="case")
    scorecard = build_scorecard(
        suite=suite,
        suite_sha256=str(_part(record, "suite").get("sha256") or "unknown"),
        decision=tally.decide(),
        run=RunInfo(
            id=str(record.get("id") or run_folder.name),
            mode=_mode(record, suite),
            started=_text(record.get("started")),
            target=_text(record.get("target")),
            repeats=repeats,
            notes=(
                *(() if narrowed is None else (narrowed,)),
                f"the run was interrupted: {decided:,} of {total:,} units are decided",
                *((EDITED,) if before else ()),
            ),
            failures=runs.failures.to_record(runs.came_in),
        ),
        pin=_pin(record),
        usage=usage,
    )
    if record.get("pin") is None:
        return scorecard
    from ..trust.known import trusted

    return trusted(scorecard, root=folder.root, run_folder=run_folder, run=record)


class _Runs:
    """The runs of the subject, by the ids of their traces, and how those went that came.

    `cases` counts the rows of the dataset, `kept` those that the run was about,
    `came_in` the traces of runs.
    """

    def __init__(self) -> None:
        self.planned: dict[str, _Planned] = {}
        self.failures = SubjectFailures()
        self.cases = self.kept = self.came_in = 0

    def plan(self, cases: Iterable[Case], selection: Selection, repeats: int) -> None:
        """Add every run that the subject was to be called for."""
        for case in cases:
            self.cases += 1
            if selection.keeps(case):
                self.kept += 1
                for repeat in range(repeats):
                    self._add(trace_id_of(case.id, repeat), case, repeat)

    def read(
        self, path: Path, recorded: Iterable[Case] | None, usage: UsageTally
    ) -> None:
        """Read the traces that came.

        With the cases of `recorded` runs, which nobody planned, each trace is one more.
        """
        index = index_cases(() if recorded is None else recorded)
        if not path.is_file():
            return
        repeats: dict[str, int] = {}
        journal = TraceFiles.of([path], format="unitf")
        for case, trace in read_recorded(journal, index, RecordedCount()):
            usage.add_trace(trace)
            if recorded is not None:
                repeat = repeats[case.id] = repeats.get(case.id, -1) + 1
                self._add(trace.id, case, repeat)
            run = self.planned.get(trace.id)
            if run is not None:
                self.came_in += 1
                self.failures.add(
                    trace, case=run.case, sequence=run.number, repeat=run.repeat
                )

    def _add(self, trace_id: str, case: Case, repeat: int) -> None:
        self.planned[trace_id] = _Planned(len(self.planned), case, repeat)


def _open_tally(
    record: Mapping[str, Any], suite: Suite, *, repeats: int, settings: Settings
) -> Tally:
    """Return what counts the units, by the rule that the run was started with."""
    told = _part(record, "arguments")
    ceiling, judgements = told.get("ceiling"), told.get("judge_repeats")
    if ceiling.__class__ not in (int, float) or not 0 <= ceiling < MAX_CEILING:
        ceiling = settings.stability.ceiling
    rule = SpreadRule(ceiling=ceiling)
    if judgements.__class__ is not int or judgements < 2 or told.get("replay"):
        return Tally(suite, repeats=repeats, rule=rule)
    from ..judges.judged_again import AgainTally

    return AgainTally(suite, repeats=repeats, rule=replace(rule, judgements=judgements))


def _against(
    tally: Tally,
    record: Mapping[str, Any],
    whole: Suite,
    suite: Suite,
    settings: Settings,
    folder: SuiteFolder,
) -> "Tally | Comparing":
    """Return the tally, held against the baseline that the run was begun with."""
    if not any(criterion.passes.kind == "baseline" for criterion in suite.criteria):
        return tally
    from ..baseline.chosen import baseline_of_run

    found = baseline_of_run(record, settings, folder, whole)
    if found is None:
        return tally
    if isinstance(found, str):
        from ..baseline.difference import Compared

        for criterion in suite.criteria:
            tally.compare(criterion.id, Compared(digest="", pairs={}, hindrance=found))
        return tally
    from ..baseline.comparing import Comparing
    from ..baseline.pairing import Wordings

    return Comparing(
        tally, suite, found, pin=_pin(record), wordings=Wordings(folder.rows)
    )


def _add_units(
    path: Path,
    before: int,
    suite: Suite,
    planned: Mapping[str, _Planned],
    tally: "Tally | Comparing",
    usage: UsageTally,
) -> int:
    """Count what is decided, then what is not; return how many units are decided.

    The first bytes of the journal, as many as `before` says, do not count.
    """
    places = {criterion.id: n for n, criterion in enumerate(suite.criteria)}
    last: dict[tuple[str, str], int] = {}
    for offset, unit in _units(path, 0):
        usage.add_unit(unit)  # it was paid for, also where it stands no longer
        if offset < before:
            continue
        last[unit.trace_id, unit.criterion_id] = offset
    for offset, unit in _units(path, before):
        run = planned.get(unit.trace_id)
        place = places.get(unit.criterion_id)
        # An earlier line of the same unit is superseded.
        if last[unit.trace_id, unit.criterion_id] == offset:
            if run is None or place is None:
                del last[unit.trace_id, unit.criterion_id]
                continue
            sequence = run.number * len(places) + place
            tally.add(unit, case=run.case, sequence=sequence)
    decided = len(last)
    for trace_id, run in planned.items():
        for criterion in suite.criteria:
            if (trace_id, criterion.id) in last:
                continue
            sequence = run.number * len(places) + places[criterion.id]
            excluded = criterion.excludes(run.case)
            if excluded is None:
                tally.add_missing(
                    criterion_id=criterion.id,
                    case=run.case,
                    trace_id=trace_id,
                    repeat=run.repeat,
                    sequence=sequence,
                    why=NOT_DECIDED,
                )
                continue
            decided += 1
            unit = Unit(
                key="",
                case_id=run.case.id,
                criterion_id=criterion.id,
                repeat=run.repeat,
                trace_id=trace_id,
                verdict=not_applicable(excluded),
                decided_by="scope",
            )
            tally.add(unit, case=run.case, sequence=sequence)
    return decided


def _units(path: Path, offset: int) -> Iterator[tuple[int, Unit]]:
    """Yield the units of the journal from an offset on, with their own.

    A torn line is no unit.
    """
    try:
        lines = path.open("rb")
    except FileNotFoundError:
        return
    with lines:
        lines.seek(offset)
        for line in lines:
            try:
                yield offset, read_unit(line)
            except (ValueError, RecursionError):
                pass
            offset += len(line)


# -- run.json, which somebody may have edited -------------------------------------


def selection_of(record: Mapping[str, Any]) -> Selection:
    """Return which cases and criteria a run was about, by its `run.json`."""
    kept = _part(record, "selection")

    def globs(name: str) -> tuple[str, ...]:
        named = kept.get(name)
        return tuple(map(str, named)) if isinstance(named, list) else ()

    return Selection(
        cases=globs("cases"), category=globs("category"), criteria=globs("criteria")
    )


def _pin(record: Mapping[str, Any]) -> Pin | None:
    pin = record.get("pin")
    if not isinstance(pin, Mapping):
        return None
    try:
        return Pin(
            provider=str(pin.get("provider")),
            model=str(pin.get("model")),
            temperature=None if pin.get("temperature") is None else 0,
        )
    except ValueError as error:
        raise Refusal(f"run.json: `pin`: {error}") from error


def _mode(record: Mapping[str, Any], suite: Suite) -> Engine:
    modes: tuple[Engine, ...] = ("code-written", "native-matrix")
    return next((m for m in modes if m == record.get("mode")), suite.engine)


def _part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = record.get(name)
    return part if isinstance(part, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
