"""The suite's command line: it starts at once, and no fault of the input ends in a
traceback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.live_suite import PACKAGE, environment, live_suite, rows

COMMANDS = (
    "run",
    "prep",
    "aggregate",
    "report",
    "cases",
    "derive",
    "expand",
    "profile",
    "sample",
)
# What argparse and json need themselves is free; anything else is a cost at each start.
HEAVY = (
    "asyncio",
    "concurrent",
    "dataclasses",
    "email",
    "html",
    "http",
    "inspect",
    "logging",
    "multiprocessing",
    "random",
    "ssl",
    "statistics",
    "subprocess",
    "tempfile",
    "threading",
    "tomllib",
    "urllib",
    "xml",
)


@pytest.mark.parametrize("words", [["--help"], *([c, "--help"] for c in COMMANDS)])
def test_help_imports_next_to_nothing(tmp_path: Path, words: list[str]) -> None:
    suite = live_suite(tmp_path)
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from desk_evals._runtime.cli import main\n"
        "try:\n"
        f"    main('desk_evals/__main__.py', {words!r})\n"
        "finally:\n"
        "    print(sorted({m.partition('.')[0] for m in set(sys.modules) - before}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=suite.root,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "usage: python -m desk_evals" in done.stdout
    imported = done.stdout.splitlines()[-1]
    assert [name for name in HEAVY if f"'{name}'" in imported] == []
    assert "pathlib" not in imported


def test_a_run_imports_neither_asyncio_nor_a_network(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    program = (
        "import sys\n"
        "from desk_evals._runtime.cli import main\n"
        "code = main('desk_evals/__main__.py', ['run', '-q'])\n"
        "print(code, sorted(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=suite.root,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.splitlines()[-1]
    assert said.startswith("0 "), done.stderr
    heavy = ("asyncio", "http", "ssl", "subprocess", "concurrent", "xml", "shutil")
    assert [name for name in heavy if f"'{name}'" in said] == []


def test_without_a_command_it_says_what_there_is(tmp_path: Path) -> None:
    done = live_suite(tmp_path).run()
    assert done.returncode == 2
    assert all(command in done.stdout for command in COMMANDS)


def test_each_command_stands_on_the_line_of_what_it_does(tmp_path: Path) -> None:
    shown = live_suite(tmp_path).run("--help", env={"COLUMNS": "80"}).stdout
    assert "    stability  repeat cases and judgements, and say what flaps\n" in shown


def test_the_versions_are_one_line(tmp_path: Path) -> None:
    done = live_suite(tmp_path).run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("desk_evals (helix-gen test, runtime ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rum"], "error: there is no command 'rum' (did you mean 'run'?)"),
        (["run", "--taget", "x"], "no option '--taget' (did you mean '--target'?)"),
        (["run", "--taget=x"], "no option '--taget' (did you mean '--target'?)"),
        (["run", "--out"], "error: argument --out: expected one argument"),
        (["report", "a", "b"], "error: 'b' is a word too many"),
        (["--frobnicate"], "error: unrecognized arguments: --frobnicate"),
        (["run", "--\x1b[2J\nx"], "error: there is no option"),
    ],
)
def test_a_wrong_word_is_a_usage_error(
    tmp_path: Path, words: list[str], said: str
) -> None:
    done = live_suite(tmp_path).run(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr and "\x1b" not in done.stderr
    first, second = done.stderr.splitlines()
    assert said in first
    help_of = words[0] if words[0] in COMMANDS else ""
    assert (
        second.split()
        == f"`python -m desk_evals {help_of} --help` says what there is".split()
    )


def test_what_a_stranger_wrote_is_shown_escaped(tmp_path: Path) -> None:
    done = live_suite(tmp_path, cases=rows(1)).run(
        "run", "--cases", "\x1b[2J\u202e", "--target", "python:\x1b]0;x\x07:y"
    )
    assert done.returncode == 2
    assert "\x1b" not in done.stderr and "\u202e" not in done.stderr
    assert "\\x1b" in done.stderr


def test_a_bug_is_called_one_and_its_traceback_is_kept(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(1))
    path = suite.package / "_runtime" / "selection.py"
    path.write_text(path.read_text("utf-8") + "\nraise ZeroDivisionError\n", "utf-8")
    (tmp_path / "runs").mkdir()
    done = suite.run("run")
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    assert "bug" in done.stderr
    (kept,) = (tmp_path / "runs").glob("internal-error-*.txt")
    assert "ZeroDivisionError" in kept.read_text("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's pipe")
def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(20_000))
    process = subprocess.Popen(
        suite.command("cases"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 141


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's redirections")
@pytest.mark.parametrize(
    ("redirection", "code"),
    [("<&- >&-", 0), ("<&- >&- 2>&-", 0), (">/dev/full", 4)],
)
def test_streams_that_are_closed_or_full_are_no_bug(
    tmp_path: Path, redirection: str, code: int
) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *suite.command("run")],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert ("stdout can't be written: No space left" in done.stderr) == (code == 4)
    assert not list((tmp_path / "runs").glob("internal-error-*"))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's redirections")
@pytest.mark.parametrize(
    ("words", "redirection", "code"),
    [
        (["run"], "2>/dev/full", 0),
        (["run", "--traces", "nope.jsonl"], "2>/dev/full", 2),
        (["run", "--repeat", "2"], "2>/dev/full", 2),
        (["run"], ">/dev/full 2>/dev/full", 4),
    ],
)
def test_remarks_that_nobody_can_read_do_not_look_like_a_gate(
    tmp_path: Path, words: list[str], redirection: str, code: int
) -> None:
    suite = live_suite(tmp_path, cases=rows(2))
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *suite.command(*words)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == code
    assert not list((tmp_path / "runs").glob("internal-error-*"))


def test_an_older_python_is_refused_in_one_line(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(1))
    program = (
        "import sys\n"
        "sys.version_info = (3, 10, 13)\n"
        "from desk_evals._runtime.cli import main\n"
        "sys.exit(main('desk_evals/__main__.py', ['run']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=suite.root,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "needs Python 3.11 or later" in done.stderr
    assert "Python 3.10.13" in done.stderr and done.stderr.count("\n") == 1
    assert not (suite.root / "runs").exists()


def test_an_encoding_that_lacks_a_character_does_not_end_a_run(tmp_path: Path) -> None:
    suite = live_suite(
        tmp_path, cases=rows(1, query="What is 日本?", expected="It is 日本.")
    )
    done = suite.run("cases", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "\\u65e5" in done.stdout
    assert suite.run("run", env={"PYTHONIOENCODING": "ascii"}).returncode == 0


def test_a_terminal_of_plain_letters_gets_a_dashboard_of_them(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(1))
    shown = suite.run("run", env={"PYTHONIOENCODING": "ascii"}).stdout
    assert shown.isascii()
    # Our own signs are spelled, not escaped.
    assert "+ GATE PASS" in shown
    assert "##########" in shown
    assert "\\" not in shown


def test_json_stays_json_in_any_encoding(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(1, query="größer … 😀"))
    said = suite.run("cases", "--json", env={"PYTHONIOENCODING": "ascii"}).stdout
    assert said.isascii()
    assert json.loads(said)["query"] == "größer … 😀"


def test_the_package_may_have_any_name(tmp_path: Path) -> None:
    suite = live_suite(tmp_path, cases=rows(1))
    suite.package.rename(tmp_path / "other_evals")
    main = tmp_path / "other_evals/__main__.py"
    main.write_text(main.read_text("utf-8").replace(PACKAGE, "other_evals"), "utf-8")
    done = subprocess.run(
        [sys.executable, "-S", "-m", "other_evals", "run", "-q"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_path_is_told_as_it_is_typed_where_one_stands(tmp_path: Path) -> None:
    suite = live_suite(tmp_path / "suite", cases=rows(1))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    env = {"PYTHONPATH": str(suite.root)}
    suite.run("run", "--out", suite.root / "runs/one", cwd=elsewhere, env=env)
    shown = suite.run("report", "one", cwd=elsewhere, env=env).stdout
    assert "../suite/runs/one/report.html" in shown
    assert (elsewhere / "../suite/runs/one/report.html").is_file()
