"""The cases of a file under inspect-ai: CASES OUT."""

import sys

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import exact
from inspect_ai.solver import solver


@solver
def echo():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("echo", state.input_text)
        state.completed = True
        return state

    return solve


fields = FieldSpec(input="input", target="expected", id="id")
task = Task(dataset=json_dataset(sys.argv[1], fields), solver=echo(), scorer=exact())
log = inspect_eval(
    task, model="mockllm/model", display="none", log_dir=sys.argv[2], max_samples=10
)[0]
assert log.status == "success" and log.results is not None, log.error
metrics = log.results.scores[0].metrics
assert (metrics.get("accuracy") or metrics["mean"]).value == 1.0
