"""Small recorded runs in every format: one question, two tools, one of which fails.

The same run everywhere: a user asks for the weather in two cities, the model calls
`forecast` twice (the second call fails), and answers. So the readers can be held to one
expectation.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

PROMPT = "What is the weather in Oslo and in Atlantis?"
SYSTEM = "You forecast the weather."
ANSWER = "Oslo: rain. I found no Atlantis."
OSLO = {"city": "Oslo"}
ATLANTIS = {"city": "Atlantis"}
RAIN = "rain, 7 °C"
UNKNOWN = "no such city"


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def write(path: Path, value: Any) -> Path:
    """Write lines (of a list), or a text or bytes as they are."""
    if isinstance(value, bytes):
        path.write_bytes(value)
    elif isinstance(value, str):
        path.write_text(value, "utf-8")
    else:
        path.write_text("".join(dumps(item) + "\n" for item in value), "utf-8")
    return path


# -- Langfuse ------------------------------------------------------------------------


def langfuse_trace(trace_id: str = "lf-1", **changes: Any) -> dict[str, Any]:
    calls = [
        {
            "id": f"call-{n}",
            "type": "function",
            "function": {"name": "forecast", "arguments": dumps(given)},
        }
        for n, given in enumerate((OSLO, ATLANTIS), 1)
    ]
    asked = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": [{"type": "text", "text": PROMPT}]},
    ]
    told = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call-1", "content": RAIN},
        {"role": "tool", "tool_call_id": "call-2", "content": UNKNOWN},
    ]

    def row(row_id: str, kind: str, second: int, **more: Any) -> dict[str, Any]:
        stamp = f"2026-01-02T03:04:{second:02d}.000Z"
        return {
            "id": row_id,
            "traceId": trace_id,
            "type": kind,
            "name": more.pop("name", row_id),
            "startTime": stamp,
            "endTime": f"2026-01-02T03:04:{second + 1:02d}.000Z",
            "parentObservationId": more.pop("parent", "root"),
            "level": "DEFAULT",
            "statusMessage": None,
            **more,
        }

    usage = {"input": 10, "output": 5, "total": 15}
    rows = [
        row(
            "second",
            "GENERATION",
            6,
            input=dumps([*asked, *told]),
            output=dumps({"role": "assistant", "content": ANSWER}),
            usageDetails=usage,
            costDetails={"total": 0.002},
            model="m-1",
        ),
        row(
            "root",
            "SPAN",
            1,
            parent=None,
            name="agent",
            input=dumps({"messages": [asked[1]]}),
            output=dumps({"messages": [{"role": "assistant", "content": ANSWER}]}),
        ),
        row("tool-1", "TOOL", 3, name="forecast", input=dumps(OSLO), output=RAIN),
        row(
            "tool-2",
            "TOOL",
            4,
            name="forecast",
            input=dumps(ATLANTIS),
            output=UNKNOWN,
            level="ERROR",
            statusMessage=UNKNOWN,
        ),
        row(
            "first",
            "GENERATION",
            2,
            input=dumps(asked),
            output=dumps({"choices": [{"message": told[0]}]}),
            usageDetails=usage,
            costDetails={"total": 0.001},
            model="m-1",
        ),
    ]
    trace = {
        "id": trace_id,
        "projectId": "p",
        "name": "weather",
        "timestamp": "2026-01-02T03:04:01.000Z",
        "sessionId": "s-1",
        "tags": ["dev", "case:oslo"],
        "input": dumps(dumps({"prompt": PROMPT})),
        "output": None,
        "metadata": dumps({"caseId": "oslo", "attributes": {"team": "blue"}}),
        "latency": 6.5,
        "scores": [
            {"name": "right", "value": 1, "source": "ANNOTATION", "comment": "yes"}
        ],
        **changes,
    }
    return {"trace": trace, "observations": rows}


# -- OpenTelemetry ---------------------------------------------------------------------


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": key_values(value)}}
    return {"stringValue": value}


def key_values(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": k, "value": any_value(v)} for k, v in attributes.items()]


def otlp_span(
    span_id: str,
    name: str,
    second: int,
    attributes: dict[str, Any],
    *,
    parent: str | None = "a0",
    trace_id: str = "ab" * 16,
    failed: str | None = None,
    events: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    nanos = 1_767_323_041_000_000_000 + second * 1_000_000_000
    span: dict[str, Any] = {
        "traceId": trace_id,
        "spanId": span_id,
        "name": name,
        "startTimeUnixNano": str(nanos),
        "endTimeUnixNano": str(nanos + 500_000_000),
        "attributes": key_values(attributes),
        "status": {"code": 2, "message": failed} if failed else {},
    }
    if parent is not None:
        span["parentSpanId"] = parent
    if events is not None:
        span["events"] = [
            {"name": e["name"], "attributes": key_values(e["attributes"])}
            for e in events
        ]
    return span


def otlp(spans: list[dict[str, Any]]) -> dict[str, Any]:
    resource = {"attributes": key_values({"service.name": "weather"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


def parts(role: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(items)}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


CALL_PARTS = [
    {"type": "tool_call", "id": f"call-{n}", "name": "forecast", "arguments": given}
    for n, given in enumerate((OSLO, ATLANTIS), 1)
]
RESULT_PARTS = [
    {"type": "tool_call_response", "id": f"call-{n}", "response": told}
    for n, told in enumerate((RAIN, UNKNOWN), 1)
]


def tool_spans() -> list[dict[str, Any]]:
    return [
        otlp_span(
            f"c{n}",
            "execute_tool forecast",
            2 + n,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "forecast",
                "gen_ai.tool.call.id": f"call-{n}",
                "gen_ai.tool.call.arguments": dumps(given),
                "gen_ai.tool.call.result": told,
            },
            failed=failed,
        )
        for n, given, told, failed in (
            (1, OSLO, RAIN, None),
            (2, ATLANTIS, UNKNOWN, UNKNOWN),
        )
    ]


def agent_span() -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "forecaster",
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 10,
        "case.id": "oslo",
    }
    return otlp_span("a0", "invoke_agent forecaster", 0, attributes, parent=None)


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
USED = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}


def genai_messages() -> list[dict[str, Any]]:
    """The newer generation: messages with parts, in attributes."""
    system = [said(SYSTEM)]
    first = [parts("user", said(PROMPT))]
    second = [*first, parts("assistant", *CALL_PARTS), parts("tool", *RESULT_PARTS)]
    return [
        agent_span(),
        otlp_span(
            "b1",
            "chat m-1",
            1,
            CHAT
            | USED
            | {
                "gen_ai.system_instructions": dumps(system),
                "gen_ai.input.messages": dumps(first),
                "gen_ai.output.messages": dumps([parts("assistant", *CALL_PARTS)]),
            },
        ),
        *tool_spans(),
        otlp_span(
            "b2",
            "chat m-1",
            5,
            CHAT
            | USED
            | {
                "gen_ai.system_instructions": dumps(system),
                "gen_ai.input.messages": dumps(second),
                "gen_ai.output.messages": dumps([parts("assistant", said(ANSWER))]),
            },
        ),
    ]


CALLS = [
    {
        "id": f"call-{n}",
        "type": "function",
        "function": {"name": "forecast", "arguments": dumps(given)},
    }
    for n, given in enumerate((OSLO, ATLANTIS), 1)
]


def genai_events() -> list[dict[str, Any]]:
    """The older generation: an event for each message."""

    def event(name: str, **attributes: Any) -> dict[str, Any]:
        return {"name": name, "attributes": attributes}

    first = [
        event("gen_ai.system.message", content=SYSTEM),
        event("gen_ai.user.message", content=PROMPT),
    ]
    again = [
        event("gen_ai.assistant.message", tool_calls=dumps(CALLS)),
        event("gen_ai.tool.message", id="call-1", content=RAIN),
        event("gen_ai.tool.message", id="call-2", content=UNKNOWN),
    ]
    asked = event("gen_ai.choice", index=0, message=dumps({"tool_calls": CALLS}))
    told = event("gen_ai.choice", index=0, message=dumps({"content": ANSWER}))
    return [
        agent_span(),
        otlp_span("b1", "chat m-1", 1, CHAT | USED, events=[*first, asked]),
        *tool_spans(),
        otlp_span("b2", "chat m-1", 5, CHAT | USED, events=[*first, *again, told]),
    ]


def genai_numbered() -> list[dict[str, Any]]:
    """OpenLLMetry's: an attribute for each field of each message."""
    first = {
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": SYSTEM,
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": PROMPT,
    }
    calls: dict[str, Any] = {"gen_ai.completion.0.role": "assistant"}
    again: dict[str, Any] = {"gen_ai.prompt.2.role": "assistant"}
    for n, given in enumerate((OSLO, ATLANTIS)):
        for key, value in (
            ("id", f"call-{n + 1}"),
            ("name", "forecast"),
            ("arguments", dumps(given)),
        ):
            calls[f"gen_ai.completion.0.tool_calls.{n}.{key}"] = value
            again[f"gen_ai.prompt.2.tool_calls.{n}.{key}"] = value
    for n, told in enumerate((RAIN, UNKNOWN), 1):
        again[f"gen_ai.prompt.{n + 2}.role"] = "tool"
        again[f"gen_ai.prompt.{n + 2}.content"] = told
        again[f"gen_ai.prompt.{n + 2}.tool_call_id"] = f"call-{n}"
    answer = {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": ANSWER,
    }
    kind = {"llm.request.type": "chat", "gen_ai.request.model": "m-1"}
    old = {"gen_ai.usage.prompt_tokens": 10, "gen_ai.usage.completion_tokens": 5}
    return [
        agent_span(),
        otlp_span("b1", "openai.chat", 1, kind | old | first | calls),
        *tool_spans(),
        otlp_span("b2", "openai.chat", 5, kind | old | first | again | answer),
    ]


def openinference() -> list[dict[str, Any]]:
    """Arize's convention."""

    def messages(prefix: str, *items: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for n, item in enumerate(items):
            base = f"llm.{prefix}_messages.{n}.message"
            for key in ("role", "content", "tool_call_id"):
                if item.get(key) is not None:
                    found[f"{base}.{key}"] = item[key]
            for m, call in enumerate(item.get("tool_calls", ())):
                function = call["function"]
                inner = f"{base}.tool_calls.{m}.tool_call"
                found[f"{inner}.id"] = call["id"]
                found[f"{inner}.function.name"] = function["name"]
                found[f"{inner}.function.arguments"] = function["arguments"]
        return found

    asked = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": PROMPT},
    ]
    calls = {"role": "assistant", "tool_calls": CALLS}
    results = [
        {"role": "tool", "content": told, "tool_call_id": f"call-{n}"}
        for n, told in enumerate((RAIN, UNKNOWN), 1)
    ]
    model = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m-1",
        "llm.token_count.prompt": 10,
        "llm.token_count.completion": 5,
    }
    told = {"role": "assistant", "content": ANSWER}
    tools = [
        otlp_span(
            f"c{n}",
            "forecast",
            2 + n,
            {
                "openinference.span.kind": "TOOL",
                "tool.name": "forecast",
                "input.value": dumps(given),
                "output.value": result,
            },
            failed=failed,
        )
        for n, given, result, failed in (
            (1, OSLO, RAIN, None),
            (2, ATLANTIS, UNKNOWN, UNKNOWN),
        )
    ]
    root = {
        "openinference.span.kind": "AGENT",
        "input.value": PROMPT,
        "output.value": ANSWER,
        "session.id": "s-1",
        "metadata": dumps({"case_id": "oslo"}),
        "tag.tags": ["dev"],
    }
    return [
        otlp_span("a0", "agent", 0, root, parent=None),
        otlp_span(
            "b1",
            "ChatModel",
            1,
            model | messages("input", *asked) | messages("output", calls),
        ),
        *tools,
        otlp_span(
            "b2",
            "ChatModel",
            5,
            model
            | messages("input", *asked, calls, *results)
            | messages("output", told),
        ),
    ]


# -- chats, sessions, logs ---------------------------------------------------------------


def chat(**changes: Any) -> dict[str, Any]:
    return {
        "id": "chat-1",
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": PROMPT},
            {"role": "assistant", "content": None, "tool_calls": CALLS},
            {"role": "tool", "tool_call_id": "call-1", "content": RAIN},
            {
                "role": "tool",
                "tool_call_id": "call-2",
                "content": UNKNOWN,
                "is_error": True,
            },
            {"role": "assistant", "content": ANSWER},
        ],
        "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
        "metadata": {"case_id": "oslo"},
        **changes,
    }


def session(session_id: str = "5e55") -> list[dict[str, Any]]:
    """A Claude Code session: one message of two blocks is two lines with one usage."""
    lines: list[dict[str, Any]] = []

    def line(kind: str, message: dict[str, Any], **more: Any) -> None:
        number = len(lines)
        lines.append(
            {
                "parentUuid": f"u{number - 1}" if number else None,
                "isSidechain": False,
                "sessionId": session_id,
                "version": "2.0.0",
                "cwd": "/somewhere",
                "type": kind,
                "message": message,
                "uuid": f"u{number}",
                "timestamp": f"2026-01-02T03:04:{number:02d}.000Z",
                **more,
            }
        )

    def block(message_id: str, content: dict[str, Any], output: int) -> dict[str, Any]:
        return {
            "id": message_id,
            "role": "assistant",
            "model": "claude-x",
            "content": [content],
            "usage": {
                "input_tokens": 10,
                "output_tokens": output,
                "cache_read_input_tokens": 100,
            },
        }

    def result(call_id: str, content: Any, *, failed: bool = False) -> dict[str, Any]:
        part = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if failed:
            part["is_error"] = True
        return {"role": "user", "content": [part]}

    line("user", {"role": "user", "content": "<harness note>"}, isMeta=True)
    line("user", {"role": "user", "content": PROMPT})
    line("assistant", block("m1", {"type": "thinking", "thinking": "Hm."}, 1))
    for n, given in enumerate((OSLO, ATLANTIS), 1):
        use = {
            "type": "tool_use",
            "id": f"call-{n}",
            "name": "forecast",
            "input": given,
        }
        line("assistant", block("m1", use, 5))
    line("user", result("call-1", [{"type": "text", "text": RAIN}]))
    line("user", result("call-2", UNKNOWN, failed=True))
    line("assistant", block("m2", {"type": "text", "text": ANSWER}, 5))
    return [{"type": "summary", "summary": "Weather", "leafUuid": "u7"}, *lines]


def inspect_sample(sample_id: Any = "oslo", epoch: int = 1) -> dict[str, Any]:
    calls = [
        {
            "id": f"call-{n}",
            "function": "forecast",
            "arguments": given,
            "type": "function",
        }
        for n, given in enumerate((OSLO, ATLANTIS), 1)
    ]
    messages = [
        {"id": "1", "role": "system", "content": SYSTEM},
        {"id": "2", "role": "user", "content": "attachment://abc", "source": "input"},
        {"id": "3", "role": "assistant", "content": "", "tool_calls": calls},
        {
            "id": "4",
            "role": "tool",
            "content": RAIN,
            "tool_call_id": "call-1",
            "function": "forecast",
        },
        {
            "id": "5",
            "role": "tool",
            "content": "",
            "tool_call_id": "call-2",
            "function": "forecast",
            "error": {"type": "unknown", "message": UNKNOWN},
        },
        {
            "id": "6",
            "role": "assistant",
            "content": [{"type": "reasoning", "reasoning": "Hm."}, said_text(ANSWER)],
        },
    ]
    return {
        "id": sample_id,
        "epoch": epoch,
        "input": PROMPT,
        "target": "rain",
        "messages": messages,
        "output": {"model": "m-1", "choices": [{"message": messages[-1]}]},
        "scores": {"match": {"value": "C", "explanation": "it matches"}},
        "metadata": {"kind": "weather"},
        "model_usage": {
            "m-1": {"input_tokens": 20, "output_tokens": 10, "total_tokens": 30}
        },
        "total_time": 6.5,
        "attachments": {"abc": PROMPT},
    }


def said_text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def inspect_log(*samples: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "e-1",
            "run_id": "r-1",
            "task": "weather",
            "model": "m-1",
            "created": "2026-01-02T03:04:01+00:00",
        },
        "plan": {"steps": []},
        "samples": list(samples),
    }


def inspect_zip(*samples: dict[str, Any]) -> bytes:
    header = {k: v for k, v in inspect_log().items() if k != "samples"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, dumps(sample))
        archive.writestr("header.json", dumps(header))
    return buffer.getvalue()


EVERY: dict[str, tuple[str, Any]] = {
    "langfuse": ("langfuse", json.dumps(langfuse_trace(), indent=2)),
    "langfuse-lines": ("langfuse", [langfuse_trace()]),
    "langfuse-rows": ("langfuse", langfuse_trace()["observations"]),
    "otel-messages": ("otel", json.dumps(otlp(genai_messages()), indent=1)),
    "otel-events": ("otel", [otlp([span]) for span in genai_events()]),
    "otel-numbered": ("otel", [otlp(genai_numbered())]),
    "openinference": ("openinference", [otlp(openinference())]),
    "openai-chat": ("openai-chat", [chat()]),
    "claude-code": ("claude-code", session()),
    "inspect-json": ("inspect", json.dumps(inspect_log(inspect_sample()), indent=2)),
    "inspect-zip": ("inspect", inspect_zip(inspect_sample())),
}
"""Name → (format, content): the one run in each way to write it."""
