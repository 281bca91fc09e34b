"""Peers at the same work: one case and many, a code check, results on disk.

They are compared where `make bench-peers` has installed them, each in an environment of
its own under `.cache/peers/`; the others are left out.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import Command, in_turn
from rows import Row, versus
from suites import HERE, PEERS, WORK, make_suite, remove, suite_run

QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "INSPECT_DISPLAY": "none",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
}


def peers(large: bool) -> Iterator[Row]:
    """A run of one case and of 1,000 against each peer that is there."""
    for count, runs in ((1, 5), (1_000, 2)):
        suite = make_suite(f"peers-{count}", criteria=1, items=count)
        cases = WORK / f"peers-{count}.jsonl"
        write_cases(suite / "dataset.jsonl", cases)
        ours = WORK / "out"
        run = Command(name="run", argv=suite_run(suite, ours), prepare=remove(ours))
        for command in commands_of(cases):
            try:
                first, other = in_turn(run, command, runs=runs)
            except RuntimeError as error:
                # Another release of a peer may not take our adapter: say so, go on.
                print(f"{command.name} is left out: {error}", file=sys.stderr)
                continue
            what = "one case" if count == 1 else f"{count:,} cases"
            yield versus(f"{what}, one check, against {other.name}", first, other, "–")


def write_cases(dataset: Path, target: Path) -> None:
    """Write a suite's cases as plain rows: id, input, expected."""
    with (
        dataset.open(encoding="utf-8") as rows,
        target.open("w", encoding="utf-8") as out,
    ):
        for row in map(json.loads, rows):
            case = {
                "id": row["id"],
                "input": row["query"],
                "expected": row["expected"]["output"],
            }
            out.write(json.dumps(case) + "\n")


def commands_of(cases: Path) -> Iterator[Command]:
    """Yield the command of each installed peer on the cases."""
    for name in ("pydantic-evals", "inspect-ai", "deepeval"):
        python = PEERS / name / "bin" / "python"
        if python.exists():
            out = WORK / name
            script = HERE / "adapters" / f"{name.replace('-', '_')}_run.py"
            yield Command(
                name=name,
                argv=[str(python), str(script), str(cases), str(out)],
                prepare=remove(out),
                env=QUIET,
            )
    program = PEERS / "promptfoo" / "node_modules" / ".bin" / "promptfoo"
    if program.exists() and shutil.which("node"):
        yield _promptfoo(program, cases)


def _promptfoo(program: Path, cases: Path) -> Command:
    folder = WORK / "promptfoo"
    config = folder / "promptfooconfig.json"

    def write_config() -> None:
        remove(folder)()
        folder.mkdir(parents=True)
        tests = [{"vars": json.loads(line)} for line in cases.open(encoding="utf-8")]
        said = {
            "prompts": ["{{input}}"],
            "providers": ["echo"],
            "tests": tests,
            "defaultTest": {"assert": [{"type": "equals", "value": "{{expected}}"}]},
        }
        config.write_text(json.dumps(said), "utf-8")

    words = ["eval", "-c", str(config), "--no-cache", "--no-table", "--no-progress-bar"]
    return Command(
        name="promptfoo",
        argv=[str(program), *words],
        cwd=WORK,
        prepare=write_config,
        env=QUIET | {"PROMPTFOO_CONFIG_DIR": str(folder / "home")},
    )
