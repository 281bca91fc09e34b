"""`evals.toml`: every fault at once, by its key, and nothing guessed."""

from pathlib import Path

import pytest
from helix_runtime.criterion import rate
from helix_runtime.refusal import Refusal
from helix_runtime.settings import JudgeSettings, Settings, read_settings


def faults(path: Path, text: str) -> list[str]:
    path.write_text(text, "utf-8")
    with pytest.raises(Refusal) as caught:
        read_settings(path)
    assert caught.value.exit_code == 2
    return list(caught.value.lines)


def test_a_file_that_is_not_there_or_says_nothing_gives_the_defaults(
    tmp_path: Path,
) -> None:
    assert read_settings(tmp_path / "evals.toml") == Settings()
    (tmp_path / "evals.toml").write_bytes(b"\xef\xbb\xbf# nothing yet\n")
    assert read_settings(tmp_path / "evals.toml") == Settings()


def test_a_judge_of_the_wrong_type_is_not_called_missing_too(tmp_path: Path) -> None:
    text = '[judge]\nprovider = "openai"\nmodel = 3\n'
    said = faults(tmp_path / "evals.toml", text)
    assert said == ["evals.toml: `judge.model` must be a text that is not empty"]


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    path = tmp_path / "evals.toml"
    path.write_text("""
        target = "python:a:b"
        concurrency = 3
        repeats = 2
        timeout = 30
        [judge]
        provider = "openai"
        model = "m-1"
        base_url = "http://localhost:1"
        sampling = "model-default"
        max_tokens = 100
        timeout = 1.5
        allow_self_judging = true
        [budget]
        usd = 2
        [thresholds]
        "a.b" = ">= 0.5"
        """)
    assert read_settings(path) == Settings(
        target="python:a:b",
        concurrency=3,
        repeats=2,
        timeout=30.0,
        judge=JudgeSettings(
            provider="openai",
            model="m-1",
            base_url="http://localhost:1",
            sampling="model-default",
            max_tokens=100,
            timeout=1.5,
            allow_self_judging=True,
        ),
        budget_usd=2.0,
        thresholds={"a.b": rate(">= 0.5")},
        allow_self_judging=True,
    )


def test_every_fault_is_named_at_once_with_its_key(tmp_path: Path) -> None:
    found = faults(
        tmp_path / "evals.toml",
        """
        target = ""
        traces = "a.jsonl"
        concurency = 3
        repeats = 0
        timeout = inf
        concurrency = true
        judge_model = "x"
        [judge]
        provider = "openai"
        api_key = "sk-1"
        sampling = "hot"
        [budget]
        usd = -1
        [thresholds]
        a = 0.5
        b = ">= nan"
        c = ">= 0"
        d = "<= 0.5"
        e = "> 1"
        """,
    )
    keys = [fault.split("`")[1] for fault in found]
    assert keys == [
        "target",
        "traces",
        "concurency",
        "repeats",
        "timeout",
        "concurrency",
        "judge_model",
        "judge.api_key",
        "judge.sampling",
        "judge.model",
        "budget.usd",
        "thresholds.a",
        "thresholds.b",
        "thresholds.c",
        "thresholds.d",
        "thresholds.e",
    ]
    assert all(fault.startswith("evals.toml: ") for fault in found)
    assert "did you mean 'concurrency'?" in found[2]
    assert "secrets come from the environment" in found[7]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("[target]\nref = 'python:a:b'\nrepeats = 2\ntimeout = 5\n", 2),
        ("[judge]\nconcurrency = 2\n", 1),
        ("[budget]\nusd = 1\ntraces = ['a']\n", 1),
    ],
)
def test_a_line_that_a_table_took_in_says_to_move_the_table(
    tmp_path: Path, text: str, keys: int
) -> None:
    path = tmp_path / "evals.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Refusal) as refusal:
        read_settings(path)
    name = text[1 : text.index("]")]
    assert len(refusal.value.lines) == keys
    for line in refusal.value.lines:
        assert f"move [{name}] down, to the end of the file" in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target = 'a'\n[target]\nref = 'a'\n", "in place of the line `target"),
        ("target = \n", "not TOML"),
        ('target = "a"\ntarget = "b"\n', "not TOML"),
        ('[judge]\nmodel = "m"\n', "`judge.provider` is missing"),
        ('target = "python:a:b"\ntraces = ["x"]\n', "one of the two"),
        ("judge = 3\n", "`judge` must be a table"),
    ],
)
def test_what_contradicts_itself_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    assert said in "\n".join(faults(tmp_path / "evals.toml", text))


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "evals.toml").write_bytes(b"target = '\xff'")
    with pytest.raises(Refusal, match="can't be read: not UTF-8: the byte 0xff; save"):
        read_settings(tmp_path / "evals.toml")
