"""What both floors of judging ask and keep: as much as a run of the suite does.

A script of a user's own sends a prompt as long, asks for an answer of the same form,
and writes each verdict down.
"""

import json
from pathlib import Path
from threading import Lock
from typing import Any

_TEXT: dict[str, str] = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "critique": _TEXT,
        "refs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"obs": _TEXT, "path": _TEXT, "value": _TEXT},
                "required": ["obs", "path", "value"],
                "additionalProperties": False,
            },
        },
        "result": {"type": "string", "enum": ["pass", "fail", "uncertain"]},
        "confidence": {"type": "number"},
    },
    "required": ["critique", "refs", "result", "confidence"],
    "additionalProperties": False,
}
# Of the length of the prompts that `suites.make_suite` leads to.
_SYSTEM = ("You judge one criterion. " * 150)[:3_560]


def request_of(number: int) -> dict[str, Any]:
    """Return the request of one case."""
    return {
        "model": "judge-1",
        "temperature": 0,
        "max_tokens": 4_000,
        "messages": [
            {"role": "system", "content": _SYSTEM},
            {"role": "user", "content": (f"Case {number}. " * 250)[:1_660]},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "judgement", "strict": True, "schema": SCHEMA},
        },
    }


class Results:
    """A file of verdicts, a line each, written when it is there."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        self._lock = Lock()

    def keep(self, number: int, content: str) -> None:
        """Read a verdict and write it down."""
        verdict = json.loads(content)
        line = json.dumps(
            {
                "case": number,
                "result": verdict["result"],
                "critique": verdict["critique"],
                "refs": verdict["refs"],
            }
        )
        with self._lock:
            self._file.write(line.encode() + b"\n")
