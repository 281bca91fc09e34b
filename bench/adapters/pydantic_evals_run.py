"""The cases of a file under pydantic-evals: CASES OUT."""

import json
import sys
from pathlib import Path

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected
from pydantic_evals.reporting import EvaluationReportAdapter

cases_file, out = Path(sys.argv[1]), Path(sys.argv[2])


async def echo(text: str) -> str:
    return text


rows = [json.loads(line) for line in cases_file.open(encoding="utf-8")]
dataset = Dataset(
    name="bench",
    cases=[
        Case(name=r["id"], inputs=r["input"], expected_output=r["expected"])
        for r in rows
    ],
    evaluators=[EqualsExpected()],
)
report = dataset.evaluate_sync(echo, max_concurrency=10, progress=False)
out.mkdir(parents=True, exist_ok=True)
(out / "report.json").write_bytes(EvaluationReportAdapter.dump_json(report))
assert len(report.cases) == len(rows) and not report.failures
averages = report.averages()
assert averages is not None and averages.assertions == 1.0
