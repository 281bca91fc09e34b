"""The subject behind HTTP: `http:URL`, with a preset or a mapping of evals.toml.

Without either, it gets what a `command:` gets (the case as one JSON object) and may
answer what a program may print: text, JSON, an answer with tool calls, a UniTF trace.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, Final
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import uuid4

from ..case import Case
from ..refusal import Refusal
from ..safe_text import printable
from ..trace import Trace
from ..wire import BadProxy, Broken, Reply, TooLarge, TooLate, Unreachable, Wire
from . import MAX_OUTPUT, Target, TargetUnreachable, unreachable
from .conversation import SubjectFailed, SubjectLate, converse
from .hooks import simulator_of
from .http_format import Format, Request
from .options import TargetOptions
from .recording import Recording

_TRIES: Final = 4
_FIRST_WAIT: Final = 0.5  # seconds before a request that was put off is sent again
_LONGEST_WAIT: Final = 30.0
_SHORTEST_SECRET: Final = 8
_EXCERPT: Final = 500


class HttpTarget:
    """Posts each turn to a server."""

    kills: Final = True

    def __init__(
        self,
        name: str,
        protocol: Format,
        *,
        url: str,
        headers: Mapping[str, str],
        secrets: Mapping[str, str],
        options: TargetOptions,
        root: Path,
    ) -> None:
        self.name: Final = name
        self._protocol = protocol
        self._options = options
        self._secrets = secrets
        self._simulator = simulator_of(options, root=root)
        parts = urlsplit(protocol.url(url))
        self._path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        try:
            self._wire = Wire(url, limit=MAX_OUTPUT)
        except BadProxy as error:
            raise Refusal(f"the target {name}: {error}") from None
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "helix-evals",
            **protocol.headers(),
            **headers,
        }

    def warm_up(self, timeout: float) -> None:
        """Open the first connection. Raises Refusal (exit 4) where there is no server."""
        try:
            self._wire.connect(monotonic() + timeout)
        except Unreachable as error:
            raise unreachable(self._cant_reach(str(error))) from error

    def call(self, case: Case, *, trace_id: str, timeout: float) -> Trace:
        """Return the trace of one conversation, given up after `timeout` seconds."""
        dialogue = self._protocol.open(case, conversation=f"{trace_id}-{uuid4().hex}")

        def say(text: str, recording: Recording, left: float) -> None:
            deadline = monotonic() + left
            turn = dialogue.turn(text, recording)
            request = next(turn)
            while True:
                answer = self._answer(request, deadline)
                try:
                    request = turn.send(answer)
                except StopIteration:
                    return

        return converse(
            case,
            trace_id=trace_id,
            timeout=timeout,
            observed=self._options.observes or self._protocol.observed,
            simulator=self._simulator,
            say=say,
            max_turns=self._options.max_turns,
        )

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    # -- one request ------------------------------------------------------------------

    def _answer(self, request: Request, deadline: float) -> Any:
        if request.after:
            _wait(request.after, deadline)
        pause = _FIRST_WAIT
        for tried in range(1, _TRIES + 1):
            reply = self._exchange(request, deadline)
            # The server says itself that it did not take the request: later, then.
            put_off = reply.status == 429 or (
                reply.status == 503 and reply.headers.get("retry-after") is not None
            )
            if not put_off or tried == _TRIES:
                return self._read(reply)
            told = _retry_after(reply)
            _wait(pause if told is None else told, deadline)
            pause *= 2
        raise AssertionError("unreachable")

    def _exchange(self, request: Request, deadline: float) -> Reply:
        path = self._path
        if request.query:
            joint = "&" if "?" in path else "?"
            path += joint + urlencode(
                {key: _as_word(value) for key, value in request.query.items()}
            )
        body = None
        if request.method != "GET":
            body = json.dumps(request.body, ensure_ascii=False).encode(
                "utf-8", "backslashreplace"
            )
        try:
            return self._wire.exchange(
                request.method,
                path,
                body=body,
                headers=self._headers,
                deadline=deadline,
            )
        except Unreachable as error:
            raise TargetUnreachable(self._cant_reach(str(error))) from error
        except TooLate:
            raise SubjectLate from None
        except TooLarge:
            raise SubjectFailed(
                f"the server answered more than {MAX_OUTPUT} bytes"
            ) from None
        except Broken as error:
            raise SubjectFailed(
                f"the server broke off before it had answered: {error}"
            ) from error

    def _read(self, reply: Reply) -> Any:
        status = reply.status
        try:
            text = reply.data.decode("utf-8")
        except UnicodeDecodeError as error:
            text = ""
            if 200 <= status < 300:
                coding = printable(reply.headers.get("content-encoding", ""), 40)
                told = f"; its Content-Encoding is {coding}" if coding else ""
                raise SubjectFailed(
                    f"the server answered what is not UTF-8 ({error.reason}, at byte "
                    f"{error.start}){told}"
                ) from None
        text = self._clean(text)
        said = f": {printable(text.strip(), _EXCERPT)}" if text.strip() else ""
        if status in (401, 403, 407):
            raise TargetUnreachable(
                self._cant_reach(f"it refused the credentials (HTTP {status}){said}")
            )
        if status in (404, 405, 410):
            raise TargetUnreachable(
                self._cant_reach(f"nothing answers there (HTTP {status}){said}")
            )
        if 300 <= status < 400:
            location = self._clean(reply.headers.get("location", "nowhere"))
            to = printable(location, _EXCERPT)
            raise TargetUnreachable(
                self._cant_reach(f"it redirects to {to}: name that URL itself")
            )
        if not 200 <= status < 300:
            raise SubjectFailed(f"the server answered with HTTP {status}{said}")
        kind = str(reply.headers.get("content-type") or "")
        if kind.startswith("text/event-stream"):
            raise SubjectFailed(
                "the server answered with a stream of events: ask it for a whole answer"
            )
        try:
            return json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return text

    def _clean(self, text: str) -> str:
        """Take out of an answer the secrets that were sent: a server may repeat them."""
        for name, value in self._secrets.items():
            if len(value) >= _SHORTEST_SECRET and value in text:
                text = text.replace(value, f"[{name} redacted]")
        return text

    def _cant_reach(self, why: str) -> str:
        return f"the target {self.name!r} can't be reached: {why}"


def open_http(ref: str, *, options: TargetOptions, root: Path) -> Target:
    """Return the target of `http:URL` or of a bare URL.

    Raises Refusal: exit 2 for a URL or a mapping that can't be read, exit 4 for a
    variable of the environment that is not set.
    """
    url = ref
    if ref.startswith("http:") and not ref.startswith("http://"):
        url = ref.removeprefix("http:")
    _check_url(url, ref)
    headers, secrets = _headers_of(options.table.get("headers") or {}, ref)
    return HttpTarget(
        ref,
        _protocol_of(options),
        url=url,
        headers=headers,
        secrets=secrets,
        options=options,
        root=root,
    )


def _protocol_of(options: TargetOptions) -> Format:
    table = options.table
    preset = table.get("preset")
    if preset == "openai-chat":
        from .http_openai import OpenAIChat

        return OpenAIChat(table)
    if preset == "mastra":
        from .http_mastra import Mastra

        return Mastra(table)
    if preset == "a2a":
        from .http_a2a import A2A

        return A2A(table)
    from .http_mapping import Mapped, Plain

    return Mapped(table) if "request" in table or "response" in table else Plain()


def _check_url(url: str, ref: str) -> None:
    try:
        parts = urlsplit(url)
        # Reading the port is what finds one that is none.
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good or any(ord(character) <= 32 for character in url):
        raise Refusal(
            f"the target {ref!r} must read http:URL with a URL that starts with "
            "http:// or https://"
        )
    if parts.username is not None or parts.password is not None:
        raise Refusal(
            "the target's URL holds credentials: take them from the environment, with "
            '[target.headers] in evals.toml: Authorization = { env = "NAME" }'
        )


def _headers_of(
    table: Mapping[str, Any], ref: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the headers, and the secrets among them by the variable's name."""
    headers: dict[str, str] = {}
    secrets: dict[str, str] = {}
    missing = []
    for name, header in table.items():
        if isinstance(header, str):
            headers[name] = header
            continue
        variable = header["env"]
        value = os.environ.get(variable, "").strip()
        if not value:
            missing.append(
                f"the target {ref!r} sends {name}: set {variable} in the environment"
            )
        secrets[variable] = value
        headers[name] = header.get("prefix", "") + value
    for name, text in headers.items():
        if any(ord(character) < 32 or ord(character) > 255 for character in text):
            missing.append(f"the header {name} holds what no header can hold")
    if missing:
        from ..refusal import CANT_CARRY_OUT

        raise Refusal(*missing, exit_code=CANT_CARRY_OUT)
    return headers, secrets


def _wait(seconds: float, deadline: float) -> None:
    left = deadline - monotonic()
    if seconds >= left:
        raise SubjectLate
    Event().wait(seconds)


def _retry_after(reply: Reply) -> float | None:
    try:
        seconds = float(reply.headers["retry-after"])
    except (KeyError, ValueError):
        return None  # absent, or a date
    return min(max(seconds, 0.0), _LONGEST_WAIT) if seconds - seconds == 0 else None


def _as_word(value: Any) -> str:
    from ..trace import as_text

    return as_text(value) or ""


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
