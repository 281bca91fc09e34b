"""The table of results: a row is what was measured, against what, and the aim."""

from collections.abc import Sequence
from dataclasses import dataclass

from measure import Result


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the table: what was measured, against what, and the aim."""

    name: str
    measured: str
    against: str
    ratio: str
    aim: str


def seconds(result: Result) -> str:
    """Return a command's median wall time and peak memory."""
    return f"{result.wall:.3f} s, {result.peak:.0f} MiB"


def versus(name: str, ours: Result, other: Result, aim: str) -> Row:
    """Return the row of a command against another, by their wall times."""
    return Row(
        name=name,
        measured=seconds(ours),
        against=f"{other.name}: {seconds(other)}",
        ratio=f"{ours.wall / other.wall:.2f}",
        aim=aim,
    )


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| what | measured | against | ratio | aim |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {r.name} | {r.measured} | {r.against} | {r.ratio} | {r.aim} |" for r in rows
    ]
    return "\n".join(lines) + "\n"
