"""Who judges: the command line and `evals.toml` turned into a judge that is ready.

Whatever keeps a judge from judging is said here, before anything runs: exit 2 for a
judge that is not named rightly, 4 for one that can't be used (no SDK, no credentials).
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..folder import SuiteFolder
from ..pin import Pin, same_model
from ..record import record, replace
from ..refusal import CANT_CARRY_OUT, USAGE, Refusal
from ..safe_text import printable
from ..settings import JudgeSettings, Settings
from ..suite import Suite
from ..unit import Judging, NoJudge

if TYPE_CHECKING:
    from .cache import JudgeCache
    from .judge import ModelJudge
    from .replay import ReplayJudge

HOW_TO_JUDGE: Final = (
    "no judge was asked: give --judge PROVIDER:MODEL, set [judge] in evals.toml, "
    "or take verdict files with --replay DIR"
)


@record(kw_only=True)
class ChosenJudge:
    """Who judges, with the pin, what to say where nobody does, and how to let go.

    `notes` stand beside the gate, `close` are the providers and the cache, `cache` what
    was taken from earlier runs; `replay` are recorded verdicts, where they judge.
    """

    judging: Judging
    pin: Pin | None = None
    verifier: Pin | None = None
    why_missing: str = HOW_TO_JUDGE
    notes: tuple[str, ...] = ()
    cache: JudgeCache | None = None
    replay: ReplayJudge | None = None
    resources: tuple[Any, ...] = ()

    def close(self) -> None:
        """Close the connections of the providers, and the cache."""
        for resource in self.resources:
            resource.close()


def wanted_judge(args: Namespace, settings: Settings) -> JudgeSettings | None:
    """Return the judge that the command line or `evals.toml` names, if any.

    Raises Refusal where it is not named rightly.
    """
    if args.judge:
        return named_model(args.judge, settings.judge, option="--judge")
    return settings.judge


def open_judge(
    args: Namespace, settings: Settings, suite: Suite, folder: SuiteFolder
) -> ChosenJudge:
    """Return who judges. Raises Refusal."""
    if args.replay:
        return _replay(Path(args.replay), suite, folder)
    if args.no_judge:
        return ChosenJudge(
            judging=NoJudge(), why_missing="no judge was asked (--no-judge)"
        )
    wanted = wanted_judge(args, settings)
    if wanted is None or not any(criterion.judge for criterion in suite.criteria):
        return ChosenJudge(judging=NoJudge())
    if suite.engine == "native-matrix" and not args.judge:
        return ChosenJudge(
            judging=NoJudge(),
            why_missing="no judge was asked: a native-only suite judges through prep "
            "and aggregate, or with --judge or --replay",
        )
    return open_models(args, wanted, settings, suite, folder)


def open_models(
    args: Namespace,
    wanted: JudgeSettings,
    settings: Settings,
    suite: Suite,
    folder: SuiteFolder,
) -> ChosenJudge:
    """Return the model that judges, behind it the verifier where there is one."""
    from ..labels.leakage import check_examples

    check_examples(suite, folder, settings, traces=_named_traces(args, settings))
    second = settings.verifier
    if second is not None and same_model(second.judge.model, wanted.model):
        raise Refusal(
            f"evals.toml: the verifier is {second.judge.model}, as is the judge: a second "
            "judge that is to refute the first must be another model"
        )
    cache = _cache(args, wanted, folder)
    judge, provider = model_judge(wanted, settings, suite, cache=cache)
    _affordable(args, settings, judge)
    warn_of(judge.pin)
    resources: tuple[Any, ...] = (provider,)
    judging: Judging = judge
    if second is not None:
        from .verifier import VerifiedJudge

        verifier, other = model_judge(second.judge, settings, suite, cache=cache)
        _affordable(args, settings, verifier)
        warn_of(verifier.pin)
        resources += (other,)
        judging = VerifiedJudge(judge, verifier, suite.subject, passes=second.passes)
    if cache is not None:
        resources += (cache,)
    return ChosenJudge(
        judging=judging,
        pin=judge.pin,
        verifier=None if second is None else verifier.pin,
        cache=cache,
        resources=resources,
    )


def _named_traces(args: Namespace, settings: Settings) -> Sequence[Path]:
    """The files of traces that the command line names, with how they are read."""
    names = getattr(args, "traces", None)
    if not names:
        return ()
    from ..targets.recorded import TraceFiles

    return TraceFiles.of(
        map(Path, names), format=args.format, mapping=settings.trace_map
    )


def model_judge(
    wanted: JudgeSettings,
    settings: Settings,
    suite: Suite,
    *,
    cache: JudgeCache | None = None,
) -> tuple[ModelJudge, Any]:
    """Return a judge that is ready to be asked, and its provider. Raises Refusal."""
    from .judge import MAX_TOKENS, TIMEOUT, Limits, ModelJudge
    from .prices import price_of
    from .weather import DEADLINE

    pin, provider = open_model(wanted, "the judge")
    judge = ModelJudge(
        provider=provider,
        pin=pin,
        subject=suite.subject,
        limits=Limits(
            max_tokens=wanted.max_tokens or MAX_TOKENS,
            timeout=wanted.timeout or TIMEOUT,
            deadline=wanted.deadline or DEADLINE,
        ),
        price=price_of(wanted.model, settings.prices),
        cache=cache,
        form=wanted.answer_format or "",
    )
    return judge, provider


def open_model(wanted: JudgeSettings, who: str) -> tuple[Pin, Any]:
    """Return the pin of a model and its provider, ready to be asked. Raises Refusal.

    `who` is what the model is to the user, as in "the judge".
    """
    from ..providers import ProviderError, ProviderOptions, open_provider

    temperature = None if wanted.sampling == "model-default" else 0.0
    pin = Pin(provider=wanted.provider, model=wanted.model, temperature=temperature)
    options = ProviderOptions(
        base_url=wanted.base_url,
        answer_format=wanted.answer_format,
        limit_parameter=wanted.limit_parameter,
    )
    try:
        return pin, open_provider(wanted.provider, options)
    except ProviderError as error:
        named = error.kind in ("unknown-provider", "bad-request")
        raise Refusal(
            f"{who}: {error.message}",
            exit_code=USAGE if named else CANT_CARRY_OUT,
        ) from error


def named_model(
    text: str, configured: JudgeSettings | None, *, option: str
) -> JudgeSettings:
    """Return the model that an option names, with what is configured of its provider.

    Raises Refusal where it is not named rightly.
    """
    provider, colon, model = text.partition(":")
    if not colon or not provider.strip() or not model.strip():
        raise Refusal(
            f"{option} {text!r} must read PROVIDER:MODEL, with the exact model id; "
            "there is no default model"
        )
    if configured is not None and configured.provider == provider:
        return replace(configured, model=model)
    return JudgeSettings(provider=provider, model=model)


def _cache(
    args: Namespace, wanted: JudgeSettings, folder: SuiteFolder
) -> JudgeCache | None:
    if not wanted.cache:
        return None
    return suite_cache(folder, read=not getattr(args, "no_cache", False))


def suite_cache(folder: SuiteFolder, *, read: bool = True) -> JudgeCache:
    """Return the suite's cache of judges' answers; one to write to, without `read`."""
    import time

    from .cache import FILE, JudgeCache

    return JudgeCache(
        folder.runs / FILE, day=lambda: int(time.time() // 86_400), read=read
    )


def _affordable(args: Namespace, settings: Settings, judge: ModelJudge) -> None:
    """Refuse a budget in dollars that nobody could keep."""
    if judge.price is None and (
        getattr(args, "budget_usd", None) or settings.budget_usd
    ):
        raise Refusal(
            f"a budget in dollars needs the price of {judge.pin.model}, which is not "
            f'known: set [prices."{judge.pin.model}"] with `input` and `output` (US '
            "dollars for a million tokens) in evals.toml, or give --budget-tokens"
        )


def warn_of(pin: Pin) -> None:
    """Say on stderr what a user should know of the pin before it costs anything."""
    for line in pin.warnings:
        print(f"warning: {printable(line)}", file=sys.stderr)


def _replay(path: Path, suite: Suite, folder: SuiteFolder) -> ChosenJudge:
    """Return the verdicts of a folder as the judge, as `aggregate` would count them.

    Where the packets that they answer lie beside them, a verdict on what was edited
    since is left out: its unit is missing.
    """
    from ..matrix.packet_index import packets_of
    from .replay import ReplayJudge

    if not path.is_dir():
        raise Refusal(f"--replay {path}: there is no such folder")
    packets = packets_of(path)
    judging = ReplayJudge(
        path,
        subject=suite.subject,
        criteria=[c.id for c in suite.criteria],
        packets=packets,
    )
    if judging.empty:
        for line in judging.lines():
            print(f"warning: {printable(line)}", file=sys.stderr)
        raise Refusal(
            f"--replay {path}: no verdict is in this folder: give the one that the "
            "judging agents' verdict files are in"
        )
    notes: Sequence[str] = (_OF_NO_PACKETS,)
    if packets is not None:
        notes = _since_packets(judging, packets, suite, folder)
    for line in judging.lines():
        print(f"warning: {printable(line)}", file=sys.stderr)
    return ChosenJudge(
        judging=judging,
        replay=judging,
        pin=judging.pin,
        notes=(*judging.notes, *notes),
        why_missing=f"no verdict file of {path.name} decides it",
    )


_OF_NO_PACKETS: Final = (
    "no packets lie beside the verdicts, so nobody can tell whether a judge or a case was "
    "edited after they were given"
)


_OF_NO_RUNS: Final = (
    "the runs that were judged do not lie beside the packets as they were written, so "
    "nobody can tell whether the verdicts are on the runs that are here"
)


def _since_packets(
    judging: ReplayJudge, packets: Path, suite: Suite, folder: SuiteFolder
) -> Sequence[str]:
    """Leave out what was judged before an edit, as `aggregate` refuses it.

    Returns what is to be said beside the gate of what else the verdicts were given before.
    """
    from ..matrix.packet_index import CASES_FILE, INDEX_FILE, read_index
    from ..matrix.readiness import edited_cases, judged_runs, leave_out_stale, outlived
    from ..targets.recorded import index_cases

    try:
        index = read_index(packets)
    except (OSError, ValueError) as error:
        judging.problems.append(f"{packets / INDEX_FILE} can't be read: {error}")
        return (_OF_NO_PACKETS,)
    leave_out_stale(index=index, packets=packets, suite=suite, judging=judging)
    now = index_cases(folder.cases())
    cases: dict[str, str] = {}
    if (packets / CASES_FILE).is_file():
        judged = list(folder.cases(packets / CASES_FILE))
        cases = {case.id: case.digest for case in judged}
        judging.problems += edited_cases(judged, now)
    runs = judged_runs(index, packets)
    judging.judged_on(cases=cases, runs=runs or {})
    notes = outlived(index, suite, now)
    return notes if runs is not None else (*notes, _OF_NO_RUNS)
