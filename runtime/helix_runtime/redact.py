"""Secrets of the environment never reach a file that the suite writes.

A subject's stack trace, a program's stderr or a judge's answer may repeat a key that
it was given. Every line on its way to the journal is searched for the values of
environment variables whose names say that they are secret, and for the passwords of
the addresses that any variable holds (`postgres://user:PASSWORD@host`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_WORDS: Final = frozenset(
    ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS", "PAT")
)
# Names run together: PGPASSWORD, OPENAI_APIKEY, PROXYAUTH.
_ENDS: Final = (
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "SECRETS",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
)
_SHORTEST: Final = 6
_DEPTH: Final = 3  # JSON in JSON in JSON
_PASSWORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@?#]*:([^\s/@]+)@")
# The words that our own lines are made of: a secret that is one of them protects
# nothing, and every line would be destroyed.
_OURS: Final = frozenset(
    (
        "answer",
        "assistant",
        "caseId",
        "criterionId",
        "critique",
        "error",
        "fidelity",
        "latencyMs",
        "observed",
        "output",
        "parentSpanId",
        "repeat",
        "result",
        "retrieval",
        "sourcePlatform",
        "spanId",
        "status",
        "system",
        "toolCallId",
        "toolName",
        "toolResult",
        "traceId",
        "uncertain",
        "unitf_version",
        "unknown",
    )
)


# What keys look like that their makers gave a form of their own. None of them may be
# written where it stays: a dataset goes into version control.
_CREDENTIAL: Final = re.compile(
    r"""-----BEGIN[ A-Z]*\ PRIVATE\ KEY-----
    | \b(?:sk|rk|pk)[-_](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}
    | \bA(?:KIA|SIA)[0-9A-Z]{16}\b
    | \bgh[pousr]_[A-Za-z0-9]{30,}
    | \bgithub_pat_[A-Za-z0-9_]{30,}
    | \bglpat-[A-Za-z0-9_-]{20,}
    | \bxox[abeprs]-[A-Za-z0-9-]{10,}
    | \bAIza[0-9A-Za-z_-]{35}
    | \bhf_[A-Za-z0-9]{30,}
    | \bey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}
    """,
    re.VERBOSE,
)


def holds_credential(text: str) -> bool:
    """Whether a text holds what has the form of a key, or an address with a password."""
    return bool(_CREDENTIAL.search(text) or ("://" in text and _PASSWORD.search(text)))


class Redactor:
    """Replaces the values of secret variables by their names."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        found: dict[str, str] = {}
        for name, value in environment.items():
            for secret, mark in _secrets(name, value):
                if len(secret) >= _SHORTEST and secret not in _OURS:
                    for text in _spellings(secret):
                        found.setdefault(text, mark)
        # Of two secrets the longer one first: the shorter may be a part of it.
        self._secrets = sorted(found.items(), key=lambda one: (-len(one[0]), one[1]))

    def clean(self, line: str) -> str:
        """Return a JSON line without secrets; the same object where there is none."""
        cleaned = self._replaced(line)
        if cleaned is line or line[:1] not in ("{", "["):
            return cleaned
        try:
            json.loads(cleaned)
        except (ValueError, RecursionError):
            # A secret of digits stood inside a number.
            return self._cleaned_data(line)
        return cleaned

    def _replaced(self, text: str) -> str:
        for value, mark in self._secrets:
            if value in text:
                text = text.replace(value, mark)
        return text

    def _cleaned_data(self, line: str) -> str:
        from .canonical import dump_line

        try:
            return dump_line(self._walk(json.loads(line)))
        except (ValueError, RecursionError):
            return dump_line(self._replaced(line))

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._replaced(value)
        if isinstance(value, dict):
            return {self._replaced(k): self._walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self._walk(inner) for inner in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            text = self._replaced(str(value))
            return value if text == str(value) else text
        return value


def _secrets(name: str, value: str) -> Iterator[tuple[str, str]]:
    words = name.upper().split("_")
    if not _WORDS.isdisjoint(words) or words[-1].endswith(_ENDS):
        yield value, f"[{name} redacted]"
    if "://" in value:
        for password in _PASSWORD.findall(value):
            yield password, f"[the password in {name} redacted]"
            if "%" in password:
                from urllib.parse import unquote

                yield unquote(password), f"[the password in {name} redacted]"


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret as it stands in a text, and in JSON inside JSON."""
    texts = {secret, secret.replace("/", "\\/")}
    yield from texts
    for _ in range(_DEPTH):
        texts = {
            json.dumps(text, ensure_ascii=is_ascii)[1:-1]
            for text in texts
            for is_ascii in (False, True)
        }
        yield from texts
