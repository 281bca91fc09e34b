"""A generated suite as it stands on a user's disk: its own package, vendored runtime.

It is run as users run it: `python -S -m PACKAGE`, a process of its own, without
site-packages.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import helix_runtime
from helix_runtime.unit import with_defaults

PACKAGE = "desk_evals"

CHECKS = """\
from ._runtime.case import Case
from ._runtime.criterion import check
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict, failed, passed, uncertain


@check("exact", "The answer is the expected text.")
def exact(case: Case, trace: Trace) -> Verdict:
    if trace.answer == case.expected:
        return passed(f"it answered {trace.answer}")
    return failed(f"it answered {trace.answer}, not {case.expected}")


@check("short", "The answer is short.")
def short(case: Case, trace: Trace) -> Verdict:
    if len(trace.answer or "") < LIMIT:
        return passed("it is short")
    return failed("it is long")


LIMIT = 200
"""
JUDGES = """\
from ._runtime.criterion import Judge

kind = Judge("kind", "The answer is kind.", "It is kind.", "It is not.")
"""
SUITE = """\
from . import GENERATOR, SPEC_SHA256, checks, judges
from ._runtime.criterion import Criterion
from ._runtime.suite import Subject, Suite

CRITERIA = [{criteria}]
SUITE = Suite(
    subject=Subject(id="desk", name="Desk", version="1", kind="agent", purpose="Help."),
    criteria=CRITERIA,
    engine="{engine}",
    spec_sha256=SPEC_SHA256,
    generator=GENERATOR,
)
"""
TARGET = """\
def target(case):
    return "It is " + case.query[8:-1] + "."
"""
UNWRITTEN = """\
from ._runtime.targets import TargetNotWritten


def target(case):
    raise TargetNotWritten
"""
MAIN = """\
import os
import sys


def main():
    if not __package__:
        sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    from desk_evals._runtime.cli import main as run

    return run(__file__)


if __name__ == "__main__":
    sys.exit(main())
"""
TEST_EVALS = """\
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from desk_evals._runtime.testing import Evals

EVALS = Evals()


def pytest_generate_tests(metafunc: Any) -> None:
    EVALS.parametrize(metafunc)


def test_unit(unit: tuple[str, str]) -> None:
    EVALS.check(unit)


def test_gate() -> None:
    EVALS.check_gate()
"""
CODE = "Criterion(check=checks.exact), Criterion(check=checks.short, severity='MED')"
JUDGED = f"{CODE}, Criterion(judge=judges.kind)"


class LiveSuite:
    """A suite in `root`; `run` starts its command."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / PACKAGE

    def write(self, name: str, text: str) -> Path:
        """Write a file of the suite, by its path from the root."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-S", "-m", PACKAGE, *words]

    def run(
        self, *words: str | Path, env: Mapping[str, str] | None = None, cwd: Any = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run the suite's command in its folder and wait for it."""
        return subprocess.run(
            self.command(*map(str, words)),
            cwd=cwd or self.root,
            env=environment(env),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def start(
        self, *words: str, env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """Start the suite's command; the caller ends it."""
        return subprocess.Popen(
            self.command(*words),
            cwd=self.root,
            env=environment(env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def scorecard(self, run: str) -> dict[str, Any]:
        card: dict[str, Any] = json.loads(
            (self.root / "runs" / run / "scorecard.json").read_text("utf-8")
        )
        return card

    def lines(self, run: str, name: str) -> list[dict[str, Any]]:
        """Return the records of a run's journal file, those of units in full."""
        text = (self.root / "runs" / run / name).read_text("utf-8")
        records = [json.loads(line) for line in text.splitlines()]
        return list(map(with_defaults, records)) if name == "units.jsonl" else records

    def counts(self, run: str, criterion: str) -> dict[str, int]:
        """Return a criterion's counts that are not zero."""
        for row in self.scorecard(run)["criteria"]:
            if row["criterionId"] == criterion:
                return {name: n for name, n in row["counts"].items() if n}
        raise KeyError(criterion)


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a bare environment: no PYTHONPATH, nothing that could be a secret."""
    kept = {k: os.environ[k] for k in ("PATH", "SYSTEMROOT") if k in os.environ}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **(more or {})}


def rows(count: int, **more: Any) -> list[dict[str, Any]]:
    """Return rows of a dataset that the exact check passes on the echoing target."""
    return [
        {
            "id": f"case-{number:04d}",
            "query": f"What is {number}?",
            "tuple": {"origin": "seed"},
            "source": "seed",
            "expected": f"It is {number}.",
            **more,
        }
        for number in range(count)
    ]


def live_suite(
    root: Path,
    *,
    cases: Iterable[Mapping[str, Any]] = (),
    checks: str = CHECKS,
    judges: str = JUDGES,
    target: str = TARGET,
    criteria: str = CODE,
    engine: str = "code-written",
    settings: str = "",
) -> LiveSuite:
    """Write a suite as the generator lays it out."""
    suite = LiveSuite(root)
    source = Path(helix_runtime.__file__).parent
    shutil.copytree(
        source,
        suite.package / "_runtime",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    suite.write(
        f"{PACKAGE}/__init__.py", 'GENERATOR = "helix-gen test"\nSPEC_SHA256 = "0"\n'
    )
    suite.write(f"{PACKAGE}/__main__.py", MAIN)
    suite.write(f"{PACKAGE}/checks.py", checks)
    suite.write(f"{PACKAGE}/judges.py", judges)
    suite.write(f"{PACKAGE}/suite.py", SUITE.format(criteria=criteria, engine=engine))
    suite.write(f"{PACKAGE}/target.py", target)
    suite.write("tests/test_evals.py", TEST_EVALS)
    suite.write("evals.toml", settings)
    suite.write("dataset.jsonl", "".join(json.dumps(row) + "\n" for row in cases))
    return suite
