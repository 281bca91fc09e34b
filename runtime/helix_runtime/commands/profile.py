"""`profile`: what recorded traces tell of the subject, beside what the spec says."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..canonical import escape_surrogates
from ..folder import SuiteFolder, read_run_record
from ..observing.observed import Observed
from ..observing.profile import Input, profile_record
from ..redact import Redactor
from ..refusal import Refusal
from ..report.words import percent
from ..safe_text import printable
from ..suite import Suite
from ..targets.recorded import index_cases, match_case
from ..unitf import ReadCount
from ..whole_file import whole_file
from .trace_input import say_what_was_skipped, trace_files, traces_of

_SHOWN = 12


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Show the profile; the exit code is 0, or 2 where the files hold no trace."""
    files = trace_files("profile", args.files, args, folder)
    if args.run:
        folder = folder.of_run(read_run_record(folder.run_folder(args.run)) or {})
    if args.out and any(Path(args.out).resolve() == f.resolve() for f in files):
        raise Refusal(f"--out {args.out}: that is a file that is read")
    suite = folder.load_suite()
    index = index_cases(folder.cases() if folder.dataset.is_file() else ())
    count = ReadCount()
    observed = Observed()
    matched = 0
    for trace in traces_of(files, count):
        observed.add(trace)
        matched += not match_case(trace, index).recorded
    say_what_was_skipped(count)
    if not observed.traces:
        raise Refusal("there is no trace in what was read")
    found = profile_record(
        suite.subject,
        _declared(folder, suite),
        observed,
        Input(formats=count.formats, skipped=count.skipped, matched=matched),
    )
    text = Redactor(os.environ).clean(
        escape_surrogates(json.dumps(found, ensure_ascii=False, indent=2))
    )
    if args.out:
        _write(Path(args.out), text + "\n")
    if args.json:
        print(text)
        return 0
    for line in _lines(found):
        print(printable(line))
    if args.out:
        print(printable(f"written as JSON: {args.out}"))
    return 0


def _declared(folder: SuiteFolder, suite: Suite) -> list[str]:
    """Return the names that the spec knows its tools by, operations too."""
    names = [tool.name for tool in suite.subject.tools]
    if not (folder.package_folder / "subject.py").is_file():
        return names
    module = folder.import_own(f"{folder.package}.subject")
    declared = getattr(module, "DECLARED_TOOLS", None)
    if isinstance(declared, list) and all(isinstance(n, str) for n in declared):
        return declared
    return names


def _write(path: Path, text: str) -> None:
    try:
        with whole_file(path) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise Refusal(f"{path}: can't be written: {error.strerror}") from error


# -- the text --------------------------------------------------------------------------


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    subject, traces = found["subject"], found["traces"]
    yield (
        f"{subject['identity']['value']} {subject['version']['value']} "
        f"({subject['entityType']['value']}, given by the spec), seen in "
        f"{_plural(traces['read'], 'trace')} ({', '.join(traces['formats'])})"
    )
    yield f"  {_counted(traces['statuses'])}; {traces['ofCases']:,} of a case; " + (
        f"{traces['incomplete']:,} incomplete"
    )
    for key, what in (("models", "models"), ("agents", "agents")):
        if found[key]:
            yield f"  {what}: {_named(found[key])}"
    if found["subAgents"]:
        yield f"  sub-agents: {_named(found['subAgents'])}"
    yield f"  spans: {_named(found['kinds'])}"
    yield from _figures(found["figures"])
    yield "TOOLS"
    yield from _tools(found["tools"])
    yield from _flow(found["flow"])
    yield from _listed("EXPECTED FLOW (usual in these traces)", _edges(found))
    if found["expectedFlow"]["edges"]:
        yield f"  as a check of the overlay: {_check(found['expectedFlow'])}"
    told = [_contradiction(one) for one in found["contradictions"]]
    yield from _listed("SPEC AND TRACES DIFFER", told)
    yield from _listed("UNKNOWN", found["unknown"])
    yield from _listed("CUT", found["cut"])


def _figures(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for key, what in (
        ("userTurns", "user turns"),
        ("toolCalls", "tool calls"),
        ("totalTokens", "tokens"),
        ("costUsd", "dollars"),
        ("latencyMs", "milliseconds"),
    ):
        one = figures[key]
        if one["count"]:
            yield (
                f"  {what}: median {one['median']:,}, 95 % up to {one['p95']:,}, "
                f"{one['lowest']:,} to {one['highest']:,}"
            )


def _tools(tools: list[Mapping[str, Any]]) -> Iterator[str]:
    if not tools:
        yield "  none, neither in the spec nor in the traces"
    for tool in tools[:_SHOWN]:
        word = tool["reversibility"]
        effects = f"reversibility {word['value']}"
        if word["from"] != "unknown":
            effects += f" ({word['from']})"
        declared = "in the spec" if tool["declared"] else "not in the spec"
        yield f"  {tool['name']}: {declared}; {effects}"
        for seen in tool["observed"]:
            name = "" if seen["name"] == tool["name"] else f"as {seen['name']}: "
            keys = [one["key"] for one in seen["arguments"][:6]]
            errors = f", {percent(seen['errorRate'])} failed" if seen["errors"] else ""
            given = f"; arguments {', '.join(keys)}" if keys else ""
            yield (
                f"    {name}{_plural(seen['calls'], 'call')} in "
                f"{_plural(seen['traces'], 'trace')}"
                f"{errors}{given}"
            )
        if not tool["observed"]:
            yield "    not called"
    if len(tools) > _SHOWN:
        yield f"  and {len(tools) - _SHOWN} more: --json shows all"


def _flow(flow: Mapping[str, Any]) -> Iterator[str]:
    modal = flow["modal"]
    if modal is None:
        return
    yield "FLOW"
    if flow["asFrequent"] == 1:
        yield (
            f"  most frequent ({modal['traces']:,} of {flow['traces']:,} traces, "
            f"{percent(modal['share'])}): {modal['sequence']}"
        )
    else:
        yield (
            f"  no most frequent one: {flow['asFrequent']:,} sequences of tools occur "
            f"in {modal['traces']:,} of {flow['traces']:,} traces each"
        )
    if flow["differentSequences"] > 1:
        yield f"  {flow['differentSequences']:,} different sequences"
    for one in flow["transitions"][:4]:
        yield (
            f"  {one['to']} right after {one['from']}: in "
            f"{_plural(one['traces'], 'trace')}, {percent(one['share'])} of those with "
            f"{one['to']}"
        )


def _edges(found: Mapping[str, Any]) -> list[str]:
    shares = {(e["from"], e["to"]): e for e in found["flow"]["edges"]}
    lines = []
    for edge in found["expectedFlow"]["edges"]:
        seen = shares.get((edge["from"], edge["to"]))
        told = ""
        if seen:
            told = f" ({percent(seen['share'])}, {_plural(seen['traces'], 'trace')})"
        lines.append(f"{edge['from']} → {edge['to']}{told}")
    return lines


def _check(expected: Mapping[str, Any]) -> str:
    """Return the expected flow as a check: JSON, which is YAML too."""
    return f"check: {json.dumps({'flow.matches': expected})}"


def _contradiction(one: Mapping[str, Any]) -> str:
    if one["kind"] == "called-not-declared":
        return (
            f"{one['tool']} is called ({_plural(one['calls'], 'time')} in "
            f"{_plural(one['traces'], 'trace')}), and the spec does not declare it"
        )
    if one["kind"] == "declared-never-called":
        return (
            f"{one['tool']} is declared, and not called in "
            f"{_plural(one['ofTraces'], 'trace')} with tool calls"
        )
    return (
        f"{one['tool']}: the spec says {one['given']}, annotations of its calls say "
        f"{', '.join(one['observed'])}"
    )


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield title
        yield from (f"  {line}" for line in lines[:_SHOWN])
        if len(lines) > _SHOWN:
            yield f"  and {len(lines) - _SHOWN} more: --json shows all"


def _named(counts: list[Mapping[str, Any]]) -> str:
    told = [f"{one['name']} ×{one['count']:,}" for one in counts[:6]]
    if len(counts) > 6:
        told.append(f"{len(counts) - 6} more")
    return ", ".join(told)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


def _plural(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
