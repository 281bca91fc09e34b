"""The suite's documents and settings: README, judge's instructions, TOML files."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from helix_runtime.criterion import every

from ..suite.model import Criterion, Suite
from . import markdown, toml
from .environment import fill
from .markdown import Markdown
from .plan import has_judges, needs_target
from .python_files import GENERATOR, CriterionNames
from .reach import reach_of
from .toml import Toml

MAX_ROWS: Final = 60
"""Rows of a README's table; a longer list is for `suite.py` and `cases`."""
_DATASETS: Final = 20
_STATEMENT: Final = 200
_ID: Final = 60
_EXAMPLE_MODEL: Final = "gpt-4.1-2025-04-14"


def readme_md(suite: Suite, names: CriterionNames) -> bytes:
    """Return the README: how to run the suite, what is in it, what it still needs."""
    to_write = [
        names.checks[criterion.id]
        for criterion in suite.criteria
        if criterion.check is not None and criterion.check.call is None
    ]
    placeholders = sum(case.placeholder for case in suite.cases)
    sdk, key = _provider(suite)
    # A spec of 0.2 has categories in place of datasets.
    by_category = not suite.datasets and any(case.category for case in suite.cases)
    group = "category" if by_category else "dataset"
    datasets = Counter(getattr(case, group) for case in suite.cases)
    return fill(
        Markdown,
        "README.md",
        title=markdown.text(suite.subject.name),
        subject=markdown.code(suite.subject.id),
        subject_version=markdown.code(suite.subject.version),
        generator=markdown.text(GENERATOR),
        package=markdown.name(suite.package),
        native=suite.engine == "native-matrix",
        build_target=None if suite.target.code else markdown.code(suite.target.id),
        needs_target=needs_target(suite),
        has_target=suite.engine == "code-written",
        target=None if suite.target_ref is None else markdown.code(suite.target_ref),
        judged=has_judges(suite),
        pinned=_is_pinned(suite),
        install=(
            None
            if sdk is None
            else markdown.code(f"pip install {sdk.partition('>')[0]}")
        ),
        key=markdown.code(key) if suite.pin.needs_key else None,
        compared=_is_compared(suite),
        to_write=[markdown.name(name) for name in to_write[:MAX_ROWS]],
        more_to_write=_more(len(to_write), MAX_ROWS),
        placeholders=markdown.number(placeholders) if placeholders else None,
        cases=markdown.number(len(suite.cases)),
        criteria=[_row(criterion) for criterion in suite.criteria[:MAX_ROWS]],
        more_criteria=_more(len(suite.criteria), MAX_ROWS),
        datasets=[
            {
                "name": (
                    markdown.text(f"(no {group})")
                    if key is None
                    else markdown.code(key)
                ),
                "cases": markdown.number(count),
            }
            for key, count in sorted(datasets.items(), key=lambda row: row[0] is None)[
                :_DATASETS
            ]
        ],
        more_datasets=_more(len(datasets), _DATASETS),
        group=markdown.text(group),
        groups=markdown.text("categories" if by_category else "datasets"),
    )


def _is_compared(suite: Suite) -> bool:
    """Whether a criterion is held against an earlier run."""
    return any(c.aggregate.kind == "baseline" for c in suite.criteria)


_DECIDED_BY: Final = {
    "deterministic": "code",
    "hybrid": "code, then a judge",
    "llm-judge": "a judge",
}


def _row(criterion: Criterion) -> dict[str, Markdown]:
    by = _DECIDED_BY[criterion.method]
    if criterion.check is not None and criterion.check.call is None:
        by += " (by hand)"
    aggregate = criterion.aggregate
    passes = markdown.code(str(aggregate))
    if aggregate == every():
        passes = markdown.text("every case")
    return {
        "id": markdown.code(shortened(criterion.id, _ID)),
        "statement": markdown.text(shortened(criterion.statement, _STATEMENT)),
        "by": markdown.text(by),
        "severity": markdown.text(criterion.severity),
        "passes": passes,
        "source": markdown.text("spec" if criterion.source == "spec" else "derived"),
    }


def _more(count: int, shown: int) -> Markdown | None:
    return markdown.number(count - shown) if count > shown else None


def matrix_readme_md(suite: Suite) -> bytes:
    """Return the README of `matrix/`: how a host's agents judge."""
    return fill(Markdown, "matrix_README.md", package=markdown.name(suite.package))


def judge_agent_md() -> bytes:
    """Return a judging agent for a coding agent's host, ready to be used."""
    return fill(Markdown, "judge_agent.md")


def orchestrate_md(suite: Suite) -> bytes:
    """Return the note for whoever dispatches the judging agents."""
    return fill(Markdown, "orchestrate.md", package=markdown.name(suite.package))


def judge_md() -> bytes:
    """Return the judging agents' instructions, as the runtime puts them to packets."""
    from helix_runtime.matrix.dispatch import instructions

    return instructions("trajectory").encode("utf-8")


def gitignore() -> bytes:
    """Return the folder's `.gitignore`."""
    return b"__pycache__/\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\nruns/\n.helix/staging/\n"


def pyproject_toml(suite: Suite) -> bytes:
    """Return `pyproject.toml`: no dependency, and the tools' settings."""
    sdk = _provider(suite)[0] if has_judges(suite) else None
    return fill(
        Toml,
        "pyproject.toml",
        name=toml.string(f"{suite.slug}-evals"),
        description=toml.string(f"Evals of {_one_line(suite.subject.name)}"),
        package=toml.bare(suite.package),
        extra=None if sdk is None else toml.bare(sdk.partition(">")[0]),
        requirement=None if sdk is None else toml.string(sdk),
    )


# The SDK of each provider and the variable of its key; the plain path needs no SDK.
_PROVIDERS: Final[Mapping[str, tuple[str | None, str]]] = {
    "openai": ("openai>=1.60", "OPENAI_API_KEY"),
    "openai-responses": ("openai>=1.66", "OPENAI_API_KEY"),
    "openai-http": (None, "OPENAI_API_KEY"),
    "anthropic": ("anthropic>=0.40", "ANTHROPIC_API_KEY"),
    "google": ("google-genai>=1.20", "GEMINI_API_KEY"),
}


def _provider(suite: Suite) -> tuple[str | None, str]:
    """Return the SDK that the suite's judge needs, and the variable of its key."""
    return _PROVIDERS.get(suite.pin.provider or "openai", _PROVIDERS["openai"])


def evals_toml(suite: Suite) -> bytes:
    """Return `evals.toml` as it is seeded: every setting, with what it means."""
    pin = suite.pin
    reach = reach_of(suite) if suite.engine == "code-written" else None
    preset = "" if reach is None else reach.preset
    is_mastra_workflow = preset == "mastra" and suite.subject.kind == "workflow"
    target = suite.target_ref
    if target is None and reach is not None:
        target = reach.ref(suite.package)
    values: dict[str, Any] = {
        "native": reach is None,
        "target": None if target is None else toml.string(target),
        "preset": (toml.string(preset) if preset and not is_mastra_workflow else None),
        "mastra_workflow": is_mastra_workflow,
        "url": toml.string(_url(suite, preset)),
        "judged": has_judges(suite),
        "compared": _is_compared(suite),
        "off": toml.NOTHING if _is_pinned(suite) else toml.COMMENT,
        "provider": toml.string(pin.provider or "openai"),
        "model": toml.string(pin.model or _EXAMPLE_MODEL),
        "base_url": None if pin.base_url is None else toml.string(pin.base_url),
        "criterion": toml.string(
            suite.criteria[0].id if suite.criteria else "criterion-id"
        ),
    }
    return fill(Toml, "evals.toml", **values)


def _url(suite: Suite, preset: str) -> str:
    """Return a REF of a server of this machine, as its developers start it."""
    if preset == "mastra" and suite.subject.kind == "workflow":
        return f"http:http://localhost:4111/api/workflows/{suite.slug}/start-async"
    if preset == "mastra":
        return f"http:http://localhost:4111/api/agents/{suite.slug}"
    return "http:http://localhost:8000/"


def _is_pinned(suite: Suite) -> bool:
    """Whether the overlay names the whole judge; half of one is left to the reader."""
    return suite.pin.provider is not None and suite.pin.model is not None


def shortened(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, cut at a word where one ends."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    whole = cut.rpartition(" ")[0]
    return (whole if len(whole) > limit // 2 else cut) + "…"


def _one_line(text: str) -> str:
    return " ".join(text.split())
