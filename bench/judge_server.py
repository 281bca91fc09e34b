"""A loopback judge with a fixed latency; it speaks the OpenAI chat-completions wire.

Prints its base URL on the first line. It does not parse a request's body: every call
gets a verdict that passes. A GET says how many verdicts were given so far.
"""

import argparse
import asyncio
import json

VERDICT = {
    "critique": "The answer names the policy.",
    "result": "pass",
    "refs": [{"obs": "output", "path": "", "value": "refunded"}],
    "confidence": 0.9,
    "assumptions": [],
    "blockedBy": None,
}
BODY = json.dumps(
    {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "judge-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": json.dumps(VERDICT)},
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 200, "completion_tokens": 30, "total_tokens": 230},
    }
).encode()
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n" % len(BODY)
) + BODY


class Connection(asyncio.Protocol):
    """One keep-alive connection; `calls` is counted over all of them."""

    calls = 0

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            start = head.find(b"content-length:")
            length = int(head[start + 15 :].split(b"\r\n")[0]) if start >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            self.buffer = self.buffer[end + 4 + length :]
            if head.startswith(b"get "):
                self.say_calls()
                continue
            asyncio.get_running_loop().call_later(self.latency, self.answer)

    def answer(self) -> None:
        Connection.calls += 1
        if self.transport is not None:
            self.transport.write(ANSWER)

    def say_calls(self) -> None:
        assert self.transport is not None
        said = str(Connection.calls).encode()
        self.transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(said), said)
        )


async def serve(latency_ms: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(latency_ms / 1000), "127.0.0.1", 0, backlog=1024
    )
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency-ms", type=float, default=50)
    asyncio.run(serve(parser.parse_args().latency_ms))
