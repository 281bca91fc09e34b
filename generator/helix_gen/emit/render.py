"""Rendering: the suite model to the bytes of every file."""

from collections.abc import Callable, Mapping

from ..suite.model import Suite
from . import json_text, python_files
from .documents import (
    evals_toml,
    gitignore,
    judge_agent_md,
    judge_md,
    matrix_readme_md,
    orchestrate_md,
    pyproject_toml,
    readme_md,
)
from .matrix import criteria_json
from .plan import VENDORED, Ownership, Planned, Rendered, Standing, plan
from .python_files import CriterionNames, criterion_names
from .vendor import runtime_files


def render(suite: Suite) -> tuple[Rendered, ...]:
    """Return every file of the suite except `.helix/`, sorted by path.

    Pure but for reading the templates and the runtime: the same suite gives the same
    bytes on every machine. Raises literal.Unwritable for data that has no literal.
    """
    names = criterion_names(suite)
    files = [_rendered(suite, names, planned) for planned in plan(suite)]
    for path, content in runtime_files():
        files.append(
            Rendered(
                path=f"{suite.package}/{VENDORED}/{path}",
                content=content,
                ownership=Ownership.OWNED,
            )
        )
    return tuple(sorted(files, key=lambda file: file.path))


def _rendered(suite: Suite, names: CriterionNames, planned: Planned) -> Rendered:
    kind = planned.path.removeprefix(f"{suite.package}/")
    units: Mapping[str, str] = {}
    in_package = kind != planned.path
    if in_package and kind in ("checks.py", "judges.py"):
        units = names.checks if kind == "checks.py" else names.judges
    maker = (_IN_PACKAGE if in_package else _IN_FOLDER)[kind]
    adapt: Callable[[Standing], bytes] | None = None
    if in_package and kind == "suite.py":

        def adapt(standing: Standing) -> bytes:
            return maker(suite, names.standing(standing))

    return Rendered(
        path=planned.path,
        content=maker(suite, names),
        ownership=planned.ownership,
        units=tuple((str(name), spec_id) for spec_id, name in units.items()),
        renamed=tuple(
            (criterion.id, criterion.renamed_from)
            for criterion in suite.criteria
            if criterion.renamed_from is not None
            and (criterion.id in units or adapt is not None)
        ),
        adapt=adapt,
    )


def dataset_jsonl(suite: Suite) -> bytes:
    """Return the rows of the dataset, one a line, in the suite's order."""
    lines = [json_text.line(case.to_row()) for case in suite.cases]
    lines.append("")
    return "\n".join(lines).encode("utf-8")


_Maker = Callable[[Suite, CriterionNames], bytes]

_IN_FOLDER: Mapping[str, _Maker] = {
    ".gitignore": lambda suite, names: gitignore(),
    "README.md": readme_md,
    "__main__.py": lambda suite, names: python_files.root_main_py(suite),
    "dataset.jsonl": lambda suite, names: dataset_jsonl(suite),
    "evals.toml": lambda suite, names: evals_toml(suite),
    "matrix/JUDGE.md": lambda suite, names: judge_md(),
    "matrix/ORCHESTRATE.md": lambda suite, names: orchestrate_md(suite),
    "matrix/README.md": lambda suite, names: matrix_readme_md(suite),
    "matrix/criteria.json": criteria_json,
    "matrix/helix-judge.md": lambda suite, names: judge_agent_md(),
    "pyproject.toml": lambda suite, names: pyproject_toml(suite),
    "tests/test_evals.py": lambda suite, names: python_files.test_py(suite),
}
_IN_PACKAGE: Mapping[str, _Maker] = {
    "__init__.py": lambda suite, names: python_files.init_py(suite),
    "__main__.py": lambda suite, names: python_files.main_py(suite),
    "checks.py": python_files.checks_py,
    "judges.py": python_files.judges_py,
    "subject.py": lambda suite, names: python_files.subject_py(suite),
    "suite.py": python_files.suite_py,
    "target.py": lambda suite, names: python_files.target_py(suite),
}
