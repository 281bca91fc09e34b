"""Rendering: which files there are, whose they are, and that texts change no code."""

import ast
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import black
import helix_runtime
import pytest
from helix_gen.emit.plan import Ownership, Rendered, plan
from helix_gen.emit.python_files import criterion_names
from helix_gen.emit.render import render
from helix_gen.suite.model import (
    Check,
    Constant,
    Criterion,
    Pin,
    PrimitiveCall,
    Scope,
    Suite,
)
from helix_runtime.case import case_from_row
from helix_runtime.criterion import (
    Aggregate,
    baseline,
    every,
    mean,
    pass_k,
    rate,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.nasty_texts import NASTY
from support.sample_suites import bound, case, criterion, judged, native_suite, suite

PACKAGE = "library_desk_evals"
MODE = black.Mode()


def files(of: Suite) -> dict[str, bytes]:
    """The rendered files by path, without the vendored runtime."""
    return {
        file.path: file.content
        for file in render(of)
        if not file.path.startswith(f"{of.package}/_runtime/")
    }


def rendered(of: Suite, path: str) -> Rendered:
    """One rendered file."""
    (found,) = (file for file in render(of) if file.path == path)
    return found


# -- the plan -----------------------------------------------------------------------


def test_a_suite_of_code_has_these_files_and_owners() -> None:
    owners = {planned.path: planned.ownership for planned in plan(suite())}
    assert owners == {
        ".gitignore": Ownership.SEEDED,
        "README.md": Ownership.MERGED,
        "__main__.py": Ownership.OWNED,
        "dataset.jsonl": Ownership.APPEND_ONLY,
        "evals.toml": Ownership.SEEDED,
        f"{PACKAGE}/__init__.py": Ownership.OWNED,
        f"{PACKAGE}/__main__.py": Ownership.OWNED,
        f"{PACKAGE}/checks.py": Ownership.MERGED,
        f"{PACKAGE}/judges.py": Ownership.MERGED,
        f"{PACKAGE}/subject.py": Ownership.MERGED,
        f"{PACKAGE}/suite.py": Ownership.MERGED,
        f"{PACKAGE}/target.py": Ownership.SEEDED,
        "matrix/JUDGE.md": Ownership.OWNED,
        "matrix/ORCHESTRATE.md": Ownership.OWNED,
        "matrix/README.md": Ownership.OWNED,
        "matrix/criteria.json": Ownership.OWNED,
        "matrix/helix-judge.md": Ownership.OWNED,
        "pyproject.toml": Ownership.MERGED,
        "tests/test_evals.py": Ownership.MERGED,
    }


def test_a_target_is_to_be_filled_in_only_where_nothing_else_is_called() -> None:
    assert f"{PACKAGE}/target.py" not in files(native_suite())
    named = suite(target_ref="python:desk.agent:answer")
    # It is there all the same: for what naming a target can't say.
    assert b"nothing here is used" in files(named)[f"{PACKAGE}/target.py"]
    settings_of = tomllib.loads(files(named)["evals.toml"].decode())
    assert settings_of["target"] == "python:desk.agent:answer"
    assert "target" not in tomllib.loads(files(native_suite())["evals.toml"].decode())


def test_everything_planned_is_rendered_in_the_order_of_paths() -> None:
    for of in (suite(), native_suite()):
        paths = [file.path for file in render(of)]
        assert paths == sorted(set(paths))
        assert {planned.path for planned in plan(of)} <= set(paths)
        for path in paths:
            assert not path.startswith("/") and ".." not in path.split("/")


def test_the_runtime_is_vendored_byte_for_byte_and_nothing_is_left_out() -> None:
    root = Path(helix_runtime.__file__).parent
    prefix = f"{PACKAGE}/_runtime/"
    vendored = {
        file.path.removeprefix(prefix): file
        for file in render(suite())
        if file.path.startswith(prefix)
    }
    sources = {path.relative_to(root).as_posix(): path for path in root.rglob("*.py")}
    assert set(sources) <= set(vendored)
    for path, file in vendored.items():
        assert file.content == (root / path).read_bytes()
        assert file.ownership is Ownership.OWNED
        assert "__pycache__" not in path and not path.endswith(".pyc")


# -- the Python files ---------------------------------------------------------------


def test_units_name_what_stands_for_each_criterion() -> None:
    of = suite(criteria=(*suite().criteria, judged("kind", renamed_from="kindness")))
    checks = rendered(of, f"{PACKAGE}/checks.py")
    judges = rendered(of, f"{PACKAGE}/judges.py")
    functions = [
        node.name
        for node in ast.parse(checks.content).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert functions == [name for name, _ in checks.units]
    assert dict(checks.units)["asks_before_reserving"] == "asks-before-reserving"
    assert [spec_id for _, spec_id in judges.units] == [
        "grounded-shelf",
        "asks-before-reserving",
        "kind",
    ]
    assert judges.renamed == (("kind", "kindness"),)
    assert checks.renamed == ()


def test_a_check_calls_its_primitive_with_the_arguments_of_the_overlay() -> None:
    nested = PrimitiveCall(
        primitive="combine.when",
        arguments={
            "then": PrimitiveCall(primitive="output.present", arguments={"path": "a"}),
            "condition": PrimitiveCall(
                primitive="combine.all_of",
                arguments={
                    "verdicts": (
                        PrimitiveCall(
                            primitive="output.equals", arguments={"value": {"a": [1]}}
                        ),
                        PrimitiveCall(
                            primitive="combine.negate",
                            arguments={
                                "verdict": PrimitiveCall(
                                    primitive="expect.actions",
                                    arguments={
                                        "outbound": Constant("OUTBOUND_ACTIONS")
                                    },
                                )
                            },
                        ),
                    )
                },
            ),
        },
    )
    of = suite(criteria=(criterion("nested", check=Check(call=nested)),))
    text = files(of)[f"{PACKAGE}/checks.py"].decode()
    assert text.endswith(
        "    return combine.when(\n"
        '        then=output.present(case, trace, path="a"),\n'
        "        condition=combine.all_of(\n"
        '            output.equals(case, trace, value={"a": [1]}),\n'
        "            combine.negate("
        "expect.actions(case, trace, outbound=OUTBOUND_ACTIONS)),\n"
        "        ),\n"
        "    )\n"
    )
    assert "from ._runtime.checks import combine, expect, output\n" in text
    assert "from .subject import OUTBOUND_ACTIONS\n" in text
    assert "unwritten" not in text


@pytest.mark.parametrize(
    ("aggregate", "written"),
    [
        (every(), ""),
        (rate(">= 1"), ""),
        (rate(">= 0.95"), 'passes=rate(">= 0.95")'),
        (rate("> 0.333333333333333314"), 'passes=rate("> 0.3333333333333333")'),
        (mean("<= 3"), 'passes=mean("<= 3")'),
        (pass_k(3), "passes=pass_k(3)"),
        (baseline(">= 0"), 'passes=baseline(">= 0")'),
        (baseline("> -0.05"), 'passes=baseline("> -0.05")'),
        (
            Aggregate(kind="pass^k", operator=">", limit=0.5, k=2),
            'Aggregate(kind="pass^k", operator=">", limit=0.5, k=2)',
        ),
    ],
)
def test_an_aggregate_is_written_as_it_would_be_by_hand(
    aggregate: Aggregate, written: str
) -> None:
    of = suite(criteria=(criterion("a", aggregate=aggregate),))
    text = files(of)[f"{PACKAGE}/suite.py"].decode()
    assert written in text
    assert ("passes=" in text) == bool(written)


def test_facts_carry_a_type_that_holds_for_empty_ones_too() -> None:
    of = suite(
        constants={
            "OUTBOUND_ACTIONS": [],
            "ACTION_HOLDERS": {"update": []},
            "WORKFLOW": {"entry": "a", "nodes": []},
            "MIXED": [1, "a"],
            "LIMIT": 3,
        }
    )
    text = files(of)[f"{PACKAGE}/subject.py"].decode()
    for line in (
        "from typing import Any",
        "OUTBOUND_ACTIONS: list[str] = []",
        'ACTION_HOLDERS: dict[str, list[str]] = {"update": []}',
        'WORKFLOW: dict[str, Any] = {"entry": "a", "nodes": []}',
        'MIXED: list[Any] = [1, "a"]',
        "LIMIT: Any = 3",
    ):
        assert f"{line}\n" in text


def test_a_suite_without_checks_or_judges_still_has_both_files() -> None:
    for of in (
        suite(criteria=(judged("only"),)),
        suite(criteria=(criterion("only"),)),
        suite(criteria=()),
    ):
        made = files(of)
        for path in ("checks.py", "judges.py", "suite.py"):
            text = made[f"{PACKAGE}/{path}"].decode()
            assert black.format_str(text, mode=MODE) == text


# -- texts change no structure --------------------------------------------------------

texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=120))
ids = st.one_of(st.sampled_from(NASTY), st.text(min_size=1, max_size=60))


def with_texts(of: Suite, put: Callable[[str], str]) -> Suite:
    """The same suite with every text but the ids of criteria passed through `put`.

    A text that is empty stays so: a suite leaves out what is not there.
    """

    def text(value: str) -> str:
        return put(value) if value else value

    def data(value: Any) -> Any:
        if isinstance(value, str):
            return text(value)
        if isinstance(value, dict):
            return {key: data(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(data(inner) for inner in value)
        return value

    def call(value: PrimitiveCall) -> PrimitiveCall:
        return replace(value, arguments=data(value.arguments))

    def one(value: Criterion) -> Criterion:
        check, judge = value.check, value.judge
        if check is not None and check.call is not None:
            check = Check(call=call(check.call))
        if judge is not None:
            judge = replace(
                judge, pass_when=text(judge.pass_when), fail_when=text(judge.fail_when)
            )
        return replace(
            value,
            statement=text(value.statement),
            goal=text(value.goal),
            check=check,
            judge=judge,
            scope=replace(value.scope, datasets=data(value.scope.datasets)),
        )

    subject = of.subject
    return replace(
        of,
        subject=replace(
            subject,
            id=text(subject.id),
            name=text(subject.name),
            version=text(subject.version),
            purpose=text(subject.purpose),
            scope=data(subject.scope),
            tools=tuple(
                replace(tool, name=text(tool.name), description=text(tool.description))
                for tool in subject.tools
            ),
            harness=text(subject.harness),
            system_prompt=text(subject.system_prompt),
        ),
        criteria=tuple(one(value) for value in of.criteria),
        constants=data(of.constants),
        target=replace(
            of.target, name=text(of.target.name), why_native=text(of.target.why_native)
        ),
        pin=replace(of.pin, model=of.pin.model and text(of.pin.model)),
        target_ref=of.target_ref and text(of.target_ref),
    )


def shape(source: bytes, of: Suite) -> str:
    """The syntax tree of a file without its texts and without its criteria's names."""
    names = criterion_names(of)
    index = {criterion.id: f"name_{n}" for n, criterion in enumerate(of.criteria)}
    checks = {str(name): index[spec_id] for spec_id, name in names.checks.items()}
    judges = {str(name): index[spec_id] for spec_id, name in names.judges.items()}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = "x"
        elif isinstance(node, ast.FunctionDef):
            node.name = checks.get(node.name, node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            node.targets[0].id = judges.get(node.targets[0].id, node.targets[0].id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            table = {"checks": checks, "judges": judges}.get(node.value.id, {})
            node.attr = table.get(node.attr, node.attr)
    return ast.dump(tree)


@st.composite
def hostile_suites(draw: st.DrawFn) -> tuple[Suite, Suite]:
    """A suite full of drawn texts and ids, and the same one full of "x"."""
    wanted = draw(st.lists(ids, min_size=1, max_size=5, unique=True))
    kinds = [
        draw(st.sampled_from(("unwritten", "bound", "judged", "hybrid")))
        for _ in wanted
    ]
    base = draw(st.sampled_from((suite(), native_suite())))
    base = replace(
        base,
        constants={"OUTBOUND_ACTIONS": ["a", "b"], "WORKFLOW": {"entry": "a"}},
        target_ref=draw(st.sampled_from((None, "a"))),
        pin=draw(st.sampled_from((Pin(), Pin(provider="openai", model="m")))),
    )

    def made(names: list[str]) -> Suite:
        return replace(
            base,
            criteria=tuple(
                _of_kind(kind, name) for kind, name in zip(kinds, names, strict=True)
            ),
        )

    hostile = with_texts(made(wanted), lambda _: draw(texts.filter(bool)))
    plain = with_texts(made([f"c{n}" for n in range(len(wanted))]), lambda _: "x")
    return hostile, plain


def _of_kind(kind: str, spec_id: str) -> Criterion:
    if kind == "judged":
        return judged(spec_id, goal="a", scope=Scope(datasets=("a", "b")))
    check = bound("output.one_of", path="a", values=["a", {"k": "a"}])
    if kind == "hybrid":
        return criterion(spec_id, check=check, judge=judged("j").judge, method="hybrid")
    return criterion(spec_id, check=check if kind == "bound" else Check(call=None))


@given(hostile_suites())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_text_changes_what_the_code_is(pair: tuple[Suite, Suite]) -> None:
    hostile, plain = pair
    ours, theirs = files(hostile), files(plain)
    assert set(ours) == set(theirs)
    for path, content in ours.items():
        content.decode("utf-8")
        if path.endswith(".py"):
            assert shape(content, hostile) == shape(theirs[path], plain), path
            text = content.decode()
            assert black.format_str(text, mode=MODE) == text
        elif path.endswith(".toml"):
            assert keys(content) == keys(theirs[path]), path
        elif path.endswith(".md"):
            assert outline(content) == outline(theirs[path]), path
        elif path.endswith(".json"):
            assert keys(content, json.loads) == keys(theirs[path], json.loads), path


def keys(content: bytes, read: Callable[[str], Any] = tomllib.loads) -> Any:
    """The structure of a TOML or JSON file: keys, list lengths, types."""

    def bones(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: bones(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [bones(inner) for inner in value]
        return type(value).__name__

    return bones(read(content.decode()))


def outline(content: bytes) -> list[str]:
    """The block structure of a Markdown file and the kinds of its links."""
    reader = MarkdownIt("commonmark").enable("table")
    tokens = reader.parse(content.decode())
    links = [
        str(leaf.attrs.get("href"))
        for token in tokens
        for leaf in token.children or ()
        if leaf.type in ("link_open", "image", "html_inline")
    ]
    return [token.type for token in tokens] + links


def test_a_text_never_stands_outside_of_a_string() -> None:
    marker = "zzmarkerzz"
    of = with_texts(suite(), lambda _: f"{marker} # type: ignore \n# coding: utf-7")
    for path, content in files(of).items():
        if not path.endswith(".py"):
            continue
        import io
        import tokenize

        for token in tokenize.generate_tokens(io.StringIO(content.decode()).readline):
            if marker in token.string or "coding" in token.string:
                assert token.type == tokenize.STRING, (path, token)
                assert token.string[0] in "\"'" and token.string[:3] != '"""'
            assert token.type != tokenize.COMMENT or path.endswith("__main__.py")


# -- the dataset, the matrix, and the bytes ------------------------------------------


def test_each_case_is_a_row_that_reads_as_the_case() -> None:
    cases = [
        case(f"id-{n}", query=text or "-", input={"text": text}, expected=[text])
        for n, text in enumerate(NASTY)
    ]
    content = files(suite(cases=tuple(cases)))["dataset.jsonl"]
    lines = content.decode("utf-8").splitlines()
    assert [case_from_row(json.loads(line)) for line in lines] == cases
    assert content.endswith(b"}\n")
    assert files(suite(cases=()))["dataset.jsonl"] == b""


def test_rows_hold_data_of_any_depth_and_size() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    data = {"deep": deep, "zero": -0.0, "small": 5e-324, "long": 10**4000}
    content = files(suite(cases=(case("deep", input=data),)))["dataset.jsonl"]
    row = json.loads(content)
    assert row["input"] == data and str(row["input"]["zero"]) == "-0.0"


def test_five_thousand_criteria_compile_and_keep_their_names_apart() -> None:
    many = tuple(
        (judged if n % 2 else criterion)(f"criterion {n // 2}" + " " * (n % 2))
        for n in range(5000)
    )
    of = suite(criteria=many)
    for path in ("checks.py", "judges.py", "suite.py"):
        file = rendered(of, f"{PACKAGE}/{path}")
        compile(file.content, path, "exec")
        assert len(dict(file.units)) == len(file.units)


def test_the_matrix_says_who_decides_each_criterion() -> None:
    matrix = json.loads(files(suite())["matrix/criteria.json"])
    rows = {row["criterionId"]: row for row in matrix["criteria"]}
    assert rows["grounded-shelf"]["checkMethod"] == "llm-judge"
    assert "codeEval" not in rows["grounded-shelf"]
    for spec_id, method in (
        ("asks-before-reserving", "hybrid"),
        ("names-the-shelf", "deterministic"),
    ):
        assert rows[spec_id]["checkMethod"] == method
        module, _, function = rows[spec_id]["codeEval"].partition(":")
        assert module == f"{PACKAGE}.checks"
        assert f"def {function}(" in files(suite())[f"{PACKAGE}/checks.py"].decode()


def test_host_agents_are_told_the_same_with_packets_and_without() -> None:
    from helix_runtime.matrix.dispatch import instructions

    judge = files(suite())["matrix/JUDGE.md"].decode()
    assert judge == instructions("trajectory")
    for said in ("SHA-256", "critique", "bind", "refs", "blockedBy", "data", "schema"):
        assert said.lower() in judge.lower()


def test_settings_name_the_judge_only_where_the_overlay_names_all_of_it() -> None:
    pin = Pin(provider="openai", model="m-1", base_url="http://127.0.0.1:1/v1")
    made = tomllib.loads(files(suite(pin=pin))["evals.toml"].decode())
    assert made["judge"] == {
        "provider": "openai",
        "model": "m-1",
        "base_url": "http://127.0.0.1:1/v1",
    }
    for half in (Pin(), Pin(provider="openai"), Pin(base_url="http://127.0.0.1:1/v1")):
        assert "judge" not in tomllib.loads(
            files(suite(pin=half))["evals.toml"].decode()
        )


@pytest.mark.parametrize(
    ("pin", "asks"),
    [
        (Pin(provider="openai-http", base_url="http://127.0.0.1:1/v1"), False),
        (Pin(provider="openai", base_url="http://localhost:1/v1"), False),
        (Pin(provider="openai-http", base_url="https://judge.example/v1"), True),
        (Pin(provider="openai-http"), True),
        (Pin(), True),
    ],
)
def test_a_judge_on_this_machine_is_not_said_to_need_a_key(
    pin: Pin, asks: bool
) -> None:
    readme = files(suite(pin=replace(pin, model="m-1")))["README.md"].decode()
    assert ("OPENAI_API_KEY" in readme) is asks
    assert pin.needs_key is asks
    sdk = pin.provider != "openai-http"
    assert ("pip install openai" in readme) is sdk


def test_the_key_of_anthropic_is_asked_for_wherever_it_is() -> None:
    assert Pin(provider="anthropic", base_url="http://localhost:1").needs_key


def test_a_suite_depends_on_an_sdk_only_where_it_has_judges() -> None:
    with_judges = tomllib.loads(files(suite())["pyproject.toml"].decode())["project"]
    without = suite(criteria=(criterion("a"),))
    no_judges = tomllib.loads(files(without)["pyproject.toml"].decode())["project"]
    assert with_judges["dependencies"] == no_judges["dependencies"] == []
    assert set(with_judges["optional-dependencies"]) == {"openai", "test"}
    assert set(no_judges["optional-dependencies"]) == {"test"}


def test_a_long_readme_is_cut_and_says_so() -> None:
    many = tuple(criterion(f"criterion-{n}") for n in range(200))
    readme = files(suite(criteria=many))["README.md"].decode()
    assert "And 140 more: see `library_desk_evals/suite.py`." in readme
    assert "  - and 140 more\n" in readme
    assert readme.count("| code (by hand) |") == 60


PROGRAM = """
import hashlib, sys
from support.sample_suites import suite, native_suite
from helix_gen.emit.render import render
for of in (suite(), native_suite()):
    for file in render(of):
        print(file.path, hashlib.sha256(file.content).hexdigest(), file.units)
"""


def test_the_bytes_are_the_same_under_any_hash_seed_zone_and_locale() -> None:
    def run(**changes: str) -> str:
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            **changes,
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=env, capture_output=True, check=True
        )
        return done.stdout.decode()

    first = run(PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C.UTF-8")
    second = run(PYTHONHASHSEED="4711", TZ="Asia/Kolkata", LC_ALL="C")
    assert first == second and first.count("\n") > 40


def test_jinja_is_imported_only_when_something_is_rendered() -> None:
    program = (
        "import sys; import helix_gen.emit.plan, helix_gen.emit.render;"
        "print(sorted({'jinja2', 'black', 'libcst'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert done.stdout == "[]\n"
