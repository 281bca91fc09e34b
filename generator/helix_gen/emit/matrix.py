"""`matrix/criteria.json`: the criteria as a packet states them."""

from typing import Any

from ..suite.model import Criterion, Suite
from . import json_text
from .python_files import CriterionNames


def criteria_json(suite: Suite, names: CriterionNames) -> bytes:
    """Return the matrix: every criterion, whoever decides it."""
    document = {
        "schema": "helix-criteria/1",
        "note": (
            "As generated from the spec. What suite.py and judges.py say decides: prep "
            "takes severity and conditions from there."
        ),
        "subject": suite.subject.id,
        "criteria": [
            _criterion(criterion, suite, names) for criterion in suite.criteria
        ],
    }
    return json_text.document(document).encode("utf-8")


def _criterion(
    criterion: Criterion, suite: Suite, names: CriterionNames
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "criterionId": criterion.id,
        "statement": criterion.statement,
        "passCondition": (
            criterion.judge.pass_when
            if criterion.judge is not None
            else criterion.goal or criterion.statement
        ),
        "severity": criterion.severity,
    }
    if criterion.judge is not None and criterion.judge.inputs:
        record["judgeInputs"] = list(criterion.judge.inputs)
    record["checkMethod"] = criterion.method
    if criterion.check is not None:
        record["codeEval"] = f"{suite.package}.checks:{names.checks[criterion.id]}"
    return record
