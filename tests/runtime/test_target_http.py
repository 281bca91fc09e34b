"""Subjects behind HTTP: each wire format against a real server, and every mishap."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.refusal import CANT_CARRY_OUT, USAGE, Refusal
from helix_runtime.targets import MAX_OUTPUT, Target, TargetUnreachable, open_target
from helix_runtime.targets.options import TargetOptions
from support.agent_server import AgentServer, Asked, Says, agent_server
from support.target_modules import calls_of, case, error_of, says

Serve = Callable[[Callable[[Asked], Says]], AgentServer]
MASTRA = json.loads(
    (Path(__file__).parents[1] / "data" / "mastra_generate.json").read_text("utf-8")
)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that end with the test, and then close what `reach` opened."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(agent_server(answer))
    while OPENED:
        OPENED.pop().close()


OPENED: list[Target] = []


def reach(server: AgentServer, path: str = "/agent", **table: Any) -> Target:
    target = open_target(
        f"http:{server.url}{path}", root=Path("."), options=TargetOptions(table)
    )
    OPENED.append(target)
    return target


# -- OpenAI-compatible chat --------------------------------------------------------


def chat(asked: Asked, **message: Any) -> Says:
    people = sum(m["role"] == "user" for m in asked.body["messages"])
    return Says(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": "desk-1",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": f"At sea ({people}).",
                        **message,
                    },
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": 20,
                "completion_tokens": 5,
                "total_tokens": 25,
                "prompt_tokens_details": {"cached_tokens": 8},
            },
        }
    )


def test_chat_is_asked_for_a_completion_a_turn_with_all_that_was_said(
    serve: Serve,
) -> None:
    server = serve(chat)
    target = reach(
        server,
        "/v1",
        preset="openai-chat",
        model="desk-1",
        body={"temperature": 0, "user": "{conversation}"},
    )
    script = case(input={"turns": ["Where is order 1?", "And order 2?"]})
    trace = target.call(script, trace_id="t-1", timeout=60)
    target.close()
    assert says(trace) == [
        ("user", "Where is order 1?"),
        ("assistant", "At sea (1)."),
        ("user", "And order 2?"),
        ("assistant", "At sea (2)."),
    ]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (40, 10)
    first, second = server.asked
    assert first.path == second.path == "/v1/chat/completions"
    assert [m["role"] for m in second.body["messages"]] == ["user", "assistant", "user"]
    assert first.body["model"] == "desk-1" and first.body["temperature"] == 0
    assert first.body["user"] == second.body["user"] != ""
    assert server.connections == 1, "the connection is kept"
    assert trace.observed == {"output"}, "what the server does inside is not seen"
    assert "secret" not in json.dumps([a.body for a in server.asked])


def test_tool_calls_that_chat_hands_back_are_seen(serve: Serve) -> None:
    calls = [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "find", "arguments": '{"order": 1}'},
        }
    ]
    server = serve(lambda asked: chat(asked, content=None, tool_calls=calls))
    target = reach(server, preset="openai-chat", model="m")
    trace = target.call(case(), trace_id="t", timeout=60)
    assert calls_of(trace) == [("find", {"order": 1}, None, False)]
    assert "tools" in trace.observed


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "no tokens left", "code": 1}}, "no tokens left"),
        ({"choices": []}, "no chat completion"),
        ("plain text", "no chat completion"),
        ([1], "no chat completion"),
    ],
)
def test_an_answer_that_is_no_completion_is_the_subjects_failure(
    serve: Serve, body: Any, said: str
) -> None:
    target = reach(serve(lambda asked: Says(body)), preset="openai-chat", model="m")
    assert said in error_of(target.call(case(), trace_id="t", timeout=60))


# -- Mastra ------------------------------------------------------------------------


def test_mastra_gives_messages_tools_errors_and_usage(serve: Serve) -> None:
    """The body is what a Mastra 1.71 server sent for an agent with one broken tool."""
    server = serve(lambda asked: Says(MASTRA))
    target = reach(server, "/api/agents/desk", preset="mastra")
    trace = target.call(case(), trace_id="t", timeout=60)
    (asked,) = server.asked
    assert asked.path == "/api/agents/desk/generate"
    assert asked.body == {"messages": [{"role": "user", "content": case().query}]}
    assert says(trace)[1:] == [("assistant", "Let me see."), ("assistant", "At sea.")]
    assert calls_of(trace) == [
        ("find", {"order": 1}, {"at": "sea"}, False),
        ("find", {"order": 2}, "no such order", True),
    ]
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (22, 10)
    assert {s.extra["model"] for s in trace.spans if s.kind == "llm"} == {"fake-1"}


def test_mastra_of_before_gives_steps_with_flat_calls(serve: Serve) -> None:
    reply = {
        "text": "At sea.",
        "finishReason": "stop",
        "usage": {"promptTokens": 9, "completionTokens": 3, "totalTokens": 12},
        "steps": [
            {
                "text": "",
                "toolCalls": [
                    {"toolCallId": "c1", "toolName": "find", "args": {"order": 1}}
                ],
                "toolResults": [
                    {"toolCallId": "c1", "toolName": "find", "result": {"at": "sea"}}
                ],
            },
            {"text": "At sea.", "toolCalls": [], "toolResults": []},
        ],
    }
    target = reach(
        serve(lambda asked: Says(reply)), "/api/agents/x/generate", preset="mastra"
    )
    trace = target.call(case(), trace_id="t", timeout=60)
    assert calls_of(trace) == [("find", {"order": 1}, {"at": "sea"}, False)]
    assert trace.answer == "At sea."
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (9, 3)


def test_structured_output_of_mastra_is_the_answer(serve: Serve) -> None:
    reply = {"text": '{"shelf":"A3"}', "object": {"shelf": "A3"}, "steps": []}
    target = reach(serve(lambda asked: Says(reply)), "/api/agents/x", preset="mastra")
    trace = target.call(case(), trace_id="t", timeout=60)
    assert trace.output == {"shelf": "A3"}


# -- A2A ---------------------------------------------------------------------------


def rpc(asked: Asked, result: Any) -> Says:
    return Says({"jsonrpc": "2.0", "id": asked.body["id"], "result": result})


def test_a2a_sends_a_message_waits_for_the_task_and_keeps_its_context(
    serve: Serve,
) -> None:
    looks = iter(["working", "completed"])

    def answer(asked: Asked) -> Says:
        task = {"id": "task-1", "contextId": "ctx-1", "kind": "task"}
        params = asked.body["params"]
        if asked.body["method"] == "message/send" and "taskId" not in params["message"]:
            message = {
                "role": "agent",
                "kind": "message",
                "messageId": "m",
                "parts": [{"kind": "text", "text": "Which order?"}],
            }
            status = {"state": "input-required", "message": message}
            return rpc(asked, {**task, "status": status})
        state = next(looks) if asked.body["method"] == "tasks/get" else "submitted"
        artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": "At sea."}]}
        more = {"artifacts": [artifact]} if state == "completed" else {}
        return rpc(asked, {**task, "status": {"state": state}, **more})

    server = serve(answer)
    target = reach(server, preset="a2a")
    script = case(input={"turns": ["Where is my order?", "Order 1"]})
    trace = target.call(script, trace_id="t", timeout=60)
    assert says(trace) == [
        ("user", "Where is my order?"),
        ("assistant", "Which order?"),
        ("user", "Order 1"),
        ("assistant", "At sea."),
    ]
    methods = [asked.body["method"] for asked in server.asked]
    assert methods == ["message/send", "message/send", "tasks/get", "tasks/get"]
    message = server.asked[1].body["params"]["message"]
    assert (message["contextId"], message["taskId"]) == ("ctx-1", "task-1")
    assert message["parts"] == [{"kind": "text", "text": "Order 1"}]
    assert server.asked[0].headers["a2a-version"] == "0.3"


def test_a2a_of_release_1_speaks_in_its_own_words(serve: Serve) -> None:
    def answer(asked: Asked) -> Says:
        artifact = {"artifactId": "a", "parts": [{"data": {"shelf": "A3"}}]}
        task = {"id": "t", "contextId": "c", "artifacts": [artifact]}
        return rpc(
            asked, {"task": {**task, "status": {"state": "TASK_STATE_COMPLETED"}}}
        )

    server = serve(answer)
    target = reach(server, preset="a2a", version="1.0")
    trace = target.call(case(), trace_id="t", timeout=60)
    assert trace.output == {"shelf": "A3"}
    (asked,) = server.asked
    assert asked.body["method"] == "SendMessage"
    assert asked.headers["a2a-version"] == "1.0"
    message = asked.body["params"]["message"]
    assert message["role"] == "ROLE_USER" and message["parts"] == [
        {"text": case().query}
    ]


def test_a_message_in_place_of_a_task_is_an_answer(serve: Serve) -> None:
    reply = {
        "kind": "message",
        "role": "agent",
        "parts": [{"kind": "text", "text": "Hi"}],
    }
    target = reach(serve(lambda asked: rpc(asked, reply)), preset="a2a")
    assert target.call(case(), trace_id="t", timeout=60).answer == "Hi"


def test_a_refusal_of_the_agent_is_an_answer_and_a_failed_task_is_a_failure(
    serve: Serve,
) -> None:
    def answer(state: str) -> Callable[[Asked], Says]:
        message = {"role": "agent", "parts": [{"kind": "text", "text": "Not that."}]}
        status = {"state": state, "message": message}
        return lambda asked: rpc(asked, {"id": "t", "kind": "task", "status": status})

    refused = reach(serve(answer("rejected")), preset="a2a")
    trace = refused.call(case(), trace_id="t", timeout=60)
    assert (trace.answer, trace.ext["helix"]["state"]) == ("Not that.", "rejected")
    failed = reach(serve(answer("failed")), preset="a2a")
    assert "failed: Not that." in error_of(
        failed.call(case(), trace_id="t", timeout=60)
    )
    locked = reach(serve(answer("auth-required")), preset="a2a")
    with pytest.raises(TargetUnreachable, match="asks for credentials"):
        locked.call(case(), trace_id="t", timeout=60)


def test_a_server_that_is_no_a2a_stops_the_run(serve: Serve) -> None:
    error = {"code": -32601, "message": "Method not found"}
    target = reach(
        serve(lambda asked: Says({"jsonrpc": "2.0", "id": 1, "error": error})),
        preset="a2a",
    )
    with pytest.raises(TargetUnreachable, match="does not understand"):
        target.call(case(), trace_id="t", timeout=60)


# -- a mapping, and no mapping at all ------------------------------------------------

MAPPING: dict[str, Any] = {
    "request": {
        "query": {"tenant": "{input.tenant}"},
        "body": {
            "text": "The user says: {query}",
            "order": "{input.order}",
            "thread": "{session}",
            "literal": "{{query}}",
            "nothing": "{input.not.there}",
        },
    },
    "response": {
        "output": "reply.0.text",
        "session": "thread",
        "error": "problem",
        "input_tokens": "used.in",
        "output_tokens": "used.out",
        "model": "used.model",
        "cost_usd": "used.usd",
        "tool_calls": "trail",
        "call": {
            "name": "tool",
            "arguments": "with",
            "result": "gave",
            "error": "broke",
            "id": "no",
        },
    },
}


def test_a_mapping_says_what_goes_out_and_where_things_stand_in_the_answer(
    serve: Serve,
) -> None:
    def answer(asked: Asked) -> Says:
        return Says(
            {
                "reply": [{"text": f"to {asked.body['thread']}"}],
                "thread": "th-7",
                "used": {"in": 7, "out": 2, "model": "m-1", "usd": 0.25},
                "trail": [
                    {"tool": "find", "with": {"order": 1}, "gave": "sea", "no": "1"},
                    {"tool": "find", "with": {}, "broke": "no order", "no": "2"},
                ],
            }
        )

    server = serve(answer)
    target = reach(server, "/ask?v=1", **MAPPING)
    given = {"turns": ["One", "Two"], "order": {"id": 4711}, "tenant": "a b"}
    trace = target.call(case(input=given), trace_id="t", timeout=60)
    first, second = server.asked
    assert first.path == "/ask?v=1&tenant=a+b"
    assert first.body == {
        "text": "The user says: One",
        "order": {"id": 4711},
        "thread": None,
        "literal": "{query}",
        "nothing": None,
    }
    assert second.body["thread"] == "th-7"
    assert [text for role, text in says(trace)] == ["One", "to None", "Two", "to th-7"]
    assert calls_of(trace)[:2] == [
        ("find", {"order": 1}, "sea", False),
        ("find", {}, "no order", True),
    ]
    usage = trace.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (14, 4, 0.5)


def test_an_error_at_its_path_and_an_answer_without_output_fail_the_case(
    serve: Serve,
) -> None:
    bodies = iter([{"problem": "no luck"}, {"reply": []}])
    target = reach(serve(lambda asked: Says(next(bodies))), **MAPPING)
    assert "no luck" in error_of(target.call(case(), trace_id="t", timeout=60))
    error = error_of(target.call(case(), trace_id="t", timeout=60))
    assert "nothing stands at `reply.0.text`" in error


def test_templates_look_data_up_and_evaluate_nothing(serve: Serve) -> None:
    server = serve(lambda asked: Says("ok"))
    for text in ("{query.__class__}", "{messages.0.content.format}"):
        target = reach(server, request={"body": {"x": text}})
        target.call(case(), trace_id="t", timeout=60)
        assert server.asked[-1].body == {"x": None}
    hostile = case("{conversation} {{}} {input} {0.__class__}")
    target = reach(server, request={"body": {"x": "<{query}>"}})
    target.call(hostile, trace_id="t", timeout=60)
    assert server.asked[-1].body == {"x": f"<{hostile.query}>"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"a": ["{qery}"]}, "did you mean 'query'"),
        ({"a": "{"}, "write it twice"),
        ({"a": "{}"}, "names nothing"),
        ({"a": "{query!r}"}, "names nothing"),
    ],
)
def test_a_template_that_names_nothing_is_refused_with_its_place(
    serve: Serve, body: Any, said: str
) -> None:
    server = serve(lambda asked: Says("ok"))
    with pytest.raises(Refusal, match="target.request.body.a") as refused:
        reach(server, request={"body": body})
    assert said in str(refused.value) and refused.value.exit_code == USAGE


@pytest.mark.parametrize(
    ("says_", "answer"),
    [
        (Says("At sea."), "At sea."),
        (Says({"shelf": "A3"}), {"shelf": "A3"}),
        (Says(raw=b"plain text", headers={"Content-Type": "text/plain"}), "plain text"),
        (
            Says({"output": "At sea.", "tool_calls": [{"name": "find", "result": 1}]}),
            "At sea.",
        ),
        (
            Says(
                {
                    "traceId": "theirs",
                    "spans": [{"kind": "llm", "role": "assistant", "output": "Hi."}],
                }
            ),
            "Hi.",
        ),
    ],
)
def test_without_a_mapping_the_case_goes_out_and_what_a_program_prints_comes_back(
    serve: Serve, says_: Says, answer: Any
) -> None:
    server = serve(lambda asked: says_)
    target = reach(server)
    trace = target.call(case(input={"order": 1}), trace_id="t", timeout=60)
    assert trace.output == answer and trace.id == "t"
    (asked,) = server.asked
    assert asked.body["query"] == case().query and asked.body["input"] == {"order": 1}
    assert "expected" not in asked.body


# -- credentials -------------------------------------------------------------------


def test_credentials_come_from_the_environment_and_never_reach_the_trace(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_LOGIN", "s3cret-s3cret")

    def answer(asked: Asked) -> Says:
        return Says({"you sent": asked.headers["authorization"]})

    server = serve(answer)
    headers = {
        "Authorization": {"env": "DESK_LOGIN", "prefix": "Bearer "},
        "X-Tenant": "demo",
    }
    target = reach(server, headers=headers)
    trace = target.call(case(), trace_id="t", timeout=60)
    (asked,) = server.asked
    assert asked.headers["authorization"] == "Bearer s3cret-s3cret"
    assert asked.headers["x-tenant"] == "demo"
    assert trace.output == {"you sent": "Bearer [DESK_LOGIN redacted]"}


def test_where_a_server_redirects_to_is_told_without_credentials(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_LOGIN", "s3cret-s3cret")
    to = {"Location": "https://elsewhere.test/?key=s3cret-s3cret"}
    server = serve(lambda asked: Says({}, status=302, headers=to))
    target = reach(server, headers={"X-Key": {"env": "DESK_LOGIN"}})
    with pytest.raises(TargetUnreachable) as caught:
        target.call(case(), trace_id="t", timeout=60)
    assert "elsewhere.test/?key=[DESK_LOGIN redacted]" in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_variable_that_is_not_set_is_said_before_anything_is_sent(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DESK_LOGIN", raising=False)
    server = serve(lambda asked: Says("x"))
    with pytest.raises(Refusal, match="set DESK_LOGIN") as refused:
        reach(server, headers={"Authorization": {"env": "DESK_LOGIN"}})
    assert refused.value.exit_code == CANT_CARRY_OUT and not server.asked


@pytest.mark.parametrize(
    "ref",
    [
        "http:",
        "http:localhost:80",
        "http:ftp://host/x",
        "http://",
        "http:http://host:99999/",
        "http:http://host/a b",
    ],
)
def test_a_url_that_is_none_is_refused(ref: str) -> None:
    with pytest.raises(Refusal, match="must read http:URL") as refused:
        open_target(ref, root=Path("."))
    assert refused.value.exit_code == USAGE


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(Refusal) as refused:
        open_target("http:https://me:hunter2@host/x", root=Path("."))
    assert "hunter2" not in str(refused.value)


# -- what goes wrong ----------------------------------------------------------------


def test_a_server_that_is_not_there_is_found_before_the_first_case() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Refusal, match="can't be reached") as refused:
        open_target(f"http:http://127.0.0.1:{port}/x", root=Path("."))
    assert refused.value.exit_code == CANT_CARRY_OUT


def test_a_certificate_that_is_not_trusted_stops_the_run(tmp_path: Path) -> None:
    """A server that speaks no TLS stands for it: the handshake can't be verified."""
    with agent_server(lambda asked: Says("x")) as server:
        with pytest.raises(Refusal, match="can't be reached") as refused:
            open_target(server.url.replace("http:", "https:"), root=tmp_path)
    assert refused.value.exit_code == CANT_CARRY_OUT


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "refused the credentials"),
        (403, "refused the credentials"),
        (404, "nothing answers there"),
        (405, "nothing answers there"),
        (307, "redirects to https://elsewhere.test/"),
    ],
)
def test_what_says_that_the_way_is_wrong_stops_the_run(
    serve: Serve, status: int, said: str
) -> None:
    headers = {"Location": "https://elsewhere.test/"}
    server = serve(lambda asked: Says({}, status=status, headers=headers))
    target = reach(server)
    with pytest.raises(TargetUnreachable, match=said):
        target.call(case(), trace_id="t", timeout=60)
    assert len(server.asked) == 1


def _close(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def _tear(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    handler.close_connection = True


def _babble(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"this is no HTTP\r\n\r\n")
    handler.close_connection = True


def _flood(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    size = 100 * 1024 * 1024
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
    block = b"x" * (1 << 16)
    try:
        for _ in range(size // len(block)):
            handler.wfile.write(block)
    except OSError:
        return  # the client had enough


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Says({"why": "it broke"}, status=500), 'HTTP 500: {"why": "it broke"}'),
        (Says(raw=b"\xff\xfe", status=502), "HTTP 502"),
        (Says(raw=b'"caf\xe9"'), "not UTF-8"),
        (
            Says(raw=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}),
            "its Content-Encoding is gzip",
        ),
        (
            Says(raw=b"data: x\n\n", headers={"Content-Type": "text/event-stream"}),
            "a stream of events",
        ),
        (Says(behave=_tear), "broke off"),
        (Says(behave=_babble), "broke off"),
        (Says(behave=_flood), f"more than {MAX_OUTPUT} bytes"),
    ],
)
def test_a_subject_that_fails_over_http_fails_its_case(
    serve: Serve, answer: Says, said: str
) -> None:
    server = serve(lambda asked: answer)
    target = reach(server)
    trace = target.call(case(), trace_id="t", timeout=60)
    assert said in error_of(trace)
    assert trace.spans[0].input == case().query
    target.close()


def test_a_server_that_closes_without_an_answer_is_not_asked_again(
    serve: Serve,
) -> None:
    server = serve(lambda asked: Says(behave=_close))
    target = reach(server)
    assert "broke off" in error_of(target.call(case(), trace_id="t", timeout=60))
    assert len(server.asked) == 1


def test_what_a_server_sends_unasked_answers_no_other_case(serve: Serve) -> None:
    sent = threading.Semaphore(0)

    def answer(asked: Asked) -> Says:
        def twice(handler: BaseHTTPRequestHandler) -> None:
            text = json.dumps(asked.body["query"]).encode()
            whole = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b"
            handler.wfile.write(whole % (len(text), text))
            handler.wfile.write(whole % (len(text), text))
            sent.release()

        return Says(behave=twice)

    target = reach(serve(answer))
    for query in ("first", "second", "third"):
        trace = target.call(case(query=query), trace_id="t", timeout=60)
        assert trace.answer == query
        assert sent.acquire(timeout=60)


def test_a_connection_that_was_closed_while_idle_is_opened_again(serve: Serve) -> None:
    closed = threading.Semaphore(0)

    def answer(asked: Asked) -> Says:
        def last(handler: BaseHTTPRequestHandler) -> None:
            # Says nothing of closing, and does.
            handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"ok"')
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            closed.release()

        return Says(behave=last)

    server = serve(answer)
    target = reach(server)
    for name in "abc":
        assert target.call(case(), trace_id=name, timeout=60).answer == "ok"
        assert closed.acquire(timeout=60)
    assert len(server.asked) == 3 and server.connections >= 3


def test_a_server_that_stalls_or_drips_is_given_up_at_the_deadline(
    serve: Serve,
) -> None:
    server: AgentServer

    def stall(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        server.free.wait()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not server.free.wait(0.02):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    ways = iter([stall, drip])
    server = serve(lambda asked: Says(behave=next(ways)))
    target = reach(server)
    for name in ("stall", "drip"):
        trace = target.call(case(), trace_id=name, timeout=0.3)
        assert error_of(trace) == "timed out after 0.3 s"


def test_a_busy_server_is_asked_again_when_it_says(serve: Serve) -> None:
    busy = Says({}, status=429, headers={"Retry-After": "0"})
    ways = iter([busy, Says({}, status=503, headers={"Retry-After": "0"}), Says("ok")])
    server = serve(lambda asked: next(ways))
    trace = reach(server).call(case(), trace_id="t", timeout=60)
    assert trace.answer == "ok" and len(server.asked) == 3


def test_a_server_that_stays_busy_fails_the_case(serve: Serve) -> None:
    busy = Says({"why": "busy"}, status=429, headers={"Retry-After": "0"})
    server = serve(lambda asked: busy)
    trace = reach(server).call(case(), trace_id="t", timeout=60)
    assert "HTTP 429" in error_of(trace) and len(server.asked) == 4


def test_calls_side_by_side_have_a_connection_each(serve: Serve) -> None:
    from concurrent.futures import ThreadPoolExecutor

    server = serve(lambda asked: Says(asked.body["query"]))
    target = reach(server)
    with ThreadPoolExecutor(8) as pool:
        traces = list(
            pool.map(
                lambda n: target.call(case(f"Q{n}"), trace_id=f"t{n}", timeout=60),
                range(40),
            )
        )
    assert [trace.answer for trace in traces] == [f"Q{n}" for n in range(40)]
    assert server.connections <= 9
    target.close()
