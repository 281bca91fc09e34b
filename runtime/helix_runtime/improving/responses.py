"""What the engineer answers to change requests: `amended` or `rejected`, and why.

A request that was amended is believed when the next evaluation says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from ..record import record
from ..refusal import close_match
from ..strict_json import strict_loads
from .change_requests import REMEDY_TARGETS, RemedyTarget

MAX_RESPONSES_FILE: Final = 16 << 20
"""Bytes of the largest file of responses that is read."""

ResponseStatus = Literal["amended", "rejected"]
RESPONSE_STATUSES: Final[tuple[ResponseStatus, ...]] = get_args(ResponseStatus)


@record(kw_only=True)
class Response:
    """What the engineer says of a request."""

    request_id: str
    status: ResponseStatus
    note: str
    amended_target: RemedyTarget | None = None
    rebuilt: bool | None = None

    def to_record(self) -> dict[str, Any]:
        """Return the response as plain data."""
        data: dict[str, Any] = {"requestId": self.request_id, "status": self.status}
        if self.amended_target is not None:
            data["amendedTarget"] = self.amended_target
        if self.rebuilt is not None:
            data["rebuilt"] = self.rebuilt
        return data | {"note": self.note}


@record(kw_only=True)
class Responses:
    """The responses of a file in their order, and every fault, `FILE:LINE: what`."""

    responses: tuple[Response, ...] = ()
    problems: tuple[str, ...] = ()


_KEYS: Final = ("requestId", "status", "amendedTarget", "rebuilt", "note")


def read_responses(path: Path, *, known: Sequence[str]) -> Responses:
    """Return the responses of a file: JSON Lines, one object, or a list of them.

    `known` are the ids of the requests that can be answered. Raises OSError where the
    file can't be read.
    """
    if path.stat().st_size > MAX_RESPONSES_FILE:
        limit = MAX_RESPONSES_FILE >> 20
        return Responses(problems=(f"{path.name}: is larger than {limit} MiB",))
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Responses(problems=(f"{path.name}: is not UTF-8: {error.reason}",))
    found: list[Response] = []
    problems: list[str] = []
    answered: dict[str, str] = {}
    for place, data in _each(path.name, text, problems):
        response, faults = response_of(data)
        if response is not None:
            name = response.request_id
            if name not in known:
                shown = name[:80]
                faults = [
                    f"{shown!r} is no request of this run"
                    f"{close_match(shown, list(known))}"
                ]
            elif name in answered:
                faults = [f"{name} is answered already, at {answered[name]}"]
            else:
                answered[name] = place
                found.append(response)
        problems += [f"{place}: {fault}" for fault in faults]
    if not found and not problems:
        problems.append(f"{path.name}: holds no response")
    return Responses(responses=tuple(found), problems=tuple(problems))


def _each(name: str, text: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield each response with its place."""
    try:
        whole = strict_loads(text)
    except ValueError:
        pass  # several lines, or a fault that is told at its line
    else:
        if isinstance(whole, list):
            for number, data in enumerate(whole):
                yield f"{name}[{number}]", data
        else:
            yield f"{name}:1", whole
        return
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and not _is_whole(lines[0][1]):
        # One text over several lines, such as an indented list: its own fault is told.
        lines = [(1, text)]
    for number, line in lines:
        try:
            yield f"{name}:{number}", strict_loads(line)
        except json.JSONDecodeError as error:
            at = number + error.lineno - 1
            problems.append(f"{name}:{at}: is not JSON: {error.msg}")
        except ValueError as error:
            problems.append(f"{name}:{number}: {error}")


def _is_whole(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def response_of(data: Any) -> tuple[Response | None, list[str]]:
    """Return the response of plain data, or None, with every fault of it."""
    if not isinstance(data, dict):
        return None, ["a response is a JSON object"]
    faults = [
        f"`{key[:80]}` is no field of a response{close_match(key[:80], list(_KEYS))}"
        for key in data
        if key not in _KEYS
    ]
    for key in ("requestId", "note"):
        if not isinstance(data.get(key), str) or not data[key].strip():
            faults.append(f"`{key}` must be a text that is not empty")
    status, target = data.get("status"), data.get("amendedTarget")
    if status not in RESPONSE_STATUSES:
        faults.append(f"`status` must be one of {', '.join(RESPONSE_STATUSES)}")
    if target is not None and target not in REMEDY_TARGETS:
        faults.append(f"`amendedTarget` must be one of {', '.join(REMEDY_TARGETS)}")
    rebuilt = data.get("rebuilt")
    if rebuilt is not None and not isinstance(rebuilt, bool):
        faults.append("`rebuilt` must be true or false")
    if status == "rejected" and (target is not None or rebuilt):
        faults.append(
            "a request that is rejected amends nothing: leave `amendedTarget` and "
            "`rebuilt` out"
        )
    if faults:
        return None, faults
    return (
        Response(
            request_id=data["requestId"],
            status=data["status"],
            note=data["note"],
            amended_target=target,
            rebuilt=rebuilt,
        ),
        [],
    )
