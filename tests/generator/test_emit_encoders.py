"""Markdown, TOML and JSON: a stranger's text stays text in each of them."""

import json
import tomllib
from unicodedata import category

import pytest
from helix_gen.emit import json_text, markdown, toml
from helix_gen.emit.environment import environment, fill
from helix_gen.emit.literal import Code, quoted
from helix_gen.emit.markdown import Markdown
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from support.nasty_texts import NASTY

texts = st.one_of(
    st.text(max_size=80),
    st.sampled_from(NASTY),
    st.text(st.sampled_from("`*_[]()<>|~$&#;:/@.!\\-+=1 \nawx"), max_size=40),
)
READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def leaves(text: str) -> list[Token]:
    """The inline tokens of a Markdown text."""
    return [
        leaf
        for token in READER.parse(text)
        if token.type == "inline"
        for leaf in token.children or ()
    ]


def blocks(text: str) -> list[str]:
    """The block structure of a Markdown text."""
    return [token.type for token in READER.parse(text)]


@given(texts)
def test_a_text_is_one_line_of_plain_markdown(text: str) -> None:
    written = markdown.text(text)
    assert "\n" not in written
    for document in (written, f"# {written}", f"see {written}", f"- {written}"):
        assert {leaf.type for leaf in leaves(document)} <= {"text"}
    assert blocks(written) == ["paragraph_open", "inline", "paragraph_close"]


@given(texts, texts)
def test_a_table_keeps_its_cells(text: str, spec_id: str) -> None:
    row = f"| {markdown.code(spec_id)} | {markdown.text(text)} |"
    table = f"| a | b |\n| --- | --- |\n{row}\n| c | d |\n"
    cells = [token for token in READER.parse(table) if token.type == "td_open"]
    assert len(cells) == 4
    inline = [token for token in READER.parse(table) if token.type == "inline"]
    kinds = [leaf.type for leaf in inline[2].children or ()]
    assert kinds in (["code_inline"], ["text"])
    assert {leaf.type for leaf in inline[3].children or ()} <= {"text"}


@given(st.text(st.sampled_from("`ab |"), min_size=1, max_size=12))
def test_a_code_span_shows_the_text_itself(text: str) -> None:
    if not text.strip():
        return
    (leaf,) = leaves(f"| a |\n| --- |\n| {markdown.code(text)} |")[1:]
    assert leaf.content.strip() == " ".join(text.split())


@given(texts)
def test_a_toml_string_means_the_text(text: str) -> None:
    written = toml.string(text)
    assert "\n" not in written and "\r" not in written
    kept = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert tomllib.loads(f"key = {written}\nother = 1") == {"key": kept, "other": 1}
    # A setting that is commented out must stay so, whatever its text.
    assert tomllib.loads(f"# key = {written}\nother = 1") == {"other": 1}


@given(st.recursive(texts, lambda inner: st.dictionaries(texts, inner, max_size=3)))
def test_json_means_the_data_and_is_one_line_for_every_reader(data: object) -> None:
    written = json_text.line(data)
    assert len(written.splitlines()) == 1
    # What is not assigned in this Python's tables may be in a later one.
    assert all(c.isprintable() or category(c) == "Cn" for c in written)
    assert json.loads(written) == data
    assert json.loads(json_text.document(data)) == data


@pytest.mark.parametrize("name", ["", "a b", 'a"', "é", "a\n"])
def test_a_bare_name_is_plain(name: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        toml.bare(name)
    with pytest.raises(ValueError, match="not an"):
        markdown.name(name)


def test_a_template_prints_its_own_trusted_type_and_nothing_else() -> None:
    template = environment(Code).from_string("VALUE = {{ value }}\n")
    assert template.render(value=quoted("a")) == 'VALUE = "a"\n'
    for value in ("a", 1, None, ["a"], markdown.text("a"), quoted("a") + "b"):
        with pytest.raises(TypeError, match="a template prints Code"):
            template.render(value=value)


def test_a_template_refuses_what_it_was_not_given() -> None:
    with pytest.raises(TypeError, match="not StrictUndefined"):
        fill(Markdown, "matrix_README.md")
