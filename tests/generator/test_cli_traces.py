"""`helix-gen packets` and `suite` on recorded traces of any format."""

from pathlib import Path

import pytest
from support.command_line import helix_gen, write_json
from support.suite_cards import card, criterion, dataset, scenario
from support.trace_samples import EVERY, write

MAP = '[trace_map]\ntrace_id = "name"\nprompt = "asked"\noutput = "said"\n'


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    spec = card(
        criteria=[criterion("is-kind", "llm-judge")],
        scenarios=[scenario("rush-hour")],
        datasets=[dataset("visits", mapsTo={"scenarios": ["rush-hour"]})],
    )
    write_json(tmp_path / "clerk.yaml", spec)
    write(tmp_path / "spans.jsonl", EVERY["otel-messages"][1])
    write(tmp_path / "own.jsonl", [{"name": "o-1", "asked": "Where?", "said": "Here."}])
    write(tmp_path / "map.toml", MAP)
    return tmp_path


def test_packets_are_written_from_any_format(desk: Path) -> None:
    done = helix_gen(
        "packets",
        "clerk.yaml",
        *("--traces", "spans.jsonl", "own.jsonl", "--trace-map", "map.toml"),
        *("--model", "m-1", "-o", "out"),
        cwd=desk,
    )
    assert done.returncode == 0, done.stderr
    assert "2 traces (otel, mapped)" in done.stdout
    assert len(list((desk / "out").glob("*.packet.json"))) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("own.jsonl",), "own.jsonl: not a format that is known by its content"),
        (("own.jsonl", "--format", "langfus"), "did you mean 'langfuse'"),
        (("own.jsonl", "--format", "mapped"), "--format mapped needs a mapping"),
        (("own.jsonl", "--trace-map", "no.toml"), "no.toml: there is no such file"),
        (("own.jsonl", "--trace-map", "own.jsonl"), "own.jsonl: not TOML"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(
    words: tuple[str, ...], told: str, desk: Path
) -> None:
    rest = ("--model", "m-1", "-o", "out")
    done = helix_gen("packets", "clerk.yaml", "--traces", *words, *rest, cwd=desk)
    assert done.returncode == 2
    assert told in done.stderr and "Traceback" not in done.stderr


def test_a_new_suite_writes_packets_from_any_format(desk: Path) -> None:
    done = helix_gen(
        "suite", "clerk.yaml", "--traces", "spans.jsonl", "--model", "m-1", cwd=desk
    )
    assert done.returncode == 0, done.stderr
    assert "1 traces (otel)" in done.stdout
    done = helix_gen("suite", "clerk.yaml", "--format", "otel", cwd=desk)
    assert done.returncode == 2 and "--format goes with --traces" in done.stderr


def test_a_suite_whose_packets_could_not_be_written_says_that_it_stands(
    desk: Path,
) -> None:
    done = helix_gen(
        "suite", "clerk.yaml", "--traces", "own.jsonl", "--model", "m-1", cwd=desk
    )
    assert done.returncode == 2
    assert "own.jsonl: not a format that is known by its content" in done.stderr
    told = "desk-clerk-evals: the suite stands, without new packets\n"
    assert done.stderr.endswith(told)
    assert (desk / "desk-clerk-evals" / ".helix" / "manifest.json").is_file()
    assert not list((desk / "desk-clerk-evals").rglob("*.packet.json"))
