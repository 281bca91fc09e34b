"""What a run decided of each of its traces, read from its journal of units."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from typing import Final

from ..criterion import SEVERITIES, Criterion
from ..disk_table import DiskTable
from ..journal import read_unit
from ..unit import Unit
from .sampling import Standing

_PACKED: Final = Struct("<HBHBH")
_MOST: Final = 0xFFFF
_CERTAIN: Final = 10_000
_DISAGREES: Final = ("refuted", "abstained")


class Standings:
    """The standing of every trace of a run; use as a context.

    `damaged` counts lines of the journal that could not be read. What does not fit
    into a few megabytes of memory is kept in a temporary file.
    """

    def __init__(self, criteria: Iterable[Criterion]) -> None:
        self._severity = {
            c.id: len(SEVERITIES) - SEVERITIES.index(c.severity) for c in criteria
        }
        self._table = DiskTable(_PACKED.size)
        self.damaged = 0

    def __enter__(self) -> Standings:
        return self

    def __exit__(self, *_: object) -> None:
        self._table.close()

    def read(self, units: Path) -> None:
        """Take in the units of a `units.jsonl`. Raises OSError."""
        with units.open("rb") as lines:
            for line in lines:
                try:
                    unit = read_unit(line)
                except (ValueError, RecursionError):
                    self.damaged += bool(line.strip())
                    continue
                self.add(unit)

    def add(self, unit: Unit) -> None:
        """Take in one unit. Out of scope, and a trace that could not be judged, say
        nothing of how sure code or a judge is."""
        if unit.decided_by in ("scope", "fidelity"):
            return
        result = unit.verdict.result
        second = unit.verification
        disputed = second is not None and second.result in _DISAGREES
        if result == "na":
            return
        key = _key(unit.trace_id)
        before = self._table.get(key)
        failing, worst, still_open, passing, doubt = (
            (0, 0, 0, 0, 0) if before is None else _PACKED.unpack(before)
        )
        if result == "fail":
            failing += 1
            worst = max(worst, self._severity.get(unit.criterion_id, 1))
        elif result == "pass":
            passing = 1
        if disputed or result in ("uncertain", "error"):
            still_open += 1
        elif unit.decided_by == "judge" and unit.verdict.confidence is not None:
            sure = min(max(unit.verdict.confidence, 0.0), 1.0)
            doubt = max(doubt, round((1 - sure) * _CERTAIN))
        self._table.put(
            key,
            _PACKED.pack(
                min(failing, _MOST), worst, min(still_open, _MOST), passing, doubt
            ),
        )

    def of(self, trace_id: str) -> Standing | None:
        """Return what was decided of a trace, None where nothing was."""
        found = self._table.get(_key(trace_id))
        if found is None:
            return None
        failing, worst, still_open, passing, doubt = _PACKED.unpack(found)
        return Standing(failing, worst, still_open, bool(passing), doubt / _CERTAIN)


def _key(trace_id: str) -> bytes:
    data = trace_id.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).digest()
