"""Secrets of the environment never reach a file that the suite writes.

A subject's stack trace, a program's stderr or a judge's answer may repeat a key that
it was given. Every line on its way to the journal is searched for the values of
environment variables whose names say that they are secret.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

_WORDS: Final = frozenset(
    ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS", "PAT")
)
_SHORTEST: Final = 8


class Redactor:
    """Replaces the values of secret variables by their names."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._secrets: list[tuple[str, str]] = []
        for name, value in environment.items():
            if len(value) >= _SHORTEST and not _WORDS.isdisjoint(
                name.upper().split("_")
            ):
                # As it stands inside a JSON text, which is what is searched.
                inside = json.dumps(value, ensure_ascii=False)[1:-1]
                self._secrets.append((inside, f"[{name} redacted]"))
        # Of two secrets the longer one first: the shorter may be a part of it.
        self._secrets.sort(key=lambda secret: (-len(secret[0]), secret[1]))

    def clean(self, line: str) -> str:
        """Return a JSON line without secrets; the same object where there is none."""
        for value, name in self._secrets:
            if value in line:
                line = line.replace(value, name)
        return line
