"""A suite's folder as a user has it, small, with a package name of its own."""

import json
from argparse import Namespace
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from helix_runtime.case import Case
from helix_runtime.command_line import build_parser
from helix_runtime.folder import SuiteFolder
from helix_runtime.trace import Trace
from helix_runtime.unitf import trace_to_record

_NUMBERS = count()
# Imports of a process are kept by name: each folder's package gets another one.
_SUITE = """\
from support.runs import *

SUITE = suite({criteria})
"""


def make_suite_folder(
    root: Path,
    *,
    criteria: str = "",
    cases: Iterable[Case] = (),
    settings: str = "",
) -> SuiteFolder:
    """`criteria` is Python source over `support.runs`; the default is its suite."""
    package = f"desk_{next(_NUMBERS)}_evals"
    home = root / package
    home.mkdir(parents=True)
    (home / "__init__.py").write_text(
        'GENERATOR = "tests"\nSPEC_SHA256 = ""\n', "utf-8"
    )
    (home / "suite.py").write_text(_SUITE.format(criteria=criteria), "utf-8")
    (root / "evals.toml").write_text(settings, "utf-8")
    rows = "".join(json.dumps(case.to_row()) + "\n" for case in cases)
    (root / "dataset.jsonl").write_text(rows, "utf-8")
    return SuiteFolder(root=root, package=package)


def write_traces(path: Path, traces: Iterable[Trace]) -> Path:
    lines = "".join(json.dumps(trace_to_record(trace)) + "\n" for trace in traces)
    path.write_text(lines, "utf-8")
    return path


def parsed(*words: Any) -> Namespace:
    """The arguments as the suite's own command line reads them."""
    return build_parser("suite").parse_args([str(word) for word in words])
