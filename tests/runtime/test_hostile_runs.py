"""Nothing that a subject, a check or a recorded trace does makes a gate green."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.case import Case, case_from_row
from helix_runtime.checks import tools
from helix_runtime.checks.arguments import pattern_fault
from helix_runtime.criterion import Check, Criterion
from helix_runtime.redact import Redactor
from helix_runtime.refusal import Refusal
from helix_runtime.scorecard import UsageTally
from helix_runtime.targets.given import given
from helix_runtime.targets.python_target import PythonTarget, open_python
from helix_runtime.trace import Span, Trace
from helix_runtime.unit import decide_by_code
from helix_runtime.unitf import trace_from_record, trace_to_record, unread_of
from helix_runtime.untouched import Untouched
from helix_runtime.verdict import Verdict, failed, passed
from support.live_suite import CHECKS, CODE, live_suite, rows

ANYTHING: Any = object()
CASE = Case(
    id="a",
    query="q",
    dimensions={"origin": "seed"},
    input={"items": [1, {"x": 2}]},
    expected={"answer": "ok"},
    expected_behavior="It says ok.",
)
ASKED = {"spanId": "u", "kind": "event", "role": "user", "input": "q"}
ANSWER = {"spanId": "a", "kind": "agent", "role": "assistant", "output": "ok"}


def trace(*spans: Any, **more: Any) -> Trace:
    return trace_from_record({"traceId": "t", "spans": [ASKED, *spans, ANSWER], **more})


def never_deletes(seen: Trace) -> str:
    return tools.not_called(CASE, seen, name="delete").result


# -- what may be a call of a tool is never lost ----------------------------------------


@pytest.mark.parametrize(
    "span",
    [
        {"kind": "tool", "role": "tool", "name": "delete"},
        {"kind": "TOOL", "name": "delete"},
        {"kind": "tool_call", "name": "delete"},
        {"kind": "tool-call", "toolName": "delete"},
        {"kind": "function", "name": "delete"},
        {"kind": "span", "role": "tool", "name": "delete"},
        {"kind": "retrieval", "role": "tool", "name": "delete"},
        {"kind": "tool", "role": "assistant", "toolName": "delete"},
        {"kind": "wholly new", "toolName": "delete"},
        {"kind": "tool", "role": "toolResult", "name": "delete", "output": "gone"},
        {"role": "toolResult", "toolName": "delete", "toolCallId": "9", "output": 1},
    ],
)
def test_what_can_be_read_as_a_call_is_one(span: dict[str, Any]) -> None:
    seen = trace(span)
    assert [call.name for call in seen.tool_calls] == ["delete"]
    assert never_deletes(seen) == "fail"
    assert trace_from_record(trace_to_record(seen)) == seen


@pytest.mark.parametrize(
    ("span", "more"),
    [
        ("a text", {}),
        ([{"kind": "tool", "name": "delete"}], {}),
        ({"kind": "tool", "name": {"x": "delete"}}, {}),
        ({"kind": "invocation", "name": "delete"}, {}),
        ({"kind": ["tool"], "name": "delete"}, {}),
        ({"kind": "span", "role": "executor", "name": "delete"}, {}),
        ({"kind": "tool", "role": "assistant", "name": "delete"}, {}),
        ({"kind": "llm", "role": "assistant", "toolName": "delete"}, {}),
        ({"role": "toolResult", "output": "gone"}, {}),
        ({"kind": "span", "name": "x"}, {"computed": {"toolCallCount": 4}}),
    ],
)
def test_what_may_be_a_call_and_cannot_be_read_leaves_it_open(
    span: Any, more: dict[str, Any]
) -> None:
    seen = trace(span, **more)
    assert never_deletes(seen) == "uncertain"
    assert unread_of(seen)
    assert trace_from_record(trace_to_record(seen)) == seen


_FUNCTION = {"id": "1", "type": "function", "function": {"name": "delete"}}
_CALLING = {"role": "assistant", "content": None, "tool_calls": [_FUNCTION]}


@pytest.mark.parametrize(
    "fields",
    [
        {"output": _CALLING},
        {"output": [_CALLING]},
        {"output": json.dumps(_CALLING)},
        {"output": {"choices": [{"message": _CALLING}]}},
        {"output": [{"type": "tool_use", "id": "1", "name": "delete", "input": {}}]},
        {"output": {"role": "assistant", "function_call": {"name": "delete"}}},
        {"output": {"output": [{"type": "function_call", "name": "delete"}]}},
        {"output": {"parts": [{"functionCall": {"name": "delete", "args": {}}}]}},
        {"output": "Done.", "tool_calls": [{"name": "delete"}]},
        {"output": "Done.", "input": [{"role": "user", "content": "q"}, _CALLING]},
        {"input": {"messages": [{"role": "user", "content": "q"}, _CALLING]}},
    ],
)
def test_a_call_that_stands_in_a_message_alone_leaves_it_open(
    fields: dict[str, Any],
) -> None:
    model = {"spanId": "m", "kind": "llm", "name": "model", **fields}
    seen = trace(model)
    assert never_deletes(seen) == "uncertain"
    assert "'delete'" in unread_of(seen)[0]
    assert trace_from_record(trace_to_record(seen)) == seen
    # Where a span shows the call, by its id or by its name, nothing is open.
    call = {"kind": "tool", "role": "tool", "name": "delete", "output": 1}
    for more in ({}, {"toolCallId": "1"}):
        shown = trace(model, {**call, **more})
        assert never_deletes(shown) == "fail" and unread_of(shown) == []


def test_calls_before_the_users_last_message_may_be_of_an_earlier_run() -> None:
    asked = {"role": "user", "content": "q"}
    result = {"role": "tool", "tool_call_id": "1", "content": "gone"}
    history = [asked, _CALLING, result, asked]
    seen = trace({"kind": "llm", "name": "model", "input": history, "output": "ok"})
    assert never_deletes(seen) == "pass" and unread_of(seen) == []
    # Anthropic's results of tools come as the user's: the run goes on.
    back = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}
    seen = trace({"kind": "llm", "input": [asked, _CALLING, back], "output": "ok"})
    assert never_deletes(seen) == "uncertain"


def test_a_second_call_that_no_span_shows_leaves_it_open() -> None:
    two = {**_CALLING, "tool_calls": [_FUNCTION, {**_FUNCTION, "id": "2"}]}
    call = {"kind": "tool", "role": "tool", "name": "delete", "output": 1}
    seen = trace({"kind": "llm", "output": two}, call)
    assert len(unread_of(seen)) == 1
    assert unread_of(trace({"kind": "llm", "output": two}, call, call)) == []


@pytest.mark.parametrize("kind", ["chain", "guardrail", "EMBEDDING", "LLM", "event"])
def test_kinds_that_are_no_calls_leave_a_trace_as_good_as_it_was(kind: str) -> None:
    seen = trace({"kind": kind, "name": "x"})
    assert never_deletes(seen) == "pass" and unread_of(seen) == []


def test_a_result_belongs_to_the_call_of_its_name_where_it_has_no_id() -> None:
    call = {"kind": "tool", "role": "tool", "toolName": "look", "input": {"id": 1}}
    result = {"kind": "tool", "role": "toolResult", "toolName": "look", "output": 1}
    assert len(trace(call, result).tool_calls) == 1
    both = trace(call, result, result)
    assert [one.known for one in both.tool_calls] == [True, False]
    condition = {"field": "id", "equals": 1}
    verdict = tools.arguments(CASE, both, name="look", condition=condition)
    assert verdict.result == "uncertain"


def test_a_run_that_gave_nothing_is_not_judged() -> None:
    for output in (None, "", " \n"):
        spans = [ASKED, {**ANSWER, "output": output}]
        assert trace_from_record({"traceId": "t", "spans": spans}).incomplete
    call = {"kind": "tool", "role": "tool", "name": "look", "output": {}}
    spans = [ASKED, call, {**ANSWER, "output": ""}]
    assert trace_from_record({"traceId": "t", "spans": spans}).incomplete is None
    for value in ("", "  ", {"output": "", "tool_calls": []}):
        target = PythonTarget("python:t:t", lambda case, value=value: value)
        assert target.call(CASE, trace_id="t", timeout=1).incomplete


# -- subjects ---------------------------------------------------------------------------


def test_a_subject_neither_sees_nor_changes_what_it_should_answer() -> None:
    def cheat(case: Case) -> str:
        case.input["items"].clear()
        vars(case)["query"] = "other"
        return f"{case.expected} {case.expected_behavior}"

    seen = PythonTarget("python:t:t", cheat).call(CASE, trace_id="t", timeout=1)
    assert seen.answer == "None None" and seen.prompt == "q"
    assert CASE.input == {"items": [1, {"x": 2}]}
    assert given(CASE).input == CASE.input


class Hostile(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no")

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("no")


class HostileText(str):
    def strip(self, chars: str | None = None) -> str:
        raise RuntimeError("no")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


def raises(error: BaseException) -> Any:
    def target(case: Case) -> Any:
        raise error

    return target


@pytest.mark.parametrize(
    "target",
    [
        raises(Mute()),
        raises(SystemExit(0)),
        raises(KeyboardInterrupt()),
        raises(GeneratorExit()),
        lambda case: Hostile(answer="ok"),
    ],
)
def test_whatever_a_subject_does_is_its_own_failure(target: Any) -> None:
    seen = PythonTarget("python:t:t", target).call(CASE, trace_id="t", timeout=1)
    assert seen.status == "error" and seen.incomplete


def test_what_is_kept_of_an_answer_is_plain_and_nobody_elses() -> None:
    data = {"items": [1]}
    target = PythonTarget("python:t:t", lambda case: data)
    seen = target.call(CASE, trace_id="t", timeout=1)
    data["items"].append(2)
    assert seen.output == {"items": [1]}
    text = PythonTarget("python:t:t", lambda case: HostileText("ok"))
    assert text.call(CASE, trace_id="t", timeout=1).answer.__class__ is str


def test_a_module_that_ends_the_process_is_refused(tmp_path: Path) -> None:
    (tmp_path / "leaves_by_import.py").write_text("import sys\nsys.exit(0)\n")
    text = "import sys\nclass A:\n    def __init__(self): sys.exit(0)\n"
    (tmp_path / "leaves_when_made.py").write_text(text)
    for name in ("leaves_by_import:target", "leaves_when_made:A"):
        with pytest.raises(Refusal, match=r"leaves_\w+\.py:\d: SystemExit") as refused:
            open_python(name, root=tmp_path)
        assert refused.value.exit_code == 2
    sys.path.remove(str(tmp_path))


# -- checks -----------------------------------------------------------------------------


def criterion(function: Any) -> Criterion:
    return Criterion(check=Check("c", "It is so.", "", function))


@pytest.mark.parametrize(
    "error", [SystemExit(0), GeneratorExit(), Mute(), RecursionError()]
)
def test_a_check_that_leaves_is_an_error(error: BaseException) -> None:
    def leave(case: Case, seen: Trace) -> Verdict:
        raise error

    verdict, _ = decide_by_code(criterion(leave), CASE, trace())
    assert verdict is not None and verdict.result == "error"


@pytest.mark.parametrize("value", ["0.95", 10**400, float("nan"), True, ANYTHING])
def test_a_value_that_is_no_number_is_an_error(value: Any) -> None:
    verdict, _ = decide_by_code(
        criterion(lambda case, seen: passed("x", value=value)), CASE, trace()
    )
    assert verdict is not None and verdict.result == "error"


def test_what_a_check_changes_is_seen_and_put_back() -> None:
    data = {"kind": "tool", "role": "tool", "name": "look", "input": {"ids": [3, 1]}}
    seen = trace(data)
    assert seen.tool_calls[0].arguments == {"ids": [3, 1]}
    watch = Untouched(CASE, seen)
    assert not watch.changed()
    seen.tool_calls[0].arguments["ids"].sort()
    CASE.expected.clear()
    assert watch.changed() and not watch.changed()
    assert CASE.expected == {"answer": "ok"}
    assert seen.tool_calls[0].arguments == {"ids": [3, 1]}


@pytest.mark.parametrize(
    ("reach", "was"),
    [
        (lambda case, seen: case.dimensions, {"tone": "warm"}),
        (lambda case, seen: case.extra, {"desk": {"open": True}}),
        (lambda case, seen: seen.ext, {"team": {"region": "eu"}}),
        (lambda case, seen: seen.scores[0], {"name": "s", "value": 0.5}),
        (lambda case, seen: seen.spans[1].extra, {"note": ["a"]}),
    ],
)
def test_no_part_of_a_case_or_trace_can_be_changed_by_a_check(
    reach: Any, was: Any
) -> None:
    row = {"id": "c", "query": "q", "tuple": {"tone": "warm"}, "source": "seed"}
    case = case_from_row({**row, "desk": {"open": True}})
    seen = trace(
        {"kind": "tool", "role": "tool", "name": "look", "note": ["a"]},
        ext={"team": {"region": "eu"}},
        scores=[{"name": "s", "value": 0.5}],
    )
    assert reach(case, seen) == was
    watch = Untouched(case, seen)
    reach(case, seen).clear()
    assert watch.changed() and not watch.changed()
    assert reach(case, seen) == was


def test_what_all_records_share_can_be_changed_by_nobody() -> None:
    empty = Trace(id="t", spans=[Span(id="s", name="look")])
    for shared in (CASE.extra, empty.ext, empty.extra, empty.spans[0].extra):
        with pytest.raises(TypeError):
            shared["seen"] = True  # type: ignore[index]


RUDE = CHECKS + """

@check("rude", "It leaves.")
def rude(case: Case, trace: Trace) -> Verdict:
    BODY
    return passed("fine")
"""
TWO = CODE + ', Criterion(check=checks.rude, severity="HIGH")'


@pytest.mark.parametrize("body", ["raise SystemExit(0)", "raise KeyboardInterrupt"])
def test_a_check_that_leaves_never_ends_a_run(tmp_path: Path, body: str) -> None:
    suite = live_suite(
        tmp_path, cases=rows(3), checks=RUDE.replace("BODY", body), criteria=TWO
    )
    done = suite.run("run", "--out", "runs/a")
    assert done.returncode == 3, done.stderr
    assert suite.counts("a", "rude") == {"error": 3}
    assert suite.counts("a", "exact") == {"pass": 3}


def test_a_check_that_hangs_is_an_error_and_the_others_are_decided(
    tmp_path: Path,
) -> None:
    body = "__import__('threading').Event().wait()"
    criteria = 'Criterion(check=checks.rude, severity="HIGH"), ' + CODE
    suite = live_suite(
        tmp_path, cases=rows(2), checks=RUDE.replace("BODY", body), criteria=criteria
    )
    done = suite.run("run", "--out", "runs/a", "--timeout", "0.5")
    assert done.returncode == 3, done.stderr
    assert suite.counts("a", "rude") == {"error": 2}
    assert suite.counts("a", "exact") == {"pass": 2}


def test_checks_that_end_the_process_when_imported_are_refused(tmp_path: Path) -> None:
    leaves = CHECKS + "\nraise SystemExit(0)\n"
    suite = live_suite(tmp_path, cases=rows(1), checks=leaves)
    done = suite.run("run")
    assert done.returncode == 2 and "checks.py:" in done.stderr


def test_an_edited_result_is_decided_again(tmp_path: Path) -> None:
    target = "def target(case):\n    return 'no'\n"
    suite = live_suite(tmp_path, cases=rows(2), target=target)
    assert suite.run("run", "--out", "runs/a").returncode == 1
    units = tmp_path / "runs" / "a" / "units.jsonl"
    edited = units.read_text().replace('"result":"fail"', '"result":"pass"')
    units.write_text(edited)
    again = suite.run("run", "--resume", "a")
    assert again.returncode == 1, again.stdout
    assert suite.counts("a", "exact") == {"fail": 2}
    record = json.loads((units.parent / "run.json").read_text())
    record["arguments"]["timeout"] = "soon"
    (units.parent / "run.json").write_text(json.dumps(record))
    refused = suite.run("run", "--resume", "a")
    assert refused.returncode == 2 and "arguments.timeout" in refused.stderr


def test_figures_that_nobody_can_have_measured_count_as_unknown() -> None:
    tally = UsageTally()
    for cost in (10**400, 1e308, float("inf"), float("nan"), -5):
        tokens = {"input": 10**400, "output": 1e308}
        tally.add_trace(trace(costUsd=cost, latencyMs=10**400, tokens=tokens))
    used = tally.to_record()["subject"]
    assert used["costUsd"] is None and used["inputTokens"] is None


# -- patterns and secrets -----------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["(a+)+", r"(\w+\s?)*$", "(?:(?:x*))*", "(a+|b)*"])
def test_a_pattern_that_may_never_end_is_refused(pattern: str) -> None:
    assert "repeats a repeat" in str(pattern_fault(pattern))


@pytest.mark.parametrize("pattern", ["a+b+", r"(\w+\s)+", "(a|b)*", r"x(,\d+)*"])
def test_a_pattern_that_ends_is_taken(pattern: str) -> None:
    assert pattern_fault(pattern) is None


def test_secrets_are_found_in_whatever_name_and_nesting() -> None:
    secret = 'p"a\\ss/x'
    redactor = Redactor(
        {
            "PGPASSWORD": secret,
            "DATABASE_URL": "postgres://u:hunter22@h/db",
            "OPENAI_APIKEY": "sk-abc",
            "MY_AUTH": "abcdef",
            "PIN_TOKEN": "123456",
            "ANY_TOKEN": "result",
        }
    )
    inner = json.dumps({"k": json.dumps([secret, "hunter22"])})
    data = {"result": inner, "n": 91234561, "v": "sk-abc abcdef"}
    for is_ascii in (True, False):
        cleaned = redactor.clean(json.dumps(data, ensure_ascii=is_ascii))
        assert json.loads(cleaned)["result"]
        for value in (secret, json.dumps(secret)[1:-1], "hunter22", "sk-abc", "123456"):
            assert value not in cleaned
        assert "abcdef" not in cleaned and "ss/x" not in cleaned


def test_a_fail_is_a_fail() -> None:
    verdict, by = decide_by_code(
        criterion(lambda case, seen: failed("x")), CASE, trace()
    )
    assert verdict is not None and (verdict.result, by) == ("fail", "code")
