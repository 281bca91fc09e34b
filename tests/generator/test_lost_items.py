"""A file of items that is not read this time takes no case out of a suite."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import helix_gen, tree, write_json
from support.suite_cards import card, criterion, dataset, scenario

ROWS = [{"id": f"r{n}", "query": f"Where is room {n}?"} for n in range(3)]
GIVEN = ("--items", "visits=rows.json")
MODES: tuple[list[str], ...] = ([], ["--check"], ["--dry-run"], ["--diff"], ["--json"])


def spec(reference: str | None = "rows.json", **more: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"mapsTo": {"criteria": ["is-brief"]}, **more}
    if reference is not None:
        about["itemsRef"] = reference
    return card(
        criteria=[criterion("is-brief")],
        scenarios=[scenario("rush-hour")],
        datasets=[dataset("visits", **about)],
    )


def generate(folder: Path, *words: str) -> str:
    """Generate, and return all that is said."""
    done = helix_gen("suite", "clerk.yaml", "-o", "suite", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def refused(folder: Path, *words: str) -> str:
    """Return what is said by every mode, none of which may touch the suite."""
    before = tree(folder / "suite")
    said = []
    for mode in MODES:
        done = helix_gen(
            "suite", "clerk.yaml", "-o", "suite", *words, *mode, cwd=folder
        )
        assert done.returncode == 2, (mode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        said.append(done.stdout if mode == ["--json"] else done.stderr)
    assert tree(folder / "suite") == before
    (problem,) = (
        p for p in json.loads(said.pop())["problems"] if p["level"] == "error"
    )
    assert problem["code"] == "HX712"
    assert all("error[HX712]" in text for text in said)
    return f"{problem['message']}\n{problem['hint']}"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_json(tmp_path / "clerk.yaml", spec())
    write_json(tmp_path / "rows.json", ROWS)
    generate(tmp_path)
    return tmp_path


def gone(folder: Path) -> None:
    (folder / "rows.json").unlink()


def emptied(folder: Path) -> None:
    (folder / "rows.json").write_text("[]", "utf-8")


def nothing_that_is_read(folder: Path) -> None:
    write_json(folder / "rows.json", [{"frage": row["query"]} for row in ROWS])


def a_folder(folder: Path) -> None:
    gone(folder)
    (folder / "rows.json").mkdir()


def remote(folder: Path) -> None:
    write_json(folder / "clerk.yaml", spec("hf://desk/visits"))


def another_file_that_is_not_there(folder: Path) -> None:
    write_json(folder / "clerk.yaml", spec("other.json"))


@pytest.mark.parametrize(
    "lose",
    [
        gone,
        emptied,
        nothing_that_is_read,
        a_folder,
        remote,
        another_file_that_is_not_there,
    ],
)
def test_a_file_that_gives_no_items_any_more_retires_nothing(
    desk: Path, lose: Callable[[Path], None]
) -> None:
    lose(desk)
    said = refused(desk)
    assert "no item of `visits` is read" in said
    assert "3 cases of this suite came from it" in said
    assert "`--items visits=FILE`" in said and "put the file back" in said


def test_the_file_back_is_as_if_nothing_had_been(desk: Path) -> None:
    before = tree(desk / "suite")
    gone(desk)
    refused(desk)
    write_json(desk / "rows.json", ROWS)
    assert "nothing changed" in generate(desk)
    assert tree(desk / "suite") == before


def test_items_of_the_command_line_are_to_be_given_again(tmp_path: Path) -> None:
    write_json(tmp_path / "clerk.yaml", spec(None))
    write_json(tmp_path / "rows.json", ROWS)
    generate(tmp_path, *GIVEN)
    said = refused(tmp_path)
    assert "remove the rows from dataset.jsonl" in said
    assert "given with `--items` last time, and are not this time" in said
    generate(tmp_path, *GIVEN, "--check")
    nothing_that_is_read(tmp_path)
    said = refused(tmp_path, *GIVEN)
    assert "no item of `visits` is read from `rows.json`" in said
    assert said.endswith("to give them up, remove the rows from dataset.jsonl")


def test_they_are_also_where_the_spec_has_other_rows_to_fall_back_on(
    tmp_path: Path,
) -> None:
    write_json(tmp_path / "clerk.yaml", spec("sample.json"))
    write_json(tmp_path / "sample.json", [{"query": "Is the lift out?"}])
    write_json(tmp_path / "rows.json", ROWS)
    generate(tmp_path, *GIVEN)
    assert "given with `--items` last time" in refused(tmp_path)
    # Said on purpose, it is done, and from then on the spec's file is the one.
    assert "3 rows retired" in generate(tmp_path, "--items", "visits=sample.json")
    generate(tmp_path)
    assert "nothing changed" in generate(tmp_path)


def test_an_overlay_that_is_not_found_takes_no_items_along(tmp_path: Path) -> None:
    write_json(tmp_path / "clerk.yaml", spec(None))
    write_json(tmp_path / "rows.json", ROWS)
    overlay = {"datasets": {"visits": {"items": "rows.json"}}}
    write_json(tmp_path / "clerk.evals.yaml", overlay)
    generate(tmp_path)
    (tmp_path / "clerk.evals.yaml").rename(tmp_path / "old.yaml")
    assert "last time there was an overlay" in refused(tmp_path)
    generate(tmp_path, "--overlay", "old.yaml", "--check")


def test_a_dataset_renamed_while_its_file_is_gone_loses_nothing(desk: Path) -> None:
    renamed = spec()
    renamed["spec"]["evaluation"]["datasets"][0]["id"] = "calls"
    write_json(desk / "clerk.yaml", renamed)
    gone(desk)
    assert "no item of `calls` is read from `rows.json`" in refused(desk)


class TestOnPurpose:
    def test_a_reference_taken_out_of_the_spec_retires_its_rows(
        self, desk: Path
    ) -> None:
        write_json(desk / "clerk.yaml", spec(None, items=[]))
        gone(desk)
        assert "3 rows retired" in generate(desk)

    def test_rows_taken_out_of_the_dataset_are_missed_no_more(
        self, tmp_path: Path
    ) -> None:
        write_json(tmp_path / "clerk.yaml", spec(None))
        write_json(tmp_path / "rows.json", ROWS)
        generate(tmp_path, *GIVEN)
        assert "remove the rows from dataset.jsonl" in refused(tmp_path)
        (tmp_path / "suite" / "dataset.jsonl").write_text("", "utf-8")
        generate(tmp_path)
        assert "nothing changed" in generate(tmp_path)

    def test_fewer_rows_in_the_file_are_a_change_like_any_other(
        self, desk: Path
    ) -> None:
        write_json(desk / "rows.json", ROWS[:1])
        assert "2 rows retired" in generate(desk)


def test_a_first_generation_without_the_file_is_warned_of_alone(
    tmp_path: Path,
) -> None:
    write_json(tmp_path / "clerk.yaml", spec())
    assert "warning[HX501]" in generate(tmp_path)
    # Nothing came from it, so nothing is lost where the spec changes.
    write_json(tmp_path / "clerk.yaml", spec(description="Visits of another kind."))
    assert "warning[HX501]" in generate(tmp_path)
