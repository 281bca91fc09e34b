"""The one place where a file that both sides changed comes to its next text.

`merge` is the seam: Python merges by units, everything else by lines. Whatever it
comes to can be merged again and changes nothing, and is no worse a file of its kind
than its owner's was.
"""

from dataclasses import replace

from .merge.how import How
from .merge.lines import merge_text, with_endings_of
from .merge.python import merge_python
from .merge.result import (
    WHOLE_FILE,
    Choice,
    Conflict,
    MergeResult,
    has_markers,
    with_markers,
    without_markers,
)
from .merge.split import with_lf

_BOM = "\ufeff"


def merge(
    *, path: str, base: bytes | None, yours: bytes, new: bytes, how: How
) -> MergeResult:
    """Return the next text of a file that its owner changed.

    `base` is the pristine text that both started from, None where it is lost: then
    everything in which the two differ is a conflict. A file that Python can't read is
    its owner's to mend: it stays as it is, and the result says why.
    """
    was = None if base is None else as_text(base)
    if path.endswith(".py"):
        return _python(was, as_text(yours), as_text(new), how)
    return _lines(path, was, as_text(yours), as_text(new), how.choice)


def _python(base: str | None, yours: str, new: str, how: How) -> MergeResult:
    if has_markers(yours):
        # As they were written, they may be taken back; with an edit among them they
        # are their owner's.
        plain = without_markers(yours)
        again = _python(base, plain, new, replace(how, choice="markers"))
        if again.text == yours:
            return again if how.choice == "markers" else _python(base, plain, new, how)
    try:
        return merge_python(base or "", yours, new, how)
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""
        conflict = Conflict(unit=WHOLE_FILE, base=base or "", yours=yours, new=new)
        return MergeResult(
            text=new if how.choice == "new" else yours,
            base=base or "",
            conflicts=(conflict,),
            broken=f"{line}{error.msg or 'no Python'}",
        )


def _lines(
    path: str, base: str | None, yours: str, new: str, choice: Choice
) -> MergeResult:
    if yours.startswith(_BOM):
        # An editor's way to say UTF-8: no edit, and it stays where it was put.
        result = _lines(path, base, yours.removeprefix(_BOM), new, choice)
        return replace(result, text=_BOM + result.text)
    if has_markers(yours):
        unmarked = without_markers(yours)
        again = _lines(path, base, unmarked, new, "markers")
        if again.text == yours:
            if choice == "markers":
                return again
            yours = unmarked
    plain = [with_lf(text) for text in (base or "", yours, new)]
    merged = merge_text(plain[0], plain[1], plain[2], choice=choice)
    if merged.conflicts and choice == "yours":
        again = merge_text(merged.base, merged.text, plain[2])
        if again.text != merged.text or len(again.conflicts) != len(merged.conflicts):
            return _whole(plain, yours, choice)
    is_marked = choice == "markers" and bool(merged.conflicts)
    if not is_marked and not _is_sound(path, merged.text, plain[1:]):
        return _whole(plain, yours, choice)
    text = yours if merged.text == plain[1] else with_endings_of(merged.text, yours)
    return replace(merged, text=text)


def _whole(plain: list[str], yours: str, choice: Choice) -> MergeResult:
    base = plain[0]
    conflict = Conflict(unit=WHOLE_FILE, base=base, yours=plain[1], new=plain[2])
    text = yours
    if choice == "new":
        text = with_endings_of(plain[2], yours)
    elif choice == "markers":
        text = with_endings_of(with_markers(base, plain[1], plain[2]), yours)
    return MergeResult(text=text, base=base, conflicts=(conflict,))


def _is_sound(path: str, text: str, sides: list[str]) -> bool:
    """Whether a merged file can be read by what reads it, if both sides could."""
    if not path.endswith(".toml"):
        return True
    return _is_toml(text) or not all(map(_is_toml, sides))


def _is_toml(text: str) -> bool:
    import tomllib

    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def as_text(data: bytes) -> str:
    """Return the text of a file's bytes; none of them gets lost on the way through."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Return the bytes of a text that came from `as_text`."""
    return text.encode("utf-8", "surrogateescape")
