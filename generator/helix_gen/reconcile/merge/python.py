"""Three-way merge of Python, unit by unit.

Scope: a module's statements, a class's members, and of a function its decorators,
signature, docstring and body apart; of an assignment its value, element by element.
One side changed: it is taken. Both changed: the parts merge each for itself, a body
line by line. What still clashes keeps the user's unit and is reported. The user's
order wins; a new unit goes after its neighbour.

Accepted trade-offs: source is cut at whole lines, so statements that share a line are
one unit. The text is spliced, never printed anew: what nobody touched stays byte for
byte. Where the result would be no Python, the whole file is merged by lines, and where
that is none either it stays the user's and is one conflict.
"""

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from .bodies import BodyMerge
from .how import How
from .lines import merge_text, with_endings_of
from .needed import needed_imports, with_imports
from .pairs import old_key
from .result import (
    WHOLE_FILE,
    Conflict,
    MergeResult,
    with_markers,
    without_markers,
)
from .scopes import with_new_names
from .sound import decided, decided_in, is_python, is_sound
from .split import joined, with_lf
from .units import DEFINITIONS, Body, Key, parse, split_module, split_tree

_BOM = "\ufeff"


def merge_python(
    base: str, yours: str, new: str, how: How | None = None
) -> MergeResult:
    """Merge three versions of a Python file.

    Line endings and a byte order mark are yours. Raises SyntaxError where `yours`
    does not parse: such a file is the user's to mend first.
    """
    how = how or How()
    texts = [with_lf(text.removeprefix(_BOM)) for text in (base, yours, new)]
    mine = split_module(texts[1])
    result = _merged(texts, mine, how)
    if texts[0] == texts[2] and not how.restore:
        # Nothing is new: not a byte changes, whatever could be said about it.
        result = replace(result, text=texts[1], conflicts=(), base=texts[2])
    if result.text == texts[1]:
        return replace(result, text=yours)
    mark = _BOM if yours.startswith(_BOM) else ""
    return replace(result, text=mark + with_endings_of(result.text, yours))


def _merged(texts: Sequence[str], mine: Body, how: How) -> MergeResult:
    if texts[0] == texts[1] and not how.keep:
        return MergeResult(text=texts[2], base=texts[2], names=decided_in(texts[2]))
    try:
        bodies = [split_module(texts[0]), mine, split_module(texts[2])]
    except SyntaxError:
        # What is generated always parses; a base was maybe damaged.
        return _by_lines(texts, how)
    try:
        result = _by_units(bodies, how)
    except RecursionError:
        result = None
    return _by_lines(texts, how) if result is None else result


def _by_lines(texts: Sequence[str], how: How) -> MergeResult:
    """Merge a file that can't be merged by units; else it is one conflict."""
    base, yours, new = texts
    merged = merge_text(base, yours, new)
    # Lines know no criterion: where they clash, what they come to may decide another.
    if not merged.conflicts and is_python(merged.text, (yours, new)):
        again = merge_text(merged.base, merged.text, new)
        if again.text == merged.text:
            return replace(merged, names=decided_in(merged.text))
    conflict = Conflict(unit=WHOLE_FILE, base=base, yours=yours, new=new)
    text = new if how.choice == "new" else yours
    if how.choice == "markers":
        text = with_markers(base, yours, new)
    return MergeResult(
        text=text, base=base, conflicts=(conflict,), names=decided_in(text)
    )


def _by_units(bodies: Sequence[Body], how: How) -> MergeResult | None:
    """Merge a module by its units, None where it would be no sound Python."""
    base, yours, new = bodies
    merge = BodyMerge(how, yours)
    pieces = merge.merge(base, yours, new, inside="")
    tail = merge.lead(base.tail, yours.tail, new.tail)
    text = joined(pieces.values(), tail)
    findings = merge.findings
    if how.choice == "markers" and findings.conflicts:
        names, unseen = decided_in(without_markers(text)), dict[str, str]()
    else:
        finished = _finished(merge, pieces, tail, text, (yours, new))
        if finished is None:
            return None
        text, body = finished
        seen = decided(body)
        unseen = _still_bound(merge, body)
        names = {**unseen, **seen}
        for spec_id in seen:
            unseen.pop(spec_id, None)
    return MergeResult(
        text=text,
        base=_next_base(base, new, merge.clashes, how),
        conflicts=tuple(
            # In the order of the text, whatever order they were met in.
            sorted(
                findings.conflicts,
                key=lambda c: (text.find(c.yours.strip("\n")), c.unit),
            )
        ),
        retired=tuple(findings.retired),
        deleted=tuple(merge.deleted),
        dropped=tuple(findings.dropped),
        names=names,
        unseen=unseen,
    )


def _finished(
    merge: BodyMerge,
    pieces: Mapping[Key, str],
    tail: str,
    text: str,
    sides: tuple[Body, Body],
) -> tuple[str, Body] | None:
    """Return a merged module with the imports and the new names that its code needs.

    `sides` are the user's module and the new one. None where it is no sound Python.
    """
    try:
        tree = parse(text)
        needed = needed_imports(tree, text, sides)
        if needed:
            text = with_imports(pieces, tail, needed, sides)
            tree = parse(text)
        if merge.moved:
            followed = _followed(merge.moved, text, tree)
            if followed is None:
                return None
            text, tree = followed
    except SyntaxError:
        return None
    body = split_tree(tree, text)
    return (text, body) if is_sound(tree, body, sides) else None


def _followed(
    renamed: Mapping[str, str], text: str, tree: ast.Module
) -> tuple[str, ast.Module] | None:
    """Let what the user wrote call renamed units by their new names.

    None where a new name means something else in a function of the user's.
    """
    bound = {u.name for u in split_tree(tree, text).units if u.name}
    moved = {a: b for a, b in renamed.items() if a not in bound and b in bound}
    followed = with_new_names(text, tree, moved)
    if followed is None or followed == text:
        return None if followed is None else (text, tree)
    return followed, parse(followed)


def _still_bound(merge: BodyMerge, body: Body) -> dict[str, str]:
    """Return the criteria whose unit its owner wrote so that its id can't be seen.

    `is_brief = make_check("is-brief")` stands where the check stood.
    """
    bound = {unit.name for unit in body.units if unit.kind in DEFINITIONS}
    names = {c: merge.moved.get(name, name) for c, name in merge.opaque.items()}
    return {c: name for c, name in names.items() if name in bound}


def _next_base(base: Body, new: Body, clashes: Collection[Key], how: How) -> str:
    """Return what the next merge starts from: the new text, as before where it clashed."""
    if not clashes:
        return joined([unit.source for unit in new.units], new.tail)
    old = {old_key(unit, how.renames): unit for unit in base.units}
    pieces = []
    for unit in new.units:
        if unit.key not in clashes:
            pieces.append(unit.source)
        elif unit.key in old:
            pieces.append(old[unit.key].source)
    return joined(pieces, new.tail)
