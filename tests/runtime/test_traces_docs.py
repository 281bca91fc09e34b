"""The guide to recorded traces says what the code does."""

import re
import tomllib
from pathlib import Path

from helix_runtime.formats import FORMATS
from helix_runtime.formats.mapped import FIELDS, LISTS, RECORDS
from helix_runtime.formats.source import MAX_VALUE
from helix_runtime.labels.file import WORDS, label_of
from helix_runtime.settings import settings_from
from helix_runtime.targets.recorded import _NAMES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "traces.md").read_text("utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| (.+?) \|", text, re.MULTILINE)


def test_every_format_is_explained_and_no_other() -> None:
    cells = first_cells(section("Formats"))
    named = [cell.strip("`") for cell in cells if cell.startswith("`")]
    assert named == list(FORMATS)


def test_every_field_of_a_mapping_is_explained_and_no_other() -> None:
    named = re.findall(r"`(\w+)`", " ".join(first_cells(section("Your own records"))))
    assert sorted(named) == sorted([*FIELDS, *LISTS, RECORDS])
    rows = section("Your own records")
    for name, parts in LISTS.items():
        row = next(r for r in rows.splitlines() if r.startswith(f"| `{name}`"))
        assert set(re.findall(r"`(\w+)`", row)) == {name, *parts}


def test_the_example_of_a_mapping_is_one() -> None:
    example = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(example) == 1
    mapping = settings_from(tomllib.loads(example[0])).trace_map
    assert mapping is not None and mapping.fields["prompt"] == "input.prompt"


def test_every_name_of_a_case_is_told() -> None:
    told = section("Which case a trace is a run of")
    assert [name for name in _NAMES if f"`{name}`" not in told] == []


def test_the_example_of_a_label_is_one_and_its_words_are_told() -> None:
    import json

    (example,) = re.findall(r"```json\n(.*?)```", section("Labels"), re.DOTALL)
    label, faults = label_of(json.loads(example))
    assert label is not None and not faults
    assert [word for word in WORDS if f"`{word}`" not in section("Labels")] == []


def test_the_limits_are_those_of_the_code() -> None:
    assert f"{MAX_VALUE >> 20} MiB" in section("Size")
