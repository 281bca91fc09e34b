"""The cases of a file under deepeval: CASES OUT.

It runs no subject: the echo happens while its test cases are built.
"""

import json
import os
import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase

cases_file, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
rows = [json.loads(line) for line in cases_file.open(encoding="utf-8")]
out.mkdir(parents=True, exist_ok=True)
os.chdir(out)
cases = [
    LLMTestCase(
        name=r["id"],
        input=r["input"],
        actual_output=r["input"],
        expected_output=r["expected"],
    )
    for r in rows
]
done = evaluate(
    cases,
    [ExactMatchMetric()],
    async_config=AsyncConfig(max_concurrent=10),
    display_config=DisplayConfig(
        show_indicator=False,
        print_results=False,
        inspect_after_run=False,
        results_folder=str(out),
    ),
)
assert len(done.test_results) == len(rows)
assert all(one.success for one in done.test_results)
