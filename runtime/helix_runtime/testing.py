"""The suite under pytest: a test for each case x criterion, and one for the gate.

The run is that of `run`, once a session: the tests only look up its units. Workers of
pytest-xdist share one run: the first to come carries it out, the others wait for it.
`-k` and node ids choose what is reported, not what is run.

A unit that fails, or is uncertain or in error, fails its test where the gate stands
on each single unit; where the criterion only advises, or tolerates a rate of failures,
its test is expected to fail (xfail) with the reason. A unit out of scope is skipped,
and so is one without a verdict (no judge was asked): for all of those together the
gate's test fails, once, and sums up. So pytest's exit code is 0 exactly where the gate
passes. JUnit says the same of each unit. Where the gate's test is not among those that
were chosen, the first unit that the run did not get to fails in its place: a run that
could not be carried out is never green.

With EVALS_CODE_ONLY=1 in the environment only the criteria that code decides are run,
and no judge is asked: the run is that of `run --no-judge --criteria class:code`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from .case import Case
from .criterion import Criterion
from .folder import SuiteFolder, with_thresholds
from .names import case_label, in_test_id
from .record import field, record
from .refusal import Refusal
from .runner import needs_every_unit
from .safe_text import printable, printable_lines
from .selection import Selection
from .suite import Suite
from .unit import with_defaults

_MAX_CRITIQUE: Final = 2000
_OPEN: Final = ("error", "uncertain", "missing")
_RUN: Final = "runs/pytest-{}"
_REFUSED: Final = "refused.json"
_GATE_TEST: Final = "test_gate"
_CODE_ONLY: Final = "EVALS_CODE_ONLY"
_CODE_CRITERIA: Final = "class:code"


@record(kw_only=True)
class _Unit:
    """A unit as its test shows it."""

    result: str
    critique: str
    repeat: int
    refs: Sequence[Mapping[str, str]] = ()


class Evals:
    """The suite that this runtime is part of, as pytest's tests."""

    def __init__(self) -> None:
        runtime = Path(__file__).resolve().parent
        self._folder = SuiteFolder(
            root=runtime.parents[1], package=(__package__ or "").rpartition(".")[0]
        )
        self._suite: Suite | None = None
        self._run: _Finished | None = None
        self._names: Mapping[str, str | None] = {}
        self._code_only = os.environ.get(_CODE_ONLY, "").strip() not in ("", "0")
        self._gate_is_tested = False
        self._has_said_why = False

    def parametrize(self, metafunc: Any) -> None:
        """Give a test that takes `unit` each case x criterion, by their ids."""
        if "unit" not in metafunc.fixturenames:
            return
        plugins = metafunc.config.pluginmanager
        if not plugins.is_registered(self):
            plugins.register(self)
        try:
            cases = self._cases()
            units = [
                (case_id, criterion.id)
                for case_id in cases
                for criterion in self.suite.criteria
            ]
        except Refusal as refusal:
            raise _pytest().Collector.CollectError(_said(refusal)) from None
        ids = [
            f"{printable(in_test_id(case, cases[case]))}/{printable(criterion)}"
            for case, criterion in units
        ]
        metafunc.parametrize("unit", units, ids=ids)

    def pytest_collection_finish(self, session: Any) -> None:
        """Look whether the gate's test is among those that were chosen."""
        self._gate_is_tested = any(item.name == _GATE_TEST for item in session.items)

    def check(self, unit: tuple[str, str]) -> None:
        """Pass, fail, xfail or skip, as the unit of (case id, criterion id) came out.

        Repeats of one case are one test: the worst of them counts.
        """
        case_id, criterion_id = unit
        run = self._finished()
        if run.refused is not None:
            self._fail_once(f"the suite was not run: {run.refused}")
            _pytest().skip("the suite was not run: the test that failed says why")
        criterion = self.suite.criterion(criterion_id)
        assert criterion is not None
        units = run.of(unit)
        worst = _worst(units)
        if worst.result == "pass":
            return
        if worst.result == "na":
            _pytest().skip(f"na: {printable(worst.critique, _MAX_CRITIQUE)}")
        if worst.result == "missing":
            if criterion.criterion_class == "code":
                self._fail_once(
                    f"{printable(criterion.id)} was not decided ({printable(run.name)}): "
                    f"{printable(worst.critique, _MAX_CRITIQUE)}"
                )
            _pytest().skip(f"no verdict: {printable(worst.critique, _MAX_CRITIQUE)}")
        case = case_label(case_id, self._names.get(case_id))
        text = _describe(worst, case, criterion, run.name, repeats=len(units))
        if needs_every_unit(criterion):
            _fail(text)
        why = "advises only" if not criterion.gates else f"passes at {criterion.passes}"
        _pytest().xfail(f"{criterion.severity}, {why}: {text}")

    def check_gate(self) -> None:
        """Pass where the gate passes; fail with its reasons where it does not."""
        run = self._finished()
        if run.refused is not None:
            _fail(f"the suite was not run: {run.refused}")
        gate = run.scorecard["gate"]
        if gate["verdict"] == "pass":
            return
        lines = [f"the gate is {gate['verdict']} ({run.name})"]
        lines += _summary(run.scorecard)
        _fail("\n".join(printable(line, _MAX_CRITIQUE) for line in lines))

    def _fail_once(self, why: str) -> None:
        """Fail the first test that comes here, where the gate's is not there to."""
        if not (self._gate_is_tested or self._has_said_why):
            self._has_said_why = True
            _fail(why)

    @property
    def suite(self) -> Suite:
        """The suite that is run, with the thresholds of `evals.toml`. Raises Refusal."""
        if self._suite is None:
            suite = with_thresholds(self._folder.load_suite(), self._folder.settings())
            self._suite = self._selection.narrow(suite)
        return self._suite

    @property
    def _selection(self) -> Selection:
        return Selection(criteria=[_CODE_CRITERIA] if self._code_only else [])

    # -- the population ----------------------------------------------------------------

    def _cases(self) -> Mapping[str, str | None]:
        """Return the ids of the cases that the run will be about, with their names."""
        self._names = {case.id: case.item or case.scenario for case in self._read()}
        return self._names

    def _read(self) -> Iterator[Case]:
        from .commands.run import read_as
        from .targets.recorded import (
            RecordedCount,
            configured_traces,
            index_cases,
            read_recorded,
        )

        folder = self._folder
        folder.scan_dataset(lambda row: True)
        settings = folder.settings()
        traces = read_as(configured_traces(settings, folder.root), None, settings)
        if traces:
            index = index_cases(folder.cases())
            runs = read_recorded(traces, index, RecordedCount())
            yield from (case for case, _ in runs)
        elif self.suite.engine != "native-matrix":
            yield from folder.cases()

    # -- the run -----------------------------------------------------------------------

    def _finished(self) -> _Finished:
        if self._run is None:
            shared = os.environ.get("PYTEST_XDIST_TESTRUNUID")
            if shared:
                self._run = self._shared_run(shared)
            else:
                self._run = self._carry_out(None)
        return self._run

    def _shared_run(self, session: str) -> _Finished:
        """Carry the run out in the first worker that comes; read it in the others."""
        from .lock import FolderLock

        out = self._folder.root / _RUN.format(session[:32])
        out.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(out, name="session.lock")
        lock.take_when_free()
        with lock:
            if (out / _REFUSED).exists():
                text = json.loads((out / _REFUSED).read_text("utf-8"))
                return _Finished(name=out.name, refused=text)
            if (out / "scorecard.json").exists():
                return _read(out, f"runs/{out.name}")
            finished = self._carry_out(out)
            if finished.refused is not None:
                refused = json.dumps(finished.refused)
                (out / _REFUSED).write_text(refused, encoding="utf-8")
            return finished

    def _carry_out(self, out: Path | None) -> _Finished:
        from .command_line import build_parser
        from .commands.run import run_suite

        words = ["run", "--quiet"]
        if self._code_only:
            words += ["--no-judge", "--criteria", _CODE_CRITERIA]
        if out is not None:
            words += ["--out", str(out)]
        args = build_parser("pytest").parse_args(words)
        try:
            result = run_suite(args, self._folder)
        except Refusal as refusal:
            return _Finished(name="", refused=_said(refusal))
        return _read(result.out, f"runs/{result.out.name}")


@record(kw_only=True)
class _Finished:
    """A run that is over: its units by (case id, criterion id), or why it was not."""

    name: str
    refused: str | None = None
    scorecard: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[tuple[str, str], list[_Unit]] = field(default_factory=dict)
    why_open: Mapping[str, str] = field(default_factory=dict)

    def of(self, unit: tuple[str, str]) -> list[_Unit]:
        """Return the units of a case and a criterion, the missing ones too."""
        found = list(self.units.get(unit, ()))
        run = self.scorecard["run"]
        wanted = run["repeats"] if run["target"] is not None else 1
        there = {one.repeat for one in found}
        why = self.why_open.get(unit[1], "no verdict")
        found += [
            _Unit(result="missing", critique=why, repeat=repeat)
            for repeat in range(wanted)
            if repeat not in there
        ]
        return found


def _read(out: Path, name: str) -> _Finished:
    from .scorecard import read_scorecard

    units: dict[tuple[str, str], list[_Unit]] = {}
    with (out / "units.jsonl").open("rb") as lines:
        for line in lines:
            record = with_defaults(json.loads(line))
            unit = _Unit(
                result=record["result"],
                critique=record["critique"],
                repeat=record["repeat"],
                refs=record.get("refs") or (),
            )
            place = (record["caseId"], record["criterionId"])
            units.setdefault(place, []).append(unit)
    scorecard = read_scorecard(out / "scorecard.json")
    why_open = {
        row["criterionId"]: (row["blockedBy"] or {}).get("text") or row["reason"]
        for row in scorecard["calibration"]
    }
    return _Finished(name=name, scorecard=scorecard, units=units, why_open=why_open)


def _worst(units: Sequence[_Unit]) -> _Unit:
    order = ("fail", *_OPEN, "pass", "na")
    return min(units, key=lambda unit: (order.index(unit.result), unit.repeat))


def _describe(
    unit: _Unit, case: str, criterion: Criterion, run: str, *, repeats: int
) -> str:
    of = f" (repeat {unit.repeat} of {repeats})" if repeats > 1 else ""
    lines = [f"{printable(criterion.id)} on {printable(case)}: {unit.result}{of}"]
    lines.append(f"  criterion: {printable(criterion.statement, _MAX_CRITIQUE)}")
    lines += [f"  {line}" for line in printable_lines(unit.critique[:_MAX_CRITIQUE])]
    for ref in unit.refs[:5]:
        place = f"{ref['obs']}.{ref['path']}" if ref["path"] else ref["obs"]
        lines.append(f"  at {printable(place)}: {printable(ref['value'], 200)}")
    lines.append(f"  run: {printable(run)}")
    return "\n".join(lines)


def _summary(scorecard: Mapping[str, Any]) -> list[str]:
    """Return why the gate is no pass and what to do, each reason once."""
    from .report.words import failure_lines, next_steps, reservations

    lines = [f"  {note}" for note in reservations(scorecard)]
    said: set[str] = set()
    for component in scorecard["gate"]["components"]:
        if component["verdict"] == "pass":
            continue
        fresh = [reason for reason in component["because"] if reason not in said]
        said.update(fresh)
        lines += [f"  {component['id']}: {reason}" for reason in fresh]
    for cause, cases in failure_lines(scorecard):
        lines.append(f"  {cause}" + (f" [{cases}]" if cases else ""))
    lines += [
        f"  no verdict on {row['counts']['missing']} units of "
        f"`{row['criterionId']}`: {row['blockedBy']['text']}"
        for row in scorecard["criteria"]
        if row["counts"]["missing"] and row["blockedBy"]
    ]
    lines += [f"  next: {step}" for step in next_steps(scorecard)]
    return lines


def _said(refusal: Refusal) -> str:
    lines = [line for text in refusal.lines for line in printable_lines(text)]
    return "\n".join(lines)


def _fail(text: str) -> NoReturn:
    _pytest().fail(text, pytrace=False)
    raise AssertionError(text)


def _pytest() -> Any:
    """Return pytest, which a suite needs for its tests alone."""
    from importlib import import_module

    return import_module("pytest")
