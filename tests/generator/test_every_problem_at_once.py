"""One error hides no other: all independent problems come in one go."""

import json
from pathlib import Path

import pytest
from helix_gen.spec.yaml import read_yaml
from helix_runtime.targets import FORMS
from hypothesis import given
from hypothesis import strategies as st
from support.command_line import helix_gen, write_json
from support.suite_cards import card, criterion, dataset, scenario


def codes(folder: Path, spec: object, overlay: object = None) -> dict[str, list[int]]:
    """Lint; return each code with the lines in which it stands."""
    write_json(folder / "s.yaml", spec)
    if overlay is not None:
        write_json(folder / "s.evals.yaml", overlay)
    done = helix_gen("lint", "s.yaml", "--format", "json", cwd=folder)
    assert done.returncode in (0, 2), done.stderr
    found: dict[str, list[int]] = {}
    for problem in json.loads(done.stdout):
        found.setdefault(problem["code"], []).append(problem["line"])
    return found


FAULTY = {
    "criteria": {
        "cites": {"severity": "CRITICAL", "check": {"tools.caled": {"name": "x"}}},
        "nobody": {"severity": "HIGH"},
    }
}


def test_faults_of_an_overlay_hide_neither_each_other_nor_the_smells(
    tmp_path: Path,
) -> None:
    spec = card(
        criteria=[criterion("cites"), criterion("open")], scenarios=[scenario("s")]
    )
    found = codes(tmp_path, spec, FAULTY)
    assert {"HX104", "HX305", "HX306", "HX405"} <= set(found)
    assert len(found["HX405"]) == 1  # the other one is bound, if not well


def test_a_fault_of_the_spec_does_not_hide_those_of_its_overlay(tmp_path: Path) -> None:
    spec = card(
        criteria=[
            criterion("cites"),
            {**criterion("typo"), "type": "judge"},
            criterion("open"),
        ],
        scenarios=[scenario("s")],
    )
    found = codes(tmp_path, spec, {**FAULTY, "datasets": {"nowhere": {}}})
    assert {"HX104", "HX305", "HX306", "HX405"} <= set(found)
    assert len(found["HX305"]) == 2
    # The smell stands where its criterion stands, behind the one that can't be read.
    lines = (tmp_path / "s.yaml").read_text("utf-8").splitlines()
    assert '"open"' in lines[found["HX405"][0] - 1]


def test_a_criterion_with_a_fault_of_its_own_is_still_known(tmp_path: Path) -> None:
    spec = card(criteria=[{**criterion("typo"), "type": "judge"}])
    overlay = {"criteria": {"typo": {"severity": "HIGH"}}}
    assert "HX305" not in codes(tmp_path, spec, overlay)


def test_what_no_case_covers_is_not_guessed_from_half_a_spec(tmp_path: Path) -> None:
    spec = card(
        criteria=[criterion("cites")],
        scenarios=[{**scenario("s"), "surplus": 1}],
        datasets=[dataset("d", items=[], mapsTo={"criteria": ["cites", "gone"]})],
    )
    found = codes(tmp_path, spec)
    assert "HX204" in found and "HX401" not in found and "HX406" not in found


def test_that_nothing_maps_to_a_criterion_is_said_once(tmp_path: Path) -> None:
    spec = card(
        criteria=[criterion(f"c{n}") for n in range(4)],
        datasets=[dataset("d", items=[], mapsTo={})],
    )
    assert len(codes(tmp_path, spec)["HX221"]) == 1
    spec["spec"]["evaluation"]["datasets"][0]["mapsTo"] = {"criteria": ["c0"]}
    assert len(codes(tmp_path, spec)["HX221"]) == 3


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("The answer is at most 40 words long.", "{unit: words, at_most: 40}"),
        ("The answer has 200 characters or fewer.", "{unit: characters, at_most: 200}"),
        ("The answer is brief.", "{unit: words, at_most: 100}"),
    ],
)
def test_a_length_is_checked_by_a_length(
    tmp_path: Path, statement: str, hint: str
) -> None:
    spec = card(criteria=[{**criterion("size"), "description": statement}])
    write_json(tmp_path / "s.yaml", spec)
    done = helix_gen("lint", "s.yaml", cwd=tmp_path)
    assert f"output.length: {hint}" in done.stdout


def test_a_folder_is_placed_at_its_beginning(tmp_path: Path) -> None:
    write_json(tmp_path / "s.yaml", card(criteria=[criterion("c")]))
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("x", "utf-8")
    done = helix_gen("suite", "s.yaml", "-o", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("taken:1:1: error[HX702]: ")


@pytest.mark.parametrize("form", FORMS.values())
def test_each_form_that_the_runtime_reaches_is_a_target(
    tmp_path: Path, form: str
) -> None:
    kind, _, rest = form.partition(":")
    given_ = rest.replace("MODULE", "a.b").replace("URL", "http://localhost/x")
    overlay = {"target": f"{kind}:{given_}"}
    assert "HX303" not in codes(tmp_path, card(criteria=[criterion("c")]), overlay)
    assert "HX303" in codes(
        tmp_path, card(criteria=[criterion("c")]), {"target": f"{kind}:"}
    )


# JSON leaves U+007F as it is, and YAML does not take it.
TEXT = st.text(
    st.characters(exclude_characters="\x7f", exclude_categories=["Cs"]), max_size=40
)


@given(st.dictionaries(TEXT, TEXT | st.lists(TEXT, max_size=3), max_size=4))
def test_what_json_writes_is_read_as_json_reads_it(data: dict[str, object]) -> None:
    text = json.dumps(data)
    source, problems = read_yaml(text.encode(), file="s.json")
    assert problems == [] and source is not None
    assert source.data == data


def test_a_pair_of_escapes_is_one_character_and_moves_no_place() -> None:
    text = '{"a\\uD83d\\ude00": "\\ud83d\\ude00\\ud83d\\ude01!", "n": 1}'
    source, problems = read_yaml(text.encode(), file="s.json")
    assert problems == [] and source is not None
    assert source.data == {"a😀": "😀😁!", "n": 1}
    assert source.position(("n",)).column == text.index("1}") + 1


def test_outside_of_double_quotes_it_is_no_escape() -> None:
    text = "a: '\\ud83d\\ude00'\nb: \\uD83d\\uDe00\nc: \"\\\\ud83d\\\\ude00\"\n"
    source, problems = read_yaml(text.encode(), file="s.yaml")
    assert problems == [] and source is not None
    assert source.data == {
        "a": "\\ud83d\\ude00",
        "b": "\\uD83d\\uDe00",
        "c": "\\ud83d\\ude00",
    }


def test_half_a_pair_is_refused_at_its_place() -> None:
    source, problems = read_yaml(b'a: "x \\ud83d y"\n', file="s.yaml")
    assert source is None
    assert [(p.code, p.position.line) for p in problems] == [("HX004", 1)]
    assert "half of a pair" in problems[0].hint


@pytest.mark.parametrize(
    "words", [["suite", "-o", "new"], ["packets", "-o", "new", "--model", "m-1"]]
)
def test_faults_of_the_command_line_do_not_hide_those_of_the_spec(
    tmp_path: Path, words: list[str]
) -> None:
    write_json(tmp_path / "s.yaml", {**card(criteria=[criterion("c")]), "more": 1})
    given = ["--items", "d", "--traces", "gone.jsonl", "--overlay", "o.yaml"]
    done = helix_gen(*words[:1], "s.yaml", *words[1:], *given, cwd=tmp_path)
    assert done.returncode == 2
    assert "`d` is not DATASET=FILE" in done.stderr
    assert "gone.jsonl:1:1: error[HX701]: there is no such file" in done.stderr
    assert "unknown key `more`" in done.stderr
    assert "hint: name an overlay file" in done.stderr
    assert not (tmp_path / "new").exists()
