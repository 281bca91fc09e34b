"""Answers of judges, kept between runs: the same prompt to the same model is not paid
for twice.

An entry's key is the content hash of everything that the answer depends on: server,
model, sampling, limit, schema, both prompts and the index of the repeat, so that a
repeat is never served from another one. Only answers that could be read are kept.

A database of SQLite's: many runs may use it at once, and a kill costs at most the
last entries. A file that is broken or locked only costs the entries: a run never fails
for its cache.
"""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ..record import record
from ..unit import JudgeUsage

FILE: Final = "judge-cache.sqlite3"
_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, day INTEGER NOT NULL,"
    " model TEXT, text TEXT NOT NULL, usage TEXT NOT NULL) WITHOUT ROWID"
)
_BATCH: Final = 64


@record(kw_only=True)
class CacheEntry:
    """An answer that could be read: its text, who gave it, and what it took."""

    text: str
    model: str | None
    usage: JudgeUsage


@record(kw_only=True)
class CacheStats:
    """What a cache holds; days are those since 1970, None where it is empty."""

    entries: int
    bytes: int
    models: tuple[tuple[str, int], ...]
    oldest: int | None
    newest: int | None


class JudgeCache:
    """The cache of one file. Safe to use from many threads.

    `day` is the caller's clock: days since 1970. `hits` counts what was given back.
    One that does not `read` gives nothing back: it only keeps the newer answers.
    """

    def __init__(
        self, path: Path, *, day: Callable[[], int], read: bool = True
    ) -> None:
        self._path = path
        self._read = read
        self._day = day
        self._lock = threading.Lock()
        self._database: Any = None
        self._broken = False
        self._new: dict[str, CacheEntry] = {}
        self.hits = 0

    def get(self, key: str) -> CacheEntry | None:
        """Return the entry of that key, or None."""
        if not self._read:
            return None
        with self._lock:
            row = self._do("SELECT text, model, usage FROM answers WHERE key = ?", key)
            found = row.fetchone() if row is not None else None
            if found is None:
                return None
            try:
                usage = JudgeUsage(**json.loads(found[2]))
            except (TypeError, ValueError):
                return None
            self.hits += 1
            return CacheEntry(text=found[0], model=found[1], usage=usage)

    def put(self, key: str, entry: CacheEntry) -> None:
        """Keep an entry; entries are written together."""
        with self._lock:
            self._new[key] = entry
            if len(self._new) >= _BATCH:
                self._write()

    def close(self) -> None:
        """Write what is not written yet, and let the file go."""
        with self._lock:
            self._write()
            if self._database is not None:
                self._database.close()
                self._database = None

    def stats(self) -> CacheStats:
        """Return what the file holds."""
        with self._lock:
            models = self._all(
                "SELECT coalesce(model, '(none named)'), count(*) FROM answers"
                " GROUP BY model ORDER BY 2 DESC, 1"
            )
            days = self._all("SELECT min(day), max(day) FROM answers")
        size = self._path.stat().st_size if self._path.exists() else 0
        oldest, newest = days[0] if days else (None, None)
        return CacheStats(
            entries=sum(count for _, count in models),
            bytes=size,
            models=tuple((str(name), int(count)) for name, count in models),
            oldest=oldest,
            newest=newest,
        )

    def prune(self, *, before: int | None = None) -> int:
        """Remove entries of days before that one, or all; return how many."""
        with self._lock:
            if before is None:
                done = self._do("DELETE FROM answers")
            else:
                done = self._do("DELETE FROM answers WHERE day < ?", before)
            if done is None:
                return 0
            self._database.commit()
            self._do("VACUUM")
            return int(done.rowcount)

    def _write(self) -> None:
        if not self._new:
            return
        day = self._day()
        rows = [
            (key, day, entry.model, entry.text, _usage(entry.usage))
            for key, entry in self._new.items()
        ]
        self._new.clear()
        database = self._open()
        if database is None:
            return
        import sqlite3

        try:
            with database:
                database.executemany(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", rows
                )
        except (sqlite3.Error, UnicodeError):
            self._broken = True

    def _all(self, statement: str) -> list[Any]:
        found = self._do(statement)
        return [] if found is None else list(found.fetchall())

    def _do(self, statement: str, *values: Any) -> Any:
        database = self._open()
        if database is None:
            return None
        import sqlite3

        try:
            return database.execute(statement, values)
        except sqlite3.Error:
            self._broken = True
            return None

    def _open(self) -> Any:
        if self._database is not None or self._broken:
            return None if self._broken else self._database
        try:
            import sqlite3
        except ImportError:  # a Python that was built without it
            self._broken = True
            return None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                self._path, timeout=5.0, check_same_thread=False
            )
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute(_SCHEMA)
        except (sqlite3.Error, OSError):
            self._broken = True
            return None
        return self._database


def _usage(usage: JudgeUsage) -> str:
    return json.dumps(
        {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "calls": usage.calls,
        }
    )
