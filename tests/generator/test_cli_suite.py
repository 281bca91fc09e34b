"""`helix-gen suite`, from outside: what it writes, says and exits with."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command_line import heavy_modules, helix_gen, tree, write_json
from support.suite_cards import HARNESS_TARGET, card, criterion, dataset, scenario

PACKAGE = "desk_clerk_evals"
CHECKS = f"{PACKAGE}/checks.py"


def spec(**changes: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "criteria": [criterion("is-brief"), criterion("is-kind", "llm-judge")],
        "scenarios": [scenario("rush-hour")],
        "datasets": [
            dataset(
                "visits",
                items=[
                    {
                        "id": "v1",
                        "scenarioRef": "rush-hour",
                        "input": {"question": "Where is room 4?"},
                        "expected": {"response": "On the left."},
                    }
                ],
                mapsTo={
                    "criteria": ["is-brief", "is-kind"],
                    "scenarios": ["rush-hour"],
                },
            )
        ],
    }
    return card(**{**parts, **changes})


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Path]:
    """A folder with a spec in it."""
    write_json(tmp_path / "clerk.yaml", spec())
    yield tmp_path


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a spec and its suite, made once."""
    folder = tmp_path_factory.mktemp("desk")
    write_json(folder / "clerk.yaml", spec())
    done = helix_gen("suite", "clerk.yaml", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def suite(generated: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the suite, with its spec beside it."""
    shutil.copytree(generated, tmp_path, dirs_exist_ok=True)
    yield tmp_path / "desk-clerk-evals"


class TestFirstRun:
    def test_it_writes_the_suite_beside_and_says_what_is_next(self, desk: Path) -> None:
        done = helix_gen("suite", "clerk.yaml", cwd=desk)
        assert (done.returncode, done.stderr) == (0, "")
        suite = desk / "desk-clerk-evals"
        for path in ("README.md", "dataset.jsonl", CHECKS, ".helix/manifest.json"):
            assert (suite / path).is_file()
        for words in (
            "Dataset card",
            "Evals card",
            "code-written (chosen)",
            "host with agents",
            "trace sink",
            "provider key",
            "portability",
            "the check of is-brief",
            f"python -m {PACKAGE} run",
        ):
            assert words in done.stdout

    def test_the_place_of_what_is_to_write_is_exact(self, suite: Path) -> None:
        done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        (place,) = (w for w in done.stdout.split() if w.startswith(f"{CHECKS}:"))
        line = int(place.rpartition(":")[2])
        at = (suite / CHECKS).read_text().splitlines()[line - 1]
        assert at.startswith("@check(")
        # The suite itself names the same line.
        ran = subprocess.run(
            [sys.executable, "-S", "-m", PACKAGE, "run", "--no-judge", "--target"]
            + [f"command:{sys.executable} -c 'print(1)'", "--out", "runs/one"],
            cwd=suite,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert f"write it in checks.py:{line}" in " ".join(ran.stdout.split())

    def test_the_suite_runs_where_it_lies(self, suite: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-S", "-m", PACKAGE, "cases"],
            cwd=suite,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def test_quiet_prints_nothing(self, desk: Path) -> None:
        done = helix_gen("suite", "clerk.yaml", "-q", cwd=desk)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    def test_a_folder_can_be_named(self, desk: Path) -> None:
        done = helix_gen("suite", "clerk.yaml", "-o", "a/b", "-q", cwd=desk)
        assert done.returncode == 0
        assert (desk / "a/b" / CHECKS).is_file()

    def test_the_spec_can_come_from_standard_input(self, desk: Path) -> None:
        text = (desk / "clerk.yaml").read_text()
        write_json(desk / "clerk.evals.yaml", {"nonsense": 1})
        done = helix_gen("suite", "-", "-o", "out", "-q", cwd=desk, stdin=text)
        # No overlay is looked for: there is nothing that it could stand beside.
        assert (done.returncode, done.stderr) == (0, "")
        again = helix_gen("suite", "-", "-o", "out", "--check", cwd=desk, stdin=text)
        assert again.returncode == 0

    def test_the_same_inputs_give_the_same_bytes_anywhere(self, desk: Path) -> None:
        other = desk / "elsewhere"
        other.mkdir()
        (other / "clerk.yaml").write_bytes((desk / "clerk.yaml").read_bytes())
        helix_gen("suite", "clerk.yaml", "-o", "one", cwd=desk)
        helix_gen(
            *("suite", other / "clerk.yaml", "-o", other / "two"),
            cwd=other,
            env={"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        )
        assert tree(desk / "one") == tree(other / "two")

    def test_what_is_warned_of_does_not_tell_where_the_spec_is(
        self, desk: Path
    ) -> None:
        card = spec()
        card["spec"]["evaluation"]["datasets"][0]["itemsRef"] = "guests.json"
        for name in ("clerk.yaml", "zoe.yaml"):
            write_json(desk / name, card)
        rows = [{"id": "g", "query": "Where?", "scenario": "none", "mood": "calm"}]
        write_json(desk / "guests.json", rows)
        # By their own names, the spec comes before its rows, or after them.
        for spelling in ("clerk.yaml", "zoe.yaml", desk / "clerk.yaml"):
            out = f"by {spelling.__class__.__name__} {str(spelling)[-8]}"
            done = helix_gen("suite", spelling, "-o", out, "-q", cwd=desk)
            assert done.returncode == 0
            assert "HX503" in done.stderr and "HX504" in done.stderr
        first, *others = (tree(path) for path in desk.glob("by *"))
        assert len(others) == 2
        assert all(other == first for other in others)


class TestProblems:
    def test_a_bad_spec_writes_nothing(self, desk: Path) -> None:
        bad = spec(criteria=[criterion("x", "vibes"), criterion("y", "hunch")])
        write_json(desk / "clerk.yaml", bad)
        done = helix_gen("suite", "clerk.yaml", cwd=desk)
        assert done.returncode == 2
        assert done.stdout == ""
        for word in ("vibes", "hunch"):
            assert word in done.stderr
        assert not (desk / "desk-clerk-evals").exists()

    def test_a_bad_overlay_writes_nothing(self, desk: Path) -> None:
        overlay = {"criteria": {"no-such": {"severity": "HIGH"}}}
        write_json(desk / "clerk.evals.yaml", overlay)
        done = helix_gen("suite", "clerk.yaml", cwd=desk)
        assert done.returncode == 2
        assert "clerk.evals.yaml:" in done.stderr
        assert not (desk / "desk-clerk-evals").exists()

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["no-such.yaml"], "no-such.yaml:1:1: error[HX701]"),
            (["clerk.yaml", "--overlay", "no.yaml"], "no.yaml:1:1: error[HX701]"),
            (["clerk.yaml", "--items", "visits"], "is not DATASET=FILE"),
            (["clerk.yaml", "--items", "visits=no.csv"], "there is no file"),
            (["clerk.yaml", "--items", "no=clerk.yaml"], "`no`"),
            (["clerk.yaml", "--target", "no"], "`no`"),
            (["clerk.yaml", "--traces", "no.jsonl"], "no such file of traces"),
            (["clerk.yaml", "--traces", "clerk.yaml"], "error[HX709]"),
            (["clerk.yaml", "--engine", "magic"], "magic"),
            (["clerk.yaml", "other.yaml"], "other.yaml"),
            (["clerk.yaml", "--check", "--dry-run"], "choose one"),
            (["clerk.yaml", "--model", "m"], "--model goes with --traces"),
            (["clerk.yaml", "--nonsense"], "--nonsense"),
            (["."], "can't be read"),
            ([], "SPEC"),
        ],
    )
    def test_bad_arguments_exit_2_and_write_nothing(
        self, desk: Path, words: list[str], said: str
    ) -> None:
        before = tree(desk)
        done = helix_gen("suite", *words, cwd=desk)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert tree(desk) == before

    def test_warnings_are_said_and_do_not_stop_it(self, desk: Path) -> None:
        loose = [criterion("is-brief"), criterion("is-kind"), criterion("is-loose")]
        write_json(desk / "clerk.yaml", spec(criteria=loose))
        first = helix_gen("suite", "clerk.yaml", "-q", cwd=desk)
        assert first.returncode == 0
        assert "warning[HX" in first.stderr
        # The fast path says them again.
        again = helix_gen("suite", "./clerk.yaml", "-q", cwd=desk)
        assert again.stderr == first.stderr

    def test_a_stranger_text_does_not_reach_the_terminal_raw(self, desk: Path) -> None:
        done = helix_gen("suite", "\x1b[31mred.yaml", cwd=desk)
        assert done.returncode == 2
        assert "\x1b" not in done.stderr

    def test_colour_is_for_terminals_only(self, desk: Path) -> None:
        done = helix_gen("suite", "no.yaml", cwd=desk, env={"FORCE_COLOR": "1"})
        assert "\x1b" not in done.stderr

    def test_a_folder_of_somebody_else_is_left_alone(self, desk: Path) -> None:
        (desk / "desk-clerk-evals").mkdir()
        (desk / "desk-clerk-evals/notes.txt").write_text("mine")
        done = helix_gen("suite", "clerk.yaml", cwd=desk)
        assert done.returncode == 2
        assert "error[HX702]" in done.stderr
        assert tree(desk / "desk-clerk-evals") == {"notes.txt": b"mine"}

    def test_a_newer_manifest_is_refused(self, suite: Path) -> None:
        (suite / ".helix/manifest.json").write_text('{"format": 2}')
        done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        assert done.returncode == 2
        assert "error[HX705]" in done.stderr

    def test_a_folder_that_cannot_be_written_is_explained(self, desk: Path) -> None:
        (desk / "file").write_text("")
        done = helix_gen("suite", "clerk.yaml", "-o", "file/suite", cwd=desk)
        assert done.returncode == 2
        assert "error[HX70" in done.stderr
        assert "Traceback" not in done.stderr


class TestSecondRun:
    def test_nothing_changed_is_said_and_nothing_is_touched(self, suite: Path) -> None:
        before = tree(suite)
        done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        assert done.returncode == 0
        assert "nothing changed" in done.stdout
        assert tree(suite) == before

    def test_nothing_changed_imports_nothing_heavy(self, suite: Path) -> None:
        assert heavy_modules("suite", "clerk.yaml", cwd=suite.parent) == set()
        words = ("suite", "clerk.yaml", "-o", suite, "--check")
        assert heavy_modules(*words, cwd=suite.parent) == set()

    def test_the_fast_way_says_what_the_whole_way_says(self, suite: Path) -> None:
        fast = helix_gen("suite", "clerk.yaml", "--json", cwd=suite.parent)
        (suite / ".helix/summary.json").unlink()
        whole = helix_gen("suite", "clerk.yaml", "--json", cwd=suite.parent)
        records = [json.loads(done.stdout) for done in (fast, whole)]
        assert records[0]["cards"] == records[1]["cards"]
        assert records[0]["problems"] == records[1]["problems"]
        assert not records[0]["changes"]["drift"]

    def test_a_summary_of_a_stranger_is_not_printed(self, suite: Path) -> None:
        place = suite / ".helix/summary.json"
        place.write_text(place.read_text().replace('"cases"', '"cakes"'))
        done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        assert done.returncode == 0
        assert "cakes" not in done.stdout
        assert "cases" in place.read_text()

    def test_a_written_check_stays_and_is_no_longer_asked_for(
        self, suite: Path
    ) -> None:
        text = (suite / CHECKS).read_text()
        written = text.replace("return unwritten()", 'return passed("Seen.")')
        (suite / CHECKS).write_text(written)
        done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        assert done.returncode == 0
        assert "the check of is-brief" not in done.stdout
        assert (suite / CHECKS).read_text() == written
        assert (
            helix_gen("suite", "clerk.yaml", "--check", cwd=suite.parent).returncode
            == 0
        )

    def test_a_changed_spec_arrives(self, suite: Path) -> None:
        changed = spec()
        changed["spec"]["evaluation"]["criteria"].append(criterion("is-true"))
        write_json(suite.parent / "clerk.yaml", changed)
        done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        assert done.returncode == 0, done.stderr
        assert "update   " + CHECKS in done.stdout
        assert "is-true" in (suite / CHECKS).read_text()

    def test_what_both_changed_is_a_conflict_that_comes_again(
        self, suite: Path
    ) -> None:
        source = (suite / CHECKS).read_text()
        mine = source.replace("is-brief holds.", "It is brief, I say.")
        assert mine != source
        (suite / CHECKS).write_text(mine)
        changed = spec(
            criteria=[criterion("is-brief", description="Changed."), criterion("b")]
        )
        changed["spec"]["evaluation"]["datasets"][0]["mapsTo"] = {}
        write_json(suite.parent / "clerk.yaml", changed)
        for _ in range(2):
            done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
            assert done.returncode == 3
            assert CHECKS in done.stderr
            assert "conflict" in done.stderr
            assert f"helix-gen resolve desk-clerk-evals/{CHECKS} --ours" in done.stderr
            assert "It is brief, I say." in (suite / CHECKS).read_text()
        check = helix_gen("suite", "clerk.yaml", "--check", cwd=suite.parent)
        assert check.returncode == 1
        words = ("resolve", suite / CHECKS, "--theirs")
        assert helix_gen(*words, cwd=suite.parent).returncode == 0
        assert 'check("is-brief", "Changed."' in (suite / CHECKS).read_text()
        done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        assert done.returncode == 0, done.stderr
        assert "nothing changed" in done.stdout

    def test_rows_grow_and_keep_what_their_owner_did(self, suite: Path) -> None:
        place = suite / "dataset.jsonl"
        rows = [json.loads(line) for line in place.read_text().splitlines()]
        rows[0]["query"] = "My own words?"
        mine = {"id": "mine", "query": "And this?", "tuple": {"a": "b"}}
        place.write_text("".join(json.dumps(row) + "\n" for row in [*rows, mine]))
        changed = spec()
        items = changed["spec"]["evaluation"]["datasets"][0]["items"]
        items.append({**items[0], "id": "v2", "input": {"question": "Who are you?"}})
        write_json(suite.parent / "clerk.yaml", changed)
        done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        assert done.returncode == 0, done.stderr
        queries = [json.loads(line)["query"] for line in place.read_text().splitlines()]
        assert queries[: len(rows) + 1] == [*(r["query"] for r in rows), "And this?"]
        assert queries[-1] == "Who are you?"
        assert "1 row appended" in done.stdout
        assert "1 row reworded" in done.stdout
        assert "1 of your own" in done.stdout

    def test_two_runs_at_once_refuse_each_other(self, suite: Path) -> None:
        from helix_gen.reconcile.write import suite_folder

        write_json(
            suite.parent / "clerk.yaml",
            spec(scenarios=[scenario("rush-hour"), scenario("dawn")]),
        )
        with suite_folder(suite):
            done = helix_gen("suite", "clerk.yaml", cwd=suite.parent)
        assert done.returncode == 2
        assert "error[HX706]" in done.stderr

    def test_items_behind_a_link_in_a_circle_are_a_warning(self, desk: Path) -> None:
        (desk / "rows.csv").symlink_to("rows.csv")
        datasets = [dataset("visits", itemsRef="rows.csv")]
        write_json(desk / "clerk.yaml", spec(datasets=datasets))
        for _ in range(2):
            done = helix_gen("suite", "clerk.yaml", "-q", cwd=desk)
            assert done.returncode == 0
            assert "warning[HX" in done.stderr

    @pytest.mark.parametrize("kind", ["csv", "removed"])
    def test_a_changed_file_of_items_is_noticed(self, desk: Path, kind: str) -> None:
        rows = desk / "rows.csv"
        rows.write_text("query\nWhere is the lift?\n")
        datasets = [dataset("visits", itemsRef="rows.csv")]
        write_json(desk / "clerk.yaml", spec(datasets=datasets))
        assert helix_gen("suite", "clerk.yaml", "-q", cwd=desk).returncode == 0
        assert heavy_modules("suite", "clerk.yaml", cwd=desk) == set()
        if kind == "csv":
            rows.write_text("query\nWhere is the lift?\nWhere is the exit?\n")
        else:
            rows.unlink()
        check = helix_gen("suite", "clerk.yaml", "--check", cwd=desk)
        if kind == "csv":
            assert check.returncode == 1
            assert "Where is the exit?" in check.stdout
        else:
            assert "warning[HX" in check.stderr


class TestSeeingItFirst:
    @pytest.fixture
    def changed(self, suite: Path) -> Iterator[Path]:
        (suite / f"{PACKAGE}/_runtime/unit.py").write_text("edited = 1\n")
        write_json(
            suite.parent / "clerk.yaml",
            spec(criteria=[criterion("is-brief", goal="Always"), criterion("is-kind")]),
        )
        yield suite

    def test_check_shows_the_diff_and_the_command_that_mends_it(
        self, changed: Path
    ) -> None:
        before = tree(changed.parent)
        done = helix_gen("suite", "clerk.yaml", "--check", cwd=changed.parent)
        assert done.returncode == 1
        assert 'goal="Always"' in done.stdout
        assert f"--- a/{CHECKS}" in done.stdout
        assert "helix-gen suite clerk.yaml" in done.stderr
        assert tree(changed.parent) == before
        command = done.stderr.rpartition("to mend it: helix-gen ")[2].split()
        assert helix_gen(*command, cwd=changed.parent).returncode == 0
        again = helix_gen("suite", "clerk.yaml", "--check", cwd=changed.parent)
        assert again.returncode == 0

    def test_check_before_there_is_a_suite_fails(self, desk: Path) -> None:
        done = helix_gen("suite", "clerk.yaml", "--check", cwd=desk)
        assert done.returncode == 1
        assert not (desk / "desk-clerk-evals").exists()

    def test_a_dry_run_shows_what_the_run_does(self, changed: Path) -> None:
        before = tree(changed.parent)
        records = []
        for mode in ("--dry-run", "--check", None):
            words = [mode] if mode else []
            done = helix_gen(
                "suite", "clerk.yaml", "--json", *words, cwd=changed.parent
            )
            record = json.loads(done.stdout)
            record["changes"].pop("diff", None)
            records.append(record)
            if mode:
                assert tree(changed.parent) == before
        assert records[0] == records[1] == records[2]
        actions = {f["path"]: f["action"] for f in records[0]["changes"]["files"]}
        assert actions[f"{PACKAGE}/_runtime/unit.py"] == "replace"
        assert actions[CHECKS] == "update"

    def test_json_is_one_object_also_for_problems(self, desk: Path) -> None:
        (desk / "clerk.yaml").write_text("kind: [")
        done = helix_gen("suite", "clerk.yaml", "--json", cwd=desk)
        record = json.loads(done.stdout)
        assert done.returncode == 2
        assert done.stderr == ""
        assert record["cards"] is None
        assert record["problems"][0]["code"].startswith("HX")


class TestEngines:
    def test_a_harness_is_native_and_its_next_step_is_prep(self, desk: Path) -> None:
        write_json(desk / "clerk.yaml", spec(targets=[HARNESS_TARGET]))
        done = helix_gen("suite", "clerk.yaml", cwd=desk)
        assert done.returncode == 0
        assert "native-matrix (chosen)" in done.stdout
        assert "code-written" not in done.stdout
        assert f"python -m {PACKAGE} prep" in done.stdout

    def test_code_written_for_a_harness_is_an_error_that_says_why(
        self, desk: Path
    ) -> None:
        write_json(desk / "clerk.yaml", spec(targets=[HARNESS_TARGET]))
        words = ("suite", "clerk.yaml", "--engine", "code-written")
        done = helix_gen(*words, cwd=desk)
        assert done.returncode == 2
        assert "harness" in done.stderr

    def test_another_engine_is_no_unchanged_input(self, suite: Path) -> None:
        words = ("suite", "clerk.yaml", "--engine", "native-matrix", "--check")
        assert helix_gen(*words, cwd=suite.parent).returncode == 1
