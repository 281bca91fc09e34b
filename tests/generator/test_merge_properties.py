"""What holds for every merge, whatever the two sides did."""

import ast
import re
import sys

import pytest
from helix_gen.reconcile.merge.lines import matches, merge_text, with_endings_of
from helix_gen.reconcile.merge.python import merge_python
from helix_gen.reconcile.merge.result import MergeResult
from helix_gen.reconcile.merge.split import split_lines
from helix_gen.reconcile.merge.units import split_module
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = ["alpha", "beta", "gamma", "delta", "epsilon"]
WORDS = st.sampled_from(["one", "two", "three", "four", "five"])

FUNCTION = st.builds(
    lambda name, word, body, comment: (
        f'\n\n{comment}@check("{name}", "{word}")\n'
        f"def {name}(case: Case, trace: Trace) -> Verdict:\n"
        f'    """Decide {word}."""\n' + "".join(f"    {w} = 1\n" for w in body) + "    "
        f'return passed("{word}")\n'
    ),
    st.sampled_from(NAMES),
    WORDS,
    st.lists(WORDS, max_size=3),
    st.sampled_from(["", "# mine\n", "# a longer thought\n\n"]),
)
ASSIGNMENT = st.builds(
    lambda name, words: f"\n{name.upper()} = [\n"
    + "".join(f'    "{w}",\n' for w in words)
    + "]\n",
    st.sampled_from(NAMES),
    st.lists(WORDS, max_size=4),
)
CLASS = st.builds(
    lambda name, members: f"\n\nclass {name.title()}:\n"
    f'    """A class."""\n'
    + "".join(f"\n    def {m}(self) -> int:\n        return {i}\n" for i, m in members),
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.integers(0, 3), WORDS), max_size=3, unique_by=lambda m: m[1]),
)
IMPORT = st.builds(
    lambda names: f"from .things import {', '.join(sorted(names))}\n",
    st.sets(WORDS, min_size=1),
)


def defined(source: str) -> str:
    node = ast.parse(source.lstrip("\n")).body[0]
    return str(getattr(node, "name", None) or ast.unparse(node).partition(" ")[0])


MODULE = st.builds(
    lambda imports, units, tail: '"""A module."""\n\n'
    + imports
    + "".join(units)
    + tail,
    IMPORT,
    st.lists(FUNCTION | ASSIGNMENT | CLASS, max_size=5, unique_by=defined),
    st.sampled_from(["", "\n# the end\n"]),
)


TABLE = st.builds(
    lambda rows: "\nCRITERIA: list[Criterion] = [\n" + "".join(rows) + "]\n",
    st.lists(
        st.builds(
            lambda name, severity, note: f"{note}    Criterion(check=checks.{name}, "
            f'severity="{severity}"),\n',
            st.sampled_from(NAMES),
            st.sampled_from(["HIGH", "LOW"]),
            st.sampled_from(["", "    # mine\n"]),
        ),
        max_size=4,
        unique_by=lambda row: row.partition("checks.")[2].partition(",")[0],
    ),
)
JUDGE = st.builds(
    lambda name, one, two, flat: (
        f'\n{name}_judge = Judge("{name}-id", pass_when="{one}", fail_when="{two}")\n'
        if flat
        else f'\n{name}_judge = Judge(\n    "{name}-id",\n    pass_when="{one}",\n'
        f'    fail_when="{two}",\n)\n'
    ),
    st.sampled_from(NAMES),
    WORDS,
    WORDS,
    st.booleans(),
)
MODULES = st.builds(
    lambda module, more: module + "".join(more),
    MODULE,
    st.lists(TABLE | JUDGE, max_size=3, unique_by=defined),
)


def tokens(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def everything(result: MergeResult) -> str:
    conflicts = (conflict.yours for conflict in result.conflicts)
    return "\n".join([result.text, *conflicts, *result.dropped])


@given(MODULES)
def test_the_units_of_a_module_join_to_the_module(source: str) -> None:
    body = split_module(source)
    assert "".join(unit.source for unit in body.units) + body.tail == source


@given(MODULES, MODULES)
def test_nothing_new_changes_nothing(base: str, yours: str) -> None:
    result = merge_python(base, yours, base)
    assert (result.text, result.base, result.conflicts) == (yours, base, ())
    assert merge_text(base, yours, base).text == yours


@given(MODULES, MODULES)
def test_untouched_files_become_the_new_version(base: str, new: str) -> None:
    result = merge_python(base, base, new)
    assert (result.text, result.base, result.conflicts) == (new, new, ())
    assert merge_text(base, base, new).text == new


@settings(max_examples=400)
@given(MODULES, MODULES, MODULES)
def test_no_line_of_the_users_is_lost(base: str, yours: str, new: str) -> None:
    result = merge_python(base, yours, new)
    known = set(split_lines(base)) | set(split_lines(new))
    kept = everything(result)
    for line in split_lines(yours):
        # Imports and calls may be put together anew from the user's own words, and a
        # judge that was only written on other lines is as untouched as before.
        if "import" in line or "Judge(" in line or tokens(line) <= tokens(base):
            continue
        if line not in known:
            words = line.strip().rstrip(",")
            # A unit that the user only formatted is still the generator's to remove.
            assert words in kept or words in base, line


@settings(max_examples=400)
@given(MODULES, MODULES, MODULES)
def test_a_merge_is_python_and_merging_again_changes_nothing(
    base: str, yours: str, new: str
) -> None:
    result = merge_python(base, yours, new)
    ast.parse(result.text)
    again = merge_python(result.base, result.text, new)
    assert again.text == result.text
    assert again.conflicts == result.conflicts


@given(MODULES, MODULES, MODULES)
def test_line_endings_are_the_users(base: str, yours: str, new: str) -> None:
    plain = merge_python(base, yours, new)
    theirs = yours.replace("\n", "\r\n")
    carried = merge_python(base, theirs, new)
    assert "\n" not in carried.text.replace("\r\n", "")
    assert carried.text.replace("\r\n", "\n") == plain.text


@given(MODULES, st.lists(st.sampled_from(["\n", "\r\n"]), min_size=300, max_size=300))
def test_lines_that_are_still_there_keep_their_own_endings(
    text: str, endings: list[str]
) -> None:
    lines = split_lines(text)
    mixed = "".join(
        line.removesuffix("\n") + ending
        for line, ending in zip(lines, endings, strict=False)
    )
    whole = "".join(lines[: len(endings)])
    assert with_endings_of(whole, mixed) == mixed
    grown = with_endings_of("# new\n" + whole, mixed)
    assert grown.endswith(mixed)


@given(st.text("ab\n", max_size=12), st.text("ab\n", max_size=12), st.text("ab\n"))
def test_lines_merge_or_clash_but_are_never_dropped(
    base: str, yours: str, new: str
) -> None:
    result = merge_text(base, yours, new)
    known = set(base.split("\n"))
    for line in yours.split("\n"):
        assert line in known or line in everything(result).split("\n")


@given(
    st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"))
)
def test_what_two_texts_share_is_shared_and_in_order(
    one: list[str], other: list[str]
) -> None:
    at = in_other = 0
    for start, begin, size in matches(one, other):
        assert start >= at and begin >= in_other and size
        assert one[start : start + size] == other[begin : begin + size]
        at, in_other = start + size, begin + size


@given(st.text())
def test_lines_join_to_their_text(text: str) -> None:
    assert "".join(split_lines(text)) == text


def test_python_of_a_newer_version_is_read_or_left_alone() -> None:
    base = "def f(x):\n    return x\n"
    yours = f"type Words = list[str]\n\n\n{base}"
    new = base.replace("return x", "return x or x")
    if sys.version_info < (3, 12):
        with pytest.raises(SyntaxError):
            merge_python(base, yours, new)
    else:
        assert merge_python(base, yours, new).text == yours.replace(base, new)


def test_a_file_of_many_lines_that_are_alike_costs_no_square() -> None:
    one = [f"{n}\n" if n % 100 == 0 else f"{n % 7}\n" for n in range(60_000)]
    other = [*one[:30_000], "new\n", *one[30_000:]]
    third = ["first\n", *one[:-5], "last\n"]
    merged = merge_text("".join(one), "".join(other), "".join(third))
    assert "new\n" in merged.text and "first\n" in merged.text
