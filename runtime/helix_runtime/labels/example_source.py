"""A judge's examples out of labelled runs, as Python that is pasted into `judges.py`.

What people labelled pass or fail becomes an example of it; what they called
underdetermined, or differ on, a borderline one. Their notes are the critiques.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from ..canonical import content_key
from ..criterion import Criterion, Example
from ..judges.examples import MAX_EXAMPLES, excerpt_of
from ..record import record
from .file import Label
from .labelled import LabelledRun

Kind = Literal["pass", "fail", "borderline"]
KINDS: Final[tuple[Kind, ...]] = ("pass", "fail", "borderline")
# How many of each there are at most, where every kind has enough.
_ROOM: Final[Mapping[Kind, int]] = {"pass": 3, "fail": 3, "borderline": 2}


@record(kw_only=True)
class Said:
    """What people said of one run under one criterion: its kind, and why."""

    trace_id: str
    kind: Kind
    critique: str


def said_of(labels: Iterable[Label], criterion_id: str) -> list[Said]:
    """Return what the labels that stand say of each run under a criterion.

    Runs that everybody defers are left out.
    """
    by_run: dict[str, list[Label]] = {}
    for label in labels:
        if label.criterion_id == criterion_id and label.label != "defer":
            by_run.setdefault(label.trace_id, []).append(label)
    found = []
    for trace_id, said in by_run.items():
        words = {label.label for label in said}
        kind: Kind = "borderline"
        if words == {"pass"} or words == {"fail"}:
            kind = "pass" if "pass" in words else "fail"
        notes = [
            label.note if len(words) == 1 else f"{label.label}: {label.note}"
            for label in said
            if label.note
        ]
        critique = " ".join(" ".join(dict.fromkeys(notes)).split())
        found.append(Said(trace_id=trace_id, kind=kind, critique=critique))
    return found


def choose(said: Iterable[Said], *, seed: str) -> list[Said]:
    """Return at most MAX_EXAMPLES: some of each kind, those with a reason first.

    Which ones depends on the content hash of the run's id and the seed alone.
    """
    ordered = sorted(
        said, key=lambda one: (not one.critique, content_key(seed, one.trace_id))
    )
    by_kind = {kind: [one for one in ordered if one.kind == kind] for kind in KINDS}
    chosen = [one for kind in KINDS for one in by_kind[kind][: _ROOM[kind]]]
    rest = [one for one in ordered if one not in chosen]
    chosen += rest[: MAX_EXAMPLES - len(chosen)]
    return sorted(chosen, key=lambda one: (KINDS.index(one.kind), ordered.index(one)))


def example_of(said: Said, run: LabelledRun, criterion: Criterion) -> Example:
    """Return the example that a labelled run makes."""
    return Example(
        label=said.kind,
        excerpt=excerpt_of(criterion, run.case, run.trace),
        critique=said.critique,
        result="uncertain" if said.kind == "borderline" else said.kind,
        case_id="" if run.case.recorded else run.case.id,
        trace_id=said.trace_id,
    )


def source_of(examples: Sequence[Example]) -> str:
    """Return the argument `examples` of a Judge as Python, in the style of black."""
    lines = ["    examples=["]
    for example in examples:
        lines.append("        Example(")
        fields = [
            ("label", example.label),
            ("excerpt", example.excerpt),
            ("critique", example.critique),
            ("result", example.result),
            ("case_id", example.case_id),
            ("trace_id", example.trace_id),
        ]
        for name, value in fields:
            if value or name == "critique":
                lines += _argument(name, value)
        lines.append("        ),")
    lines.append("    ],")
    return "\n".join(lines) + "\n"


_WIDTH: Final = 88


def _argument(name: str, text: str) -> list[str]:
    """A keyword argument, on one line where it fits, else a piece of text a line."""
    line = f"            {name}={literal(text)},"
    if len(line) <= _WIDTH:
        return [line]
    pieces = [literal(piece) for piece in _pieces(text)]
    if len(pieces) == 1:
        return [line]
    inner = [f"                {piece}" for piece in pieces]
    return [f"            {name}=(", *inner, "            ),"]


def _pieces(text: str) -> list[str]:
    """The text in pieces: each of its lines, long ones broken behind a space."""
    found = []
    for part in text.split("\n"):
        words, line = part.split(" "), ""
        for number, word in enumerate(words):
            word += " " if number < len(words) - 1 else "\n"
            if line and len(literal(line + word)) > _WIDTH - 18:
                found.append(line)
                line = ""
            line += word
        found.append(line)
    found[-1] = found[-1].removesuffix("\n")
    return [piece for piece in found if piece] or [""]


def literal(text: str) -> str:
    """Return a text as a Python literal on one line.

    Printable text of any script stays as it is; controls, format and bidi characters,
    separators and lone surrogates are escaped.
    """
    # The quotes that need fewer escapes, as black has it.
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(_spelled(character, quote) for character in text) + quote


def _spelled(character: str, quote: str) -> str:
    if character == quote or character == "\\":
        return "\\" + character
    return character if character.isprintable() else repr(character)[1:-1]
