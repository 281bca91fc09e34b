"""The order desk behind HTTP, in the wire formats that a suite knows.

    python servers.py 8137

serves an OpenAI-compatible chat endpoint at `/v1`, an A2A agent at `/a2a` and an API
of its own at `/ask`. Only the standard library is used.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from python_desk import answer


def chat(body: dict[str, Any]) -> dict[str, Any]:
    """Answer a chat completion."""
    said = answer(None, body["messages"])
    calls = [
        {
            "id": f"call-{len(body['messages'])}",
            "type": "function",
            "function": {
                "name": call["name"],
                "arguments": json.dumps(call["arguments"]),
            },
        }
        for call in said["tool_calls"]
    ]
    message = {"role": "assistant", "content": said["output"], "tool_calls": calls}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28},
    }


def a2a(body: dict[str, Any]) -> dict[str, Any]:
    """Answer `message/send` with a task that is over."""
    message = body["params"]["message"]
    text = message["parts"][0]["text"]
    said = answer(None, [{"role": "user", "content": text}])
    task = {
        "kind": "task",
        "id": f"task-{message['messageId']}",
        "contextId": message.get("contextId", f"context-{message['messageId']}"),
        "status": {"state": "completed"},
        "artifacts": [
            {"artifactId": "a", "parts": [{"kind": "text", "text": said["output"]}]}
        ],
    }
    return {"jsonrpc": "2.0", "id": body["id"], "result": task}


def ask(body: dict[str, Any]) -> dict[str, Any]:
    """Answer in a format of our own, which `mapping.toml` describes."""
    said = answer(None, [{"role": "user", "content": body["question"]}])
    trail = [
        {"tool": call["name"], "with": call["arguments"], "gave": call.get("result")}
        for call in said["tool_calls"]
    ]
    return {"reply": {"text": said["output"]}, "trail": trail}


ROUTES = {"/v1/chat/completions": chat, "/a2a": a2a, "/ask": ask}


class Handler(BaseHTTPRequestHandler):
    """Sends each request to the function of its path."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer one request."""
        data = self.rfile.read(int(self.headers["Content-Length"]))
        route = ROUTES.get(self.path)
        reply = {"error": "not found"} if route is None else route(json.loads(data))
        body = json.dumps(reply).encode()
        self.send_response(404 if route is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def serve(port: int) -> ThreadingHTTPServer:
    """Return the server, ready to serve; port 0 takes a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    serve(int(sys.argv[1])).serve_forever()
