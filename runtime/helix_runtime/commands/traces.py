"""`traces`: what recorded traces are understood as, and the same as UniTF."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from ..canonical import dump_line
from ..folder import SuiteFolder
from ..formats import FORMATS
from ..formats.understood import Sum, Understood, understand
from ..redact import Redactor
from ..refusal import Refusal
from ..safe_text import printable
from ..targets.recorded import (
    CaseIndex,
    RecordedCount,
    TraceFiles,
    index_cases,
    read_recorded,
)
from ..unitf import trace_to_record
from .trace_input import say_what_was_skipped
from .unitf_file import open_unitf


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Show what the files hold; the exit code is 0, or 2 where they hold no trace."""
    files = [Path(name) for name in args.files]
    missing = [f"there is no trace file {path}" for path in files if not path.is_file()]
    if missing:
        raise Refusal(*missing)
    settings = folder.settings()
    wanted = args.format or settings.trace_format
    index = _index(folder)
    total = Sum()
    count = RecordedCount()
    with ExitStack() as stack:
        out = None
        if args.to is not None:
            name, target = args.to
            if name != "unitf":
                raise Refusal(
                    f"--to {name}: traces are written as unitf alone (read are "
                    f"{', '.join(FORMATS)})"
                )
            out = open_unitf(target, files, stack, option="--to unitf")
        for path in files:
            chosen = TraceFiles.of([path], format=wanted, mapping=settings.trace_map)
            _show_file(args, chosen, index, count, total, out)
    repeats = []
    if count.repeats:
        named = ", ".join(count.repeated)
        repeats.append(
            f"{count.repeats} traces repeat an id and were left out: {named}"
        )
    say_what_was_skipped(count.read, *repeats)
    if args.json:
        print(json.dumps({"record": "sum", **_sum(total, count)}))
    elif len(files) > 1:
        print(f"all {len(files)} files: {_words(total)}")
    if out is not None and not args.json:
        print(f"{total.traces} traces written as UniTF: {printable(args.to[1])}")
    return 0 if total.traces else 2


def _index(folder: SuiteFolder) -> CaseIndex:
    try:
        return index_cases(folder.cases())
    except FileNotFoundError:
        return index_cases([])


# -- showing -----------------------------------------------------------------------


def _show_file(
    args: Namespace,
    files: TraceFiles,
    index: CaseIndex,
    count: RecordedCount,
    total: Sum,
    out: IO[bytes] | None,
) -> None:
    before = dict(count.read.formats)
    own, matched = count.own, count.matched
    here = Sum()
    shown = 0
    redactor = Redactor(os.environ)
    said = False
    for case, trace in read_recorded(files, index, count):
        if not said and not args.json:
            print(f"{printable(files[0].name)}: {_new_format(before, count)}")
            said = True
        one = understand(trace)
        here.add(one)
        total.add(one)
        case_id = None if case.recorded else case.id
        if out is not None:
            line = redactor.clean(dump_line(trace_to_record(trace)))
            out.write(line.encode("utf-8", "backslashreplace") + b"\n")
        if args.json:
            print(dump_line({"record": "trace", **one.to_record(case_id=case_id)}))
        elif shown < args.limit:
            shown += 1
            for text in _lines(one, case_id):
                print("  " + text)
    if args.json:
        return
    if not said:
        print(f"{printable(files[0].name)}: {_new_format(before, count)}, no trace")
        return
    if here.traces > shown:
        print(f"  and {here.traces - shown} more")
    print(f"  {_words(here)}")
    print(
        f"  {count.matched - matched} belong to a case of the dataset, "
        f"{count.own - own} stand for themselves"
    )
    for what, number in here.missing.items():
        print(f"  missing in {number} of {here.traces}: {what}")


def _new_format(before: dict[str, int], count: RecordedCount) -> str:
    for name, number in count.read.formats.items():
        if number > before.get(name, 0):
            return name
    return "unknown"


def _lines(one: Understood, case_id: str | None) -> Iterator[str]:
    trace = one.trace
    parts = [_plural(sum(one.turns.values()), "turn")]
    calls = _plural(one.calls, "tool call")
    if one.calls:
        calls += f" ({one.answered} with a result"
        calls += f", {one.failed} failed)" if one.failed else ")"
    parts.append(calls)
    usage = trace.usage
    if usage.total_tokens is not None:
        parts.append(
            f"{usage.input_tokens or 0:,} + {usage.output_tokens or 0:,} tokens"
            if usage.input_tokens is not None
            else f"{usage.total_tokens:,} tokens"
        )
    if usage.cost_usd is not None:
        parts.append(_dollars(usage.cost_usd))
    if usage.latency_ms is not None:
        parts.append(f"{usage.latency_ms / 1000:.1f} s")
    status = "" if trace.status == "ok" else f" [{trace.status}]"
    yield f"{printable(trace.id, 60)}{status}: {', '.join(parts)}"
    belongs = f"case {case_id}" if case_id else "a case of its own"
    yield f"  {printable(belongs, 76)}"
    yield f"  asked: {_short(trace.prompt)}"
    yield f"  said:  {_short(trace.answer)}"
    if one.missing:
        yield f"  missing: {printable('; '.join(one.missing), 200)}"


def _short(text: str | None) -> str:
    return "(nothing)" if text is None else printable(" ".join(text[:400].split()), 68)


def _words(total: Sum) -> str:
    parts = [_plural(total.traces, "trace"), _plural(total.turns, "turn")]
    parts.append(f"{_plural(total.calls, 'tool call')}, {total.answered} with a result")
    if total.failed:
        parts.append(f"{total.failed} failed")
    if total.tokens is not None:
        parts.append(f"{total.tokens:,} tokens")
    if total.cost is not None:
        parts.append(_dollars(total.cost))
    if total.errors:
        parts.append(f"{total.errors} runs ended in an error")
    return ", ".join(parts)


def _dollars(cost: float) -> str:
    return f"${cost:,.2f}" if cost >= 1 else f"${cost:.6f}"


def _plural(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _sum(total: Sum, count: RecordedCount) -> dict[str, Any]:
    read = count.read
    return {
        **total.to_record(),
        "formats": dict(read.formats),
        "matched": count.matched,
        "own": count.own,
        "repeated": count.repeats,
        "skipped": read.skipped,
        "faults": list(read.faults),
        "leftOut": dict(read.left_out),
    }
