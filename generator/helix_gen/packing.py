"""`helix-gen packets`: what a host's agents judge, from a spec and recorded traces."""

import sys
from collections.abc import Sequence
from pathlib import Path

from helix_runtime.refusal import Refusal
from helix_runtime.safe_text import printable

from . import console
from .inputs import gather
from .problems import has_errors


def execute(
    *,
    spec: str,
    traces: Sequence[Path],
    model: str,
    out: Path,
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
    if inputs is None:
        console.tell_problems(gathered.problems)
        return 2
    from .generate import resolve_inputs

    resolved = resolve_inputs(inputs)
    console.tell_problems(resolved.problems)
    if resolved.suite is None or has_errors(resolved.problems):
        return 2
    from helix_runtime.packets import write_packets
    from helix_runtime.targets.recorded import (
        RecordedCount,
        index_cases,
        read_recorded,
    )

    from .suite.to_runtime import to_runtime

    count = RecordedCount()
    recorded = read_recorded(traces, index_cases(resolved.suite.cases), count)
    try:
        report = write_packets(
            suite=to_runtime(resolved.suite), traces=recorded, model=model, out=out
        )
    except Refusal as refusal:
        console.tell(f"helix-gen: {refusal}\n")
        return 2
    except OSError as error:
        place = printable(str(error.filename or out))
        console.tell(f"helix-gen: {place}: {error.strerror or error}\n")
        return 2
    for fault in count.read.faults:
        console.tell(f"skipped: {printable(fault)}\n")
    if not quiet:
        console.say(f"{report}\n")
    sys.stdout.flush()
    return 0
