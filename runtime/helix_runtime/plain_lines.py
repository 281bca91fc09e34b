"""The journal's lines of traces and units, the plainest of them at a fifth of the cost.

Most traces of a target that returns text are one question and one answer, and most
units of a check have a critique and nothing else. Their lines have one form each,
filled in here without a dictionary in between. Whether a record is that plain is not
assumed but compared, field by field, with a blank one; everything else, also what is
added to these records one day, takes the general way. The text is the same.
"""

from __future__ import annotations

import json
import re
from functools import cache
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Final

from .canonical import dump_line, escape_surrogates
from .trace import Span, Trace
from .unit import Unit, trace_id_of, unit_to_record
from .unitf import TEXTS, trace_from_record, trace_of_answer, trace_to_record
from .verdict import Ref, passed


class _Fixed:
    """The fields in which a plain record must not differ from `record`."""

    def __init__(self, record: object, *varying: str) -> None:
        own = vars(record)
        self.of: Final = itemgetter(*(name for name in own if name not in varying))
        self.blank: Final = self.of(own)


_BLANK: Final = trace_of_answer(trace_id="t", query="q", output=" ")
_TRACE: Final = _Fixed(_BLANK, "id", "spans", "ext", "latency_ms")
_ASKED: Final = _Fixed(_BLANK.spans[0], "input")
_ANSWERED: Final = _Fixed(_BLANK.spans[1], "output")
_UNIT: Final = _Fixed(
    Unit(
        key="k",
        case_id="c",
        criterion_id="c",
        repeat=0,
        trace_id="t",
        verdict=passed("x"),
        decided_by="code",
    ),
    "key",
    "case_id",
    "criterion_id",
    "repeat",
    "trace_id",
    "verdict",
    "decided_by",
)
_VERDICT: Final = _Fixed(passed("x"), "result", "critique", "refs")


LINE: Final = "written_line"
"""Where a trace that was written already keeps its line, for who writes it next."""


def trace_line(trace: Trace) -> str:
    """Return the trace's line. Raises what `dump_line` raises."""
    spans = trace.spans
    ext = trace.ext
    own = vars(trace)
    if len(spans) == 2 and len(ext) == 1 and _TRACE.of(own) == _TRACE.blank:
        asked, answered = spans
        helix = ext.get("helix")
        latency = trace.latency_ms
        if (
            helix.__class__ is dict
            and len(helix) == 1
            and latency.__class__ is float
            and latency - latency == 0.0  # neither NaN nor infinite
            and (own.get(TEXTS) is spans or _are_texts(asked, answered))
        ):
            case = helix.get("case")
            if case.__class__ is str:
                quote = encode_basestring
                return escape_surrogates(
                    f'{{"unitf_version":"0.1","traceId":{quote(trace.id)},'
                    f'"sourcePlatform":"helix","status":"ok","latencyMs":{latency!r},'
                    '"spans":[{"spanId":"user","name":"user","kind":"event",'
                    f'"role":"user","status":"ok","input":{quote(asked.input)}}},'
                    '{"spanId":"answer","name":"assistant","kind":"agent",'
                    '"role":"assistant","status":"ok",'
                    f'"output":{quote(answered.output)}}}],'
                    f'"ext":{{"helix":{{"case":{quote(case)},'
                    '"observed":["output"]}}}'
                )
    return dump_line(trace_to_record(trace))


def _are_texts(asked: Span, answered: Span) -> bool:
    return (
        asked.input.__class__ is str
        and answered.output.__class__ is str
        and _ASKED.of(vars(asked)) == _ASKED.blank
        and _ANSWERED.of(vars(answered)) == _ANSWERED.blank
    )


def read_trace(line: bytes) -> Trace:
    """Return the trace of a journal's line, as `trace_line` wrote it or otherwise.

    Raises ValueError or RecursionError where it is none.
    """
    plain = _written().fullmatch(line)
    if plain is not None:
        trace_id, latency, query, output, case = plain.groups()
        try:
            trace = trace_of_answer(
                trace_id=trace_id.decode(), query=_text(query), output=_text(output)
            )
            own = vars(trace)
            own["latency_ms"] = float(latency)
            own["ext"] = {"helix": {"case": case.decode()}}
            return trace
        except ValueError:
            pass  # an escape that is none: the general way says so
    return trace_from_record(json.loads(line))


@cache
def _written() -> re.Pattern[bytes]:
    """Return what a plain trace's line looks like; compiled where a run goes on."""
    plain = rb'"([^"\\\x00-\x1f]+)"'
    text = rb'"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*)"'
    return re.compile(
        rb'\{"unitf_version":"0\.1","traceId":' + plain + rb',"sourcePlatform":"helix",'
        rb'"status":"ok","latencyMs":((?:0|[1-9]\d{0,11})\.\d{1,6}),"spans":\[\{"spanId":"user",'
        rb'"name":"user","kind":"event","role":"user","status":"ok","input":'
        + text
        + rb'\},\{"spanId":"answer","name":"assistant","kind":"agent","role":"assistant",'
        rb'"status":"ok","output":'
        + text
        + rb'\}\],"ext":\{"helix":\{"case":'
        + plain
        + rb',"observed":\["output"\]\}\}\}\n?'
    )


def _text(written: bytes) -> str:
    if b"\\" not in written:
        return written.decode()
    text: str = json.loads(b'"%b"' % written)
    return text


def unit_line(unit: Unit) -> str:
    """Return the unit's line. Raises what `dump_line` and `unit_to_record` raise."""
    verdict = unit.verdict
    if (
        _VERDICT.of(vars(verdict)) == _VERDICT.blank
        and _UNIT.of(vars(unit)) == _UNIT.blank
        and verdict.critique.__class__ is str
    ):
        quote = encode_basestring
        case_id, repeat = unit.case_id, unit.repeat
        where = f',"repeat":{repeat}' if repeat else ""
        if unit.trace_id != trace_id_of(case_id, repeat):
            where += f',"traceId":{quote(unit.trace_id)}'
        if unit.decided_by != "code":
            where += f',"by":"{unit.decided_by}"'
        return escape_surrogates(
            f'{{"key":"{unit.key}","caseId":{quote(case_id)},'
            f'"criterionId":{quote(unit.criterion_id)}{where},'
            f'"critique":{quote(verdict.critique)},"result":"{verdict.result}"'
            + (_refs(verdict.refs) if verdict.refs else "}")
        )
    return dump_line(unit_to_record(unit))


def _refs(refs: tuple[Ref, ...]) -> str:
    quote = encode_basestring
    each = [
        (
            f'{{"obs":{quote(r.obs)},"path":{quote(r.path)},"value":{quote(r.value)}}}'
            if r.path
            else f'{{"obs":{quote(r.obs)},"value":{quote(r.value)}}}'
        )
        for r in refs
    ]
    return f',"refs":[{",".join(each)}]}}'
