"""YAML to plain data that knows where each of its parts stands.

The scalars follow the YAML 1.2 core schema, so `no`, `on`, `1:30` and dates stay
texts (and so does `012`, which two readers would read as two numbers). What JSON can't
hold, or what makes a file mean another thing to another reader, is refused at its
place: duplicate keys, tags, merge keys, second documents, NaN and infinities.

The events come from libyaml where PyYAML has it. Places are character indexes: a
parser's line numbers count U+2028, U+0085 and a lone CR as line breaks, an editor
does not.
"""

import gc
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from ..problems import Problem, quoted
from .located import Located, Path

__all__ = ["Located", "Path", "read_yaml"]

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_EXPANDED: Final = 1_000_000
MAX_DIGITS: Final = 4000
MAX_NAMED_CONTROLS: Final = 20
MAX_SEARCHED: Final = 100

# What YAML does not allow to stand in a file as itself (YAML 1.2, c-printable).
_FORBIDDEN: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(
    r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
)
_NOT_FINITE: Final = frozenset(
    sign + word
    for sign in ("", "+", "-")
    for word in (".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN")
)
_WORDS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_SPECIAL_STARTS: Final = frozenset("-+.0123456789~nNtTfF")


def read_yaml(data: bytes, *, file: str) -> tuple[Located | None, list[Problem]]:
    """Return the located data of a YAML file, and every problem of its YAML.

    None where the file can't be read to its end. An empty file is data None without a
    problem. Never raises for what stands in the file.
    """
    if len(data) > MAX_BYTES:
        size = f"{len(data) / 2**20:.0f} MiB"
        limit = f"{MAX_BYTES // 2**20} MiB"
        return None, [
            Problem(
                code="HX002",
                level="error",
                message=f"the file is too large: {size}",
                file=file,
                hint=f"at most {limit} are read; move rows into an `itemsRef` file",
            )
        ]
    text, problem = _decode(data, file)
    source = Located(file, text, None, {})
    if problem is not None:
        return None, [problem]
    problems = _controls(source)
    if problems:
        return None, problems
    reader = _Reader(source)
    with collector_paused():
        done = reader.read()
    located = Located(file, text, reader.root, reader.places)
    return (located if done else None), reader.problems


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector while a large tree is built.

    It would walk the growing tree again and again: three times slower at 10 MB.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _decode(data: bytes, file: str) -> tuple[str, Problem | None]:
    # Without a byte order mark, UTF-16 of plain letters is also UTF-8 full of NULs.
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:2]
    try:
        text = data.decode("utf-8-sig")
        if utf16 and len(data) > 1:
            return "", Located(file, "", None, {}).problem_at(
                0,
                "HX001",
                "the file is not UTF-8: it looks like UTF-16",
                hint="save it as UTF-8",
            )
        return text, None
    except UnicodeDecodeError as error:
        # `start` counts from behind a byte order mark.
        skipped = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        text = data[skipped : skipped + error.start].decode("utf-8", "replace")
        source = Located(file, text, None, {})
        what = (
            "it looks like UTF-16"
            if utf16
            else f"byte 0x{error.object[error.start]:02x}"
        )
        return text, source.problem_at(
            len(text),
            "HX001",
            f"the file is not UTF-8: {what}",
            hint="save it as UTF-8",
        )


def _controls(source: Located) -> list[Problem]:
    text = source.text
    problems = []
    if text.startswith("\ufeff"):
        # libyaml would skip it uncounted and shift every place by one.
        problems.append(
            source.problem_at(0, "HX003", "a second byte order mark starts the file")
        )
    for match in _FORBIDDEN.finditer(text):
        if len(problems) == MAX_NAMED_CONTROLS:
            break
        code = ord(match[0])
        name = "a NUL character" if code == 0 else f"the control character U+{code:04X}"
        problems.append(
            source.problem_at(
                match.start(),
                "HX003",
                f"{name} can't stand in a YAML file",
                hint=(
                    f'remove it, or write it as "\\x{code:02x}" in double quotes'
                    if code <= 0xFF
                    else "remove it"
                ),
            )
        )
    return problems


class _Stop(Exception):
    """Reading ends here; the problem is in the list already."""


@dataclass(slots=True)
class _Open:
    """A collection that is being read."""

    container: Any
    marks: list[int]
    key: Any
    anchor: str | None
    nodes: int
    height: int = 0
    drops: bool = False


class _Dropped:
    """Stands for a key that does not count, until its mapping ends."""


class _Reader:
    """Turns parser events into data, in one pass."""

    def __init__(self, source: Located) -> None:
        self.source = source
        self.places: dict[int, list[int]] = {}
        self.problems: list[Problem] = []
        self.root: Any = None
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        self._expanded = 0

    def read(self) -> bool:
        """Read the text; False where it can't be read to its end."""
        import yaml

        try:
            parser = _parser(self.source.text)
            self._events(parser, yaml.events)
        except _Stop:
            return False
        except yaml.YAMLError as error:
            self._syntax(error)
            return False
        return True

    def _refuse(self, index: int, code: str, message: str, hint: str = "") -> None:
        self.problems.append(self.source.problem_at(index, code, message, hint=hint))

    def _stop(self, index: int, code: str, message: str, hint: str = "") -> _Stop:
        self._refuse(index, code, message, hint)
        return _Stop()

    def _events(self, next_event: Callable[[], Any], kinds: Any) -> None:
        # One flat loop over local names: it runs once for each scalar of the file.
        scalar_event = kinds.ScalarEvent
        sequence_start, mapping_start = (
            kinds.SequenceStartEvent,
            kinds.MappingStartEvent,
        )
        sequence_end, mapping_end = kinds.SequenceEndEvent, kinds.MappingEndEvent
        places = self.places
        starts, plain = _SPECIAL_STARTS, self._plain
        # Most files have no anchor and no tag: then no scalar is asked for its own.
        adorned = "&" in self.source.text or "!" in self.source.text
        stack: list[_Open] = []
        key: Any = None
        nodes = documents = 0
        is_map = False
        container: Any = []
        marks: list[int] = [0]
        top = _Open(container, marks, None, None, 0)
        while True:
            event = next_event()
            kind = event.__class__
            if kind is scalar_event:
                index = event.start_mark.index
                value = event.value
                if is_map and key is None:
                    marks.append(index)
                    key = value
                    if key in container or (key == "<<" and event.implicit[0]):
                        self._dropped(index, key, container, marks)
                        key = _Dropped()
                        top.drops = True
                    if adorned:
                        nodes += 1
                        self._adornments(event, value)
                    continue
                if (not value or value[0] in starts) and event.implicit[0]:
                    value = plain(value, index)
                if adorned:
                    nodes += 1
                    self._adornments(event, value)
            elif kind is sequence_start or kind is mapping_start:
                index = event.start_mark.index
                nodes += 1
                if is_map and key is None:
                    raise self._stop(
                        index,
                        "HX011",
                        "a key must be a text, not a list or a mapping",
                        _KEY_HINT,
                    )
                if event.tag is not None:
                    self._tag(event)
                if len(stack) >= MAX_DEPTH:
                    raise self._too_deep(index)
                top.key = key
                stack.append(top)
                is_map = kind is mapping_start
                container = {} if is_map else []
                marks = [index]
                places[id(container)] = marks
                if event.anchor is not None:
                    self._anchors.pop(event.anchor, None)
                top = _Open(container, marks, None, event.anchor, nodes)
                key = None
                continue
            elif kind is sequence_end or kind is mapping_end:
                if top.drops:
                    _drop(container, marks)
                if top.anchor is not None:
                    size = nodes - top.nodes + 1
                    self._anchors[top.anchor] = (container, size, top.height + 1)
                value, height, index = container, top.height + 1, marks[0]
                top = stack.pop()
                top.height = max(top.height, height)
                container, marks, key = top.container, top.marks, top.key
                is_map = container.__class__ is dict
            elif kind is kinds.AliasEvent:
                index = event.start_mark.index
                value, size, height = self._alias(event, index, len(stack))
                nodes += size
                top.height = max(top.height, height)
                if is_map and key is None:
                    if not isinstance(value, str):
                        raise self._stop(
                            index, "HX011", "a key must be a text", _KEY_HINT
                        )
                    marks.append(index)
                    key = value
                    if key in container:
                        self._dropped(index, key, container, marks)
                        key = _Dropped()
                        top.drops = True
                    continue
            elif kind is kinds.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    raise self._stop(
                        event.start_mark.index,
                        "HX008",
                        "a second document starts here",
                        "one file holds one document; remove the `---` or split it",
                    )
                continue
            elif kind is kinds.StreamEndEvent:
                break
            else:
                continue
            # A whole value, at `index`, for whatever is open.
            marks.append(index)
            if is_map:
                container[key] = value
                key = None
            else:
                container.append(value)
        self.root = container[0] if container else None

    def _adornments(self, event: Any, value: Any) -> None:
        """Keep the anchor of a scalar, refuse its tag."""
        if event.tag is not None:
            self._tag(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1, 0)

    def _plain(self, text: str, index: int) -> Any:
        if not text or text[0] in "~nNtTfF":
            return _WORDS.get(text, text)
        if _INTEGER.fullmatch(text):
            if len(text) > MAX_DIGITS:
                self._out_of_range(text, index)
                return text
            return int(text)
        if _BASED.fullmatch(text):
            if len(text) > MAX_DIGITS:
                self._out_of_range(text, index)
                return text
            return int(text[2:], 8 if text[1] == "o" else 16)
        if _FLOAT.fullmatch(text):
            number = float(text)
            if number - number == 0:
                return number
            self._out_of_range(text, index)
        elif text in _NOT_FINITE:
            self._out_of_range(text, index)
        return text

    def _out_of_range(self, text: str, index: int) -> None:
        self._refuse(
            index,
            "HX012",
            f"the number {quoted(text, 24)} has no place in JSON data",
            "put it in quotes if it is a text",
        )

    def _tag(self, event: Any) -> None:
        self._refuse(
            event.start_mark.index,
            "HX007",
            f"the tag {quoted(_written(event.tag))} is not read",
            "leave the tag out; put a text in quotes",
        )

    def _dropped(
        self, index: int, key: str, container: dict[Any, Any], marks: Sequence[int]
    ) -> None:
        if key not in container:
            self._refuse(
                index,
                "HX013",
                "merge keys (`<<`) are not part of YAML 1.2",
                "write the keys out",
            )
            return
        hint = "keep one of the two"
        if len(self.problems) < MAX_SEARCHED:
            # A search each; a flood of repeats would make it grow with the square.
            at = marks[1 + 2 * list(container).index(key)]
            line = self.source.position_of(at).line
            hint = f"it is in line {line} already; {hint}"
        self._refuse(index, "HX006", f"the key {quoted(key)} stands here twice", hint)

    def _too_deep(self, index: int) -> _Stop:
        return self._stop(
            index,
            "HX009",
            f"more than {MAX_DEPTH} levels inside each other",
            "flatten the data, or write the inner part as a text of JSON",
        )

    def _alias(self, event: Any, index: int, depth: int) -> tuple[Any, int, int]:
        name = event.anchor
        known = self._anchors.get(name)
        if known is None:
            raise self._stop(
                index,
                "HX010",
                f"the alias {quoted(name)} has no anchor before it",
                f"an anchor `&{name}` must stand, whole, before its alias",
            )
        value, size, height = known
        self._expanded += size
        if self._expanded > MAX_EXPANDED:
            raise self._stop(
                index,
                "HX010",
                "the aliases of this file expand to more than "
                f"{MAX_EXPANDED:,} values",
                "write the values out, or move rows into an `itemsRef` file",
            )
        if depth + height > MAX_DEPTH:
            raise self._too_deep(index)
        return value, size, height

    def _syntax(self, error: Any) -> None:
        mark = getattr(error, "problem_mark", None) or getattr(
            error, "context_mark", None
        )
        what = getattr(error, "problem", None) or getattr(error, "reason", None)
        index = getattr(mark, "index", None) or 0
        text = self.source.text
        if not text[index:].strip():
            # What is not closed says more than where the file ends.
            index = getattr(getattr(error, "context_mark", None), "index", index)
            index = min(index, len(text.rstrip()))
        context = getattr(error, "context", None)
        message = "not valid YAML"
        if what:
            message += f": {what}"
        if context:
            message += f" ({context})"
        index = min(index, len(text))
        line = self.source.line(self.source.position_of(index).line)
        self._refuse(index, "HX004", message, _syntax_hint(line, message))


def _written(tag: str) -> str:
    standard = "tag:yaml.org,2002:"
    return f"!!{tag.removeprefix(standard)}" if tag.startswith(standard) else tag


def _drop(container: dict[Any, Any], marks: list[int]) -> None:
    kept = [marks[0]]
    for number, key in enumerate(list(container)):
        if isinstance(key, _Dropped):
            del container[key]
        else:
            kept += marks[1 + 2 * number : 3 + 2 * number]
    marks[:] = kept


_KEY_HINT: Final = "write the key as a text, in quotes where it holds brackets"

# What libyaml says, or a part of it, and what is mostly meant by it.
_SYNTAX_HINTS: Final = (
    ("directive", "leave the line out, or put a text that starts with `%` in quotes"),
    ("an alias", "put a text that starts with `*` in quotes"),
    ("an anchor", "put a text that starts with `&` in quotes"),
    ("a tag", "put a text that starts with `!` in quotes"),
    ("end of stream", "close the quote that opens here"),
    ("expected ',' or", "close the bracket, or put a comma between two entries"),
    ("start any token", "put a text that starts with `@`, `%` or a backtick in quotes"),
    ("mapping values", "put a value that holds `: ` in quotes, or indent as above"),
    ("escape", "double the backslash, or write the text in single quotes"),
    ("expected ':'", "write `key: value`, or close a quote that is open above"),
)


def _syntax_hint(line: str, what: str) -> str:
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "indent with spaces; YAML does not allow tabs there"
    if re.search(r"\\u[dD][89a-fA-F]", line):
        return "write the character itself; half of a pair is none"
    if re.match(r"\s*(?:- )?[\w.-]+: [^'\"|>{\[].*: ", line):
        return "put a value that holds `: ` in quotes"
    for said, hint in _SYNTAX_HINTS:
        if said in what:
            return hint
    return "look for an indentation, a quote or a bracket that is amiss, here or above"


def _parser(text: str) -> Callable[[], Any]:
    import yaml

    hidden, restore = _hide_line_breaks(text)
    hidden, mark_of_pairs = _hide_pairs(hidden)
    fast = getattr(yaml, "CSafeLoader", None)
    next_event: Callable[[], Any] = (fast or yaml.SafeLoader)(hidden).get_event
    if fast is not None and not restore and not mark_of_pairs:
        return next_event

    def careful() -> Any:
        event = next_event()
        mark: Any = event.start_mark
        if event.__class__ is yaml.ScalarEvent:
            if mark_of_pairs and mark_of_pairs in event.value:
                event.value = _with_pairs(event, mark_of_pairs)
            if restore:
                event.value = event.value.translate(restore)
            if not event.value.isascii() and _SURROGATE.search(event.value):
                # libyaml refuses the escape itself; the pure reader lets it through.
                raise yaml.MarkedYAMLError(
                    problem="found a lone surrogate", problem_mark=mark
                )
        return event

    return careful


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


_PAIR: Final = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


def _hide_pairs(text: str) -> tuple[str, str]:
    """Return the text with escaped surrogate pairs hidden, and what marks them.

    JSON writes a character beyond U+FFFF as two escapes, `\\ud83d\\ude00`, and every
    JSON file is a YAML file; libyaml refuses them. Each becomes eight hex digits among
    private characters, as long as it was, so that places hold.
    """
    if "\\u" not in text or _PAIR.search(text) is None:
        return text, ""
    mark = next((c for c in map(chr, range(0xE000, 0xF900)) if c not in text), "")
    if not mark:
        return text, ""
    return _PAIR.sub(rf"\1{mark}\2\3{mark}{mark}{mark}", text), mark


def _with_pairs(event: Any, mark: str) -> str:
    """Return a scalar with its pairs: characters in double quotes, else as written."""
    hidden = re.compile(f"{mark}(.{{4}})(.{{4}}){mark}{mark}{mark}")

    def shown(found: "re.Match[str]") -> str:
        if event.style != '"':
            return f"\\u{found[1]}\\u{found[2]}"
        high, low = int(found[1], 16) - 0xD800, int(found[2], 16) - 0xDC00
        return chr(0x10000 + (high << 10) + low)

    return hidden.sub(shown, event.value)


def _hide_line_breaks(text: str) -> tuple[str, dict[int, int]]:
    """Return the text with U+0085, U+2028 and U+2029 replaced, and the way back.

    They are ordinary characters in YAML 1.2; libyaml, which follows 1.1, would end a
    line at them. Each becomes a private character that the text does not use.
    """
    found = [c for c in "\x85\u2028\u2029" if c in text]
    if not found:
        return text, {}
    private = (c for c in map(chr, range(0xE000, 0xF900)) if c not in text)
    pairs = list(zip(found, private, strict=False))
    for character, stand_in in pairs:
        text = text.replace(character, stand_in)
    return text, {ord(stand_in): ord(character) for character, stand_in in pairs}
