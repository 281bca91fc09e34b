"""From labels to examples and no further: splits, TRAIN's examples, and the guard.

Suites as users start them, in a bare interpreter, in front of a judge's server.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from helix_runtime.labels.file import Label, write_labels
from helix_runtime.labels.splits import Splits
from support.judge_server import JudgeServer, judge_server
from support.live_suite import JUDGED, LiveSuite, live_suite, rows
from support.wires import CHAT, Asked, Weather, verdict_text

SETTINGS = """
[judge]
provider = "openai-http"
model = "judge-1"
base_url = "{url}"
"""
JUDGES = """\
from ._runtime.criterion import Example, Judge

kind = Judge(
    "kind",
    "The answer is kind.",
    "It is kind.",
    "It is not.",
{examples})
"""
MANY = 40
WORDS = ("pass", "fail", "underdetermined")


def answer(asked: Asked) -> Weather:
    ref = {"obs": "output", "path": "", "value": "It is"}
    return CHAT.answer(verdict_text(refs=[ref]), model=str(asked.body["model"]))


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judge_server() as running:
        running.answer = answer
        yield running


def labels() -> list[Label]:
    return [
        Label(
            trace_id=f"case-{number:04d}-r0",
            criterion_id="kind",
            label=WORDS[number % 3],  # type: ignore[arg-type]
            note=f"Number {number} is like that.",
        )
        for number in range(MANY)
    ]


SPLIT = Splits(labels())


def of_split(split: str) -> list[int]:
    return [n for n in range(MANY) if SPLIT.of(f"case-{n:04d}") == split]


@pytest.fixture
def suite(tmp_path: Path, server: JudgeServer) -> LiveSuite:
    """A suite whose first run was labelled."""
    live = live_suite(
        tmp_path,
        cases=rows(MANY),
        criteria=JUDGED,
        judges=JUDGES.format(examples=""),
        settings=SETTINGS.format(url=server.base_url),
    )
    done = live.run("run", "--out", "runs/one", "--no-judge", "-q")
    assert done.returncode == 3, done.stderr
    write_labels(live.root / "labels.jsonl", labels())
    return live


def shown(number: int, *, label: str = "pass", **changes: str) -> str:
    fields = {
        "label": label,
        "excerpt": f"An excerpt of number {number}.",
        "critique": "Because.",
        "result": "uncertain" if label == "borderline" else label,
        "case_id": f"case-{number:04d}",
        **changes,
    }
    arguments = ", ".join(f"{name}={text!r}" for name, text in fields.items())
    return f"Example({arguments})"


def three(first: str) -> str:
    """Examples of each kind, the last two of TRAIN."""
    second, third = of_split("train")[:2]
    rest = [shown(second, label="fail"), shown(third, label="borderline")]
    return f"    examples=[{', '.join([first, *rest])}],\n"


def with_examples(live: LiveSuite, examples: str) -> None:
    live.write("desk_evals/judges.py", JUDGES.format(examples=examples))


# -- the splits ------------------------------------------------------------------------


def test_the_splits_are_shown_by_criterion_and_label(suite: LiveSuite) -> None:
    done = suite.run("labels", "splits")
    assert done.returncode == 0, done.stderr
    counts = ", ".join(
        f"{len(of_split(split))} {split}" for split in ("train", "dev", "test")
    )
    assert "40 labels on 40 cases in" in done.stdout and counts in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[2:]] == list(WORDS)
    shown = json.loads(suite.run("labels", "splits", "--json").stdout)
    assert shown["runs"]["case-0003-r0"] == SPLIT.of("case-0003")
    assert sum(shown["criteria"]["kind"]["fail"].values()) == 13


# -- examples of TRAIN -----------------------------------------------------------------


def test_printed_examples_are_pasted_and_the_judge_is_shown_them(
    suite: LiveSuite, server: JudgeServer
) -> None:
    done = suite.run("labels", "examples", "kind")
    assert done.returncode == 0, done.stderr
    assert suite.run("labels", "examples", "kind").stdout == done.stdout
    assert "paste this" in done.stderr
    with_examples(suite, done.stdout)
    server.asked.clear()
    again = suite.run("run", "--out", "runs/two", "-q")
    assert again.returncode == 0, again.stderr
    assert "warning" not in again.stderr
    system = server.asked[0].system
    for word in ("A pass example", "A fail example", "A borderline example"):
        assert word in system
    number = next(n for n in of_split("train") if f"user: What is {n}?" in system)
    assert f"critique: Number {number} is like that." in system
    held_out = of_split("dev") + of_split("test")
    assert not any(f"user: What is {n}?" in system for n in held_out)


def test_changed_examples_are_another_judge_that_is_asked_again(
    suite: LiveSuite, server: JudgeServer
) -> None:
    go_on = ("run", "--resume", "one", "--judge", "openai-http:judge-1", "-q")
    assert suite.run(*go_on).returncode == 0
    assert len(server.asked) == MANY
    with_examples(suite, suite.run("labels", "examples", "kind").stdout)
    for asked_again in (MANY, 0):
        server.asked.clear()
        assert suite.run(*go_on).returncode == 0
        assert len(server.asked) == asked_again


def test_a_label_without_a_note_leaves_the_critique_to_be_written(
    suite: LiveSuite,
) -> None:
    bare = [
        Label(trace_id=x.trace_id, criterion_id="kind", label=x.label) for x in labels()
    ]
    write_labels(suite.root / "labels.jsonl", bare)
    done = suite.run("labels", "examples", "kind")
    assert done.returncode == 0 and "have no critique" in done.stderr
    with_examples(suite, done.stdout)
    refused = suite.run("run", "--out", "runs/two")
    assert refused.returncode == 2 and "no critique" in refused.stderr


def test_a_kind_that_train_lacks_is_said_with_the_runs_to_label(
    suite: LiveSuite,
) -> None:
    passes = [
        Label(trace_id=x.trace_id, criterion_id="kind", label="pass")
        for x in labels()[:10]
    ]
    write_labels(suite.root / "labels.jsonl", passes)
    done = suite.run("labels", "examples", "kind")
    assert done.returncode == 2 and done.stdout == ""
    assert "TRAIN has no fail example of 'kind'" in done.stderr
    assert "a borderline run is one that is labelled underdetermined" in done.stderr
    line = next(x for x in done.stderr.splitlines() if "would be in TRAIN" in x)
    name = line.rpartition(": ")[2].split(",")[0].split(" ")[0]
    added = Label(trace_id=name, criterion_id="kind", label="fail")
    assert Splits([*passes, added]).of(name) == "train"


def test_runs_of_one_id_that_differ_are_not_guessed_between(suite: LiveSuite) -> None:
    target = suite.package / "target.py"
    target.write_text(target.read_text("utf-8").replace('"."', '"!"'), "utf-8")
    suite.run("run", "--out", "runs/two", "--no-judge", "-q")
    done = suite.run("labels", "examples", "kind")
    assert done.returncode == 2 and "name the run that was labelled" in done.stderr
    done = suite.run("labels", "examples", "kind", "--run", "two")
    assert done.returncode == 0 and "assistant: It is" in done.stdout
    assert "!" in done.stdout


def test_a_run_that_holds_a_key_is_not_pasted_anywhere(suite: LiveSuite) -> None:
    key = "sk-abcdefghij0123456789abcdef"
    path = suite.root / "runs/one/traces.jsonl"
    path.write_text(path.read_text("utf-8").replace("It is", f"It is {key}"), "utf-8")
    done = suite.run("labels", "examples", "kind")
    assert done.returncode == 2 and "looks like a key" in done.stderr
    path.write_text(path.read_text("utf-8").replace(key, "my own secret"), "utf-8")
    done = suite.run("labels", "examples", "kind", env={"DESK_TOKEN": "my own secret"})
    assert done.returncode == 0 and "my own secret" not in done.stdout
    assert "[DESK_TOKEN redacted]" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("examples",), "one CRITERION"),
        (("examples", "kindd"), "did you mean 'kind'?"),
        (("examples", "exact"), "criterion 'exact'; a judge decides kind"),
        (("splits", "x"), "takes no FILE"),
        (("examples", "kind", "--traces", "nowhere"), "no trace file nowhere"),
    ],
)
def test_what_cannot_be_printed_is_refused(
    suite: LiveSuite, words: tuple[str, ...], said: str
) -> None:
    done = suite.run("labels", *words)
    assert done.returncode == 2 and said in done.stderr


# -- the guard -------------------------------------------------------------------------


def leaking(split: str, by: str) -> str:
    number = of_split(split)[0]
    text = f"What is {number}?"
    return {
        "case": shown(number),
        "run": shown(number, case_id="", trace_id=f"case-{number:04d}-r0"),
        "another repeat": shown(number, case_id="", trace_id=f"case-{number:04d}-r5"),
        "content": shown(
            number,
            case_id="",
            excerpt=f"user: {text}\nassistant: It is {number}.\n"
            f'trajectory[0]: {{"name":"assistant"}}',
        ),
    }[by]


@pytest.mark.parametrize("split", ["dev", "test"])
@pytest.mark.parametrize("by", ["case", "run", "another repeat"])
def test_an_example_of_dev_or_test_stops_the_run_before_anything_is_called(
    suite: LiveSuite, server: JudgeServer, split: str, by: str
) -> None:
    with_examples(suite, three(leaking(split, by)))
    server.asked.clear()
    done = suite.run("run", "--out", "runs/two")
    assert done.returncode == 2
    assert "judges.py: example 1 of 'kind' leaks" in done.stderr
    assert f"in the {split} split" in done.stderr
    assert "`labels examples kind`" in done.stderr
    assert server.asked == [] and not (suite.root / "runs/two").exists()


def test_every_leak_is_listed_at_once(suite: LiveSuite) -> None:
    examples = [
        shown(of_split("dev")[0]),
        shown(of_split("test")[0], label="fail"),
        shown(of_split("train")[0], label="borderline"),
    ]
    with_examples(suite, f"    examples=[{', '.join(examples)}],\n")
    done = suite.run("run", "--out", "runs/two")
    assert done.stderr.count(" leaks: ") == 2


def long_target(suite: LiveSuite) -> None:
    """Let the subject answer at length, each case with words of its own."""
    suite.write(
        "desk_evals/target.py",
        "def target(case):\n"
        "    number = case.query[8:-1]\n"
        "    return f'It is {number}. Long have I thought about {number}, and "
        "whatever I tried it came to {number} in the end, and to nothing else.'\n",
    )


def test_an_example_that_only_says_the_same_is_found_by_its_content(
    suite: LiveSuite, server: JudgeServer
) -> None:
    long_target(suite)
    suite.run("run", "--out", "runs/long", "--no-judge", "-q")
    number = of_split("test")[0]
    text = (
        f"Q: What is {number}?\nA: It is {number}. Long have I thought about {number}, "
        f"and whatever I tried it came to {number} in the end, and to NOTHING else."
    )
    with_examples(suite, three(shown(0, case_id="", excerpt=text)))
    server.asked.clear()
    done = suite.run("run", "--out", "runs/two")
    assert done.returncode == 2 and server.asked == []
    assert "stands in a run of the test split" in done.stderr


def test_a_copy_of_a_held_out_case_leaks_under_its_own_id_too(
    suite: LiveSuite,
) -> None:
    number = of_split("dev")[0]
    copy = {**rows(MANY)[number], "id": "the-copy"}
    text = (suite.root / "dataset.jsonl").read_text("utf-8")
    suite.write("dataset.jsonl", text + json.dumps(copy) + "\n")
    with_examples(suite, three(shown(number, case_id="the-copy")))
    done = suite.run("run", "--out", "runs/two")
    assert done.returncode == 2 and "its case 'the-copy' is in the dev" in done.stderr


def test_labels_that_can_not_be_read_stop_a_judge_with_examples(
    suite: LiveSuite,
) -> None:
    with_examples(suite, three(shown(of_split("train")[2])))
    with (suite.root / "labels.jsonl").open("a") as file:
        file.write('{"traceId": "case-00')
    done = suite.run("run", "--out", "runs/two")
    assert done.returncode == 2 and "labels.jsonl:41: " in done.stderr


def test_examples_of_no_labelled_run_and_runs_that_are_gone_are_said(
    suite: LiveSuite, server: JudgeServer
) -> None:
    shutil.rmtree(suite.root / "runs")
    with_examples(suite, three(shown(0, case_id="made-up")))
    done = suite.run("run", "--out", "runs/two", "-q")
    assert done.returncode == 0, done.stderr
    assert "40 labelled runs are not at hand" in done.stderr
    assert "1 of the judges' examples are of no labelled run" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("prep", "--run", "one", "--model", "judge-2026-01-01"),
        ("canaries",),
        ("verify", "--model", "judge-2026-01-01"),
    ],
)
def test_no_other_way_to_a_judge_leads_past_the_guard(
    suite: LiveSuite, server: JudgeServer, words: tuple[str, ...]
) -> None:
    with_examples(suite, three(leaking("dev", "case")))
    server.asked.clear()
    done = suite.run(*words)
    assert done.returncode == 2 and "leaks: its case" in done.stderr, done.stderr
    assert server.asked == [] and not (suite.root / "matrix/packets").exists()


def test_without_a_judge_nobody_is_shown_anything(suite: LiveSuite) -> None:
    with_examples(suite, three(leaking("dev", "case")))
    done = suite.run("run", "--out", "runs/two", "--no-judge", "-q")
    assert done.returncode != 2 and "leaks" not in done.stderr


def test_recorded_traces_of_a_run_are_compared_too(
    suite: LiveSuite, server: JudgeServer, tmp_path: Path
) -> None:
    long_target(suite)
    suite.run("run", "--out", "runs/long", "--no-judge", "-q")
    traces = tmp_path / "elsewhere.jsonl"
    shutil.copy(suite.root / "runs/long/traces.jsonl", traces)
    shutil.rmtree(suite.root / "runs")
    number = of_split("test")[0]
    text = (
        f"What is {number}? It is {number}. Long have I thought about {number}, and "
        f"whatever I tried it came to {number} in the end, and to nothing else."
    ).replace("? ", "?\n")
    with_examples(suite, three(shown(0, case_id="", excerpt=text)))
    server.asked.clear()
    done = suite.run("run", "--traces", str(traces), "--out", "runs/two")
    assert done.returncode == 2 and "test split" in done.stderr
    assert server.asked == []
    suite.write(
        "evals.toml",
        'traces = ["elsewhere.jsonl"]\n' + SETTINGS.format(url=server.base_url),
    )
    assert suite.run("run", "--out", "runs/two").returncode == 2
