"""`helix-gen packets`: what a host's agents judge, from a spec and recorded traces."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helix_runtime.refusal import Refusal
from helix_runtime.safe_text import printable

from . import console
from .inputs import gather, missing_traces, no_model
from .problems import has_errors

if TYPE_CHECKING:
    from helix_runtime.formats.mapped import Mapped

    from .suite.model import Suite


def _mapping(path: Path | None) -> "Mapped | None":
    """Return the mapping of an evals.toml. Raises Refusal."""
    if path is None:
        return None
    from helix_runtime.settings import read_settings

    if not path.is_file():
        raise Refusal(f"{path}: there is no such file")
    mapping = read_settings(path).trace_map
    if mapping is None:
        raise Refusal(f"{path}: has no [trace_map]")
    return mapping


def execute(
    *,
    spec: str,
    traces: Sequence[Path],
    model: str,
    out: Path,
    format: str | None,
    trace_map: Path | None,
    overlay: Path | None,
    target: str | None,
    items: Sequence[str],
    quiet: bool,
) -> int:
    """Write the packets and say what they hold; return the exit code."""
    gathered = gather(
        spec=spec, overlay=overlay, items=items, engine="native-matrix", target=target
    )
    inputs = gathered.inputs
    faults = [*gathered.problems, *missing_traces(traces)]
    if not model.strip():
        faults.append(no_model("--model"))
    from .generate import resolve_inputs, with_those_of_the_spec

    if inputs is None or faults:
        console.tell_problems(with_those_of_the_spec(faults, inputs))
        return 2
    resolved = resolve_inputs(inputs)
    console.tell_problems(resolved.problems)
    if resolved.suite is None or has_errors(resolved.problems):
        return 2
    return _write(
        resolved.suite,
        traces,
        spec=spec,
        overlay=overlay,
        target=target,
        items=items,
        model=model,
        out=out,
        format=format,
        trace_map=trace_map,
        quiet=quiet,
    )


def _write(
    suite: "Suite",
    traces: Sequence[Path],
    *,
    spec: str,
    overlay: Path | None,
    target: str | None,
    items: Sequence[str],
    model: str,
    out: Path,
    format: str | None,
    trace_map: Path | None,
    quiet: bool,
) -> int:
    """Write the packets of a suite and say what they hold; return the exit code."""
    from helix_runtime.commands.prep import packet_faults, packet_summary
    from helix_runtime.matrix.packet_index import cases_digest
    from helix_runtime.matrix.packets import write_packets
    from helix_runtime.redact import Redactor
    from helix_runtime.targets.recorded import (
        RecordedCount,
        TraceFiles,
        index_cases,
        losses_of,
        read_recorded,
    )

    from .emit.python_files import criterion_names
    from .suite.to_runtime import to_runtime

    names = {key: str(name) for key, name in criterion_names(suite).checks.items()}
    count = RecordedCount()
    index = index_cases(suite.cases)
    try:
        files = TraceFiles.of(traces, format=format, mapping=_mapping(trace_map))
        report = write_packets(
            suite=to_runtime(suite, check_names=names),
            traces=read_recorded(files, index, count),
            model=model,
            out=out,
            losses=lambda: losses_of(count, files=files, cases=len(index.by_id)),
            more_cases=lambda: count.confusable.values(),
            dataset=cases_digest(index.by_id.values()),
            clean=Redactor(os.environ).clean,
        )
    except Refusal as refusal:
        console.tell(f"helix-gen: {printable(str(refusal))}\n")
        return 2
    except OSError as error:
        place = printable(str(error.filename or out))
        console.tell(f"helix-gen: {place}: {error.strerror or error}\n")
        return 2
    for fault in packet_faults(count, report):
        console.tell(f"warning: {printable(fault)}\n")
    if not quiet:
        for line in packet_summary(report, count, package=None):
            console.say(f"{printable(line)}\n")
        if report.files:
            made_by = [*_options(overlay, target, items), spec]
            for line in _who_reads(suite.slug, made_by, out):
                console.say(f"{printable(line)}\n")
    return 0


def _options(
    overlay: Path | None, target: str | None, items: Sequence[str]
) -> list[str]:
    """Return the options that say which suite the packets are of."""
    return [
        *(["--overlay", str(overlay)] if overlay is not None else []),
        *(["--target", target] if target is not None else []),
        *(word for one in items for word in ("--items", one)),
    ]


def _who_reads(slug: str, made_by: Sequence[str], out: Path) -> list[str]:
    """Return what is left to do: only a suite counts the verdicts."""
    import shlex

    folder = f"{slug}-evals"
    return [
        "they ask the judges of the spec; where a suite's own were edited (judges.py), "
        "take its `prep`",
        "then: verdicts are counted by a suite of this spec; make one, and let it read "
        "them:",
        f"  helix-gen suite {shlex.join(made_by)}",
        f"  python {shlex.quote(folder)} aggregate --packets {shlex.quote(str(out))}",
    ]
