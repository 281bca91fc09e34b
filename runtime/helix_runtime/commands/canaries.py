"""`canaries`: attempts to trick the judges, and how often they are tricked."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import partial

from ..folder import SuiteFolder, with_thresholds
from ..judges.canaries import BUILT_IN, Canary, CanaryCount, built_in, of_judge, thinned
from ..judges.judge import ModelJudge
from ..judges.judging import HOW_TO_JUDGE, model_judge, wanted_judge
from ..labels.leakage import check_examples
from ..record import replace
from ..refusal import CANT_CARRY_OUT, Refusal
from ..safe_text import printable
from ..selection import Selection
from ..settings import JudgeSettings, Settings
from ..suite import Suite
from ..verdict import Result

SWAYED = 1
OPEN = 3


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Put the canaries before each judge.

    The exit code is 0 where none was misled, 1 where one was, 3 where some could not be
    judged, or a judge decided no known-bad run, or no known-good one.
    """
    settings = folder.settings()
    wanted = wanted_judge(args, settings)
    if wanted is None:
        raise Refusal(
            HOW_TO_JUDGE.replace(", or take verdict files with --replay DIR", "")
        )
    with redirect_stdout(sys.stderr):
        suite = with_thresholds(folder.load_suite(), settings)
        suite = Selection(cases=[], category=[], criteria=args.criteria).narrow(suite)
    check_examples(suite, folder, settings)
    counts: list[CanaryCount] = []
    judges = [("", wanted)]
    if settings.verifier is not None:
        judges.append(("verifier ", settings.verifier.judge))
    for role, judge in judges:
        counts += _try(args, settings, suite, judge, role)
    if args.json:
        print(json.dumps([count.to_record() for count in counts], indent=2))
    else:
        _show(counts)
    if any(count.misled for count in counts):
        return SWAYED
    return OPEN if any(count.errors or count.untried for count in counts) else 0


def _try(
    args: Namespace, settings: Settings, suite: Suite, wanted: JudgeSettings, role: str
) -> Iterator[CanaryCount]:
    groups = [(BUILT_IN, list(built_in()))]
    for criterion in suite.criteria:
        found = list(of_judge(criterion, suite.subject))
        if found:
            groups.append((criterion.id, found))
    for name, canaries in groups:
        subject = canaries[0].subject
        judge, provider = model_judge(wanted, settings, replace(suite, subject=subject))
        try:
            count = CanaryCount(name=f"{role}{wanted.model}: {name}")
            tried = thinned(canaries, args.limit)
            _judge_all(judge, tried, count, args.concurrency or settings.concurrency)
        finally:
            provider.close()
        if judge.fatal is not None:
            raise Refusal(f"the judge: {judge.fatal}", exit_code=CANT_CARRY_OUT)
        yield count


def _judge_all(
    judge: ModelJudge, canaries: list[Canary], count: CanaryCount, concurrency: int
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(concurrency) as pool:
        results = pool.map(partial(_judge, judge), canaries)
        for canary, result in zip(canaries, results, strict=True):
            count.add(canary, result)


def _judge(judge: ModelJudge, canary: Canary) -> Result:
    found = judge.judge(canary.criterion, canary.case, canary.trace, 0)
    assert found is not None
    return found.verdict.result


def _show(counts: list[CanaryCount]) -> None:
    for count in counts:
        print(printable(count.name))
        print(f"  false pass  {_rate(count.false_pass, count.bad)} of known-bad runs")
        print(f"  false fail  {_rate(count.false_fail, count.good)} of known-good runs")
        if count.abstained:
            print(f"  {count.abstained} abstained")
        for kind in count.untried:
            print(
                f"  it decided no known-{kind} run: whether it can be misled on one is "
                "not known"
            )
        if count.errors:
            print(f"  {count.errors} could not be judged")
        for line in count.misled[:20]:
            print(f"  misled: {printable(line)}")


def _rate(misled: int, of: int) -> str:
    share = f" ({100 * misled / of:.1f} %)" if of else ""
    return f"{misled}/{of}{share}"
