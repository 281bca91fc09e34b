"""Who may import whom, and that no module is in an import circle."""

import ast
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOTS = {
    "helix_gen": ROOT / "generator" / "helix_gen",
    "helix_runtime": ROOT / "runtime" / "helix_runtime",
    "helix_templates": ROOT / "templates" / "helix_templates",
}
GENERATOR_LIBRARIES = {
    "click",
    "helix_gen",
    "helix_runtime",
    "helix_templates",
    "jinja2",
    "markupsafe",
    "pydantic",
    "pydantic_core",
    "typer",
    "yaml",
}
# A judge's SDK is imported only where its provider is opened.
SDK_ROOMS = {
    "helix_runtime.providers.openai_sdk": {"httpx", "openai"},
    "helix_runtime.providers.anthropic_sdk": {"anthropic", "httpx"},
    "helix_runtime.providers.google_sdk": {"google", "httpx"},
    "helix_runtime.testing": {"pytest"},
}


def modules(package: str) -> dict[str, Path]:
    root = ROOTS[package]
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = (package, *path.relative_to(root).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(
    name: str, path: Path, *, anywhere: bool, typing_too: bool = True
) -> set[str]:
    """The absolute names that a module imports; only at its top unless `anywhere`."""
    tree = ast.parse(path.read_text("utf-8"))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                above = parts[: len(parts) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if not anywhere:
                return
        elif isinstance(node, ast.If) and not typing_too:
            test = ast.unparse(node.test)
            if test.endswith("TYPE_CHECKING"):
                for other in node.orelse:
                    visit(other)
                return
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return found


def test_the_runtime_imports_the_standard_library_alone() -> None:
    for name, path in modules("helix_runtime").items():
        for target in imports(name, path, anywhere=True):
            top = target.partition(".")[0]
            allowed = top in sys.stdlib_module_names or top == "helix_runtime"
            allowed = allowed or top in SDK_ROOMS.get(name, set())
            assert allowed, f"{name} imports {target}"


def test_the_runtime_imports_itself_relatively_so_that_it_can_be_vendored() -> None:
    for name, path in modules("helix_runtime").items():
        text = path.read_text("utf-8")
        assert "from helix_runtime" not in text, name
        assert "import helix_runtime" not in text, name


def test_the_generator_imports_only_what_the_wheel_depends_on() -> None:
    for name, path in modules("helix_gen").items():
        for target in imports(name, path, anywhere=True):
            top = target.partition(".")[0]
            assert (
                top in sys.stdlib_module_names or top in GENERATOR_LIBRARIES
            ), f"{name} imports {target}"


def test_nothing_imports_the_generator() -> None:
    for package in ("helix_runtime", "helix_templates"):
        for name, path in modules(package).items():
            for target in imports(name, path, anywhere=True):
                assert not target.startswith("helix_gen"), f"{name} imports {target}"


@pytest.mark.parametrize("package", ["helix_gen", "helix_runtime"])
def test_no_module_is_in_an_import_circle(package: str) -> None:
    known = modules(package)
    graph = {
        name: {
            target
            for target in imports(name, path, anywhere=False, typing_too=False)
            if target in known and target != name and not name.startswith(target + ".")
        }
        for name, path in known.items()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail("import circle: " + " -> ".join(error.args[1]))
