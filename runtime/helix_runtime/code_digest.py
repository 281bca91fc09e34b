"""What a code check depends on, as a content hash: edit it and its units are stale.

A check's hash covers the source of its function, of everything at the top level of
its file that the function reaches by name (helpers, constants), the imports that these
use, the other modules of the suite's package that the file imports, and the runtime's
primitives. So an edited check is decided again and its neighbours are not. Where that
can't be told (code made at run time, a star import) the whole package counts.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from .canonical import canonical, content_key, sha256_hex
from .criterion import Check
from .suite import Suite

# What else in the package can't change a check's verdict: it ties, judges or runs.
_NOT_CODE: Final = ("__init__.py", "__main__.py", "judges.py", "suite.py", "target.py")
DECIDING: Final = (
    "asked_calls.py",
    "canonical.py",
    "case.py",
    "criterion.py",
    "flow.py",
    "formats/chat.py",
    "formats/chat_parts.py",
    "lazy.py",
    "nearly.py",
    "record.py",
    "row_json.py",
    "span_record.py",
    "strict_json.py",
    "trace.py",
    "unit.py",
    "unitf.py",
    "values.py",
    "verdict.py",
)
"""The modules of the runtime that can change what a primitive comes to, beside `checks/`."""


class CodeDigests:
    """The content hashes of the checks of one package."""

    def __init__(self, package: Path) -> None:
        self._package = package
        self._files: dict[Path, _SourceFile | None] = {}
        self._runtime: str | None = None
        self._whole: str | None = None

    def of(self, check: Check) -> str:
        """Return the content hash of what the check depends on."""
        code = getattr(check.function, "__code__", None)
        if code is not None:
            source = self._source(Path(code.co_filename))
            parts = None if source is None else source.reach(code.co_firstlineno)
            if parts is not None and not check.function.__closure__:
                return content_key(self.runtime, *parts)
        return content_key(self.runtime, self.package)

    @property
    def runtime(self) -> str:
        """The content hash of the runtime's primitives and records."""
        if self._runtime is None:
            here = Path(__file__).parent
            files = [here / name for name in DECIDING]
            files += sorted((here / "checks").glob("*.py"))
            self._runtime = _hash_files(files)
        return self._runtime

    @property
    def package(self) -> str:
        """The content hash of all code of the package that can decide."""
        if self._whole is None:
            self._whole = _hash_files(own_files(self._package))
        return self._whole

    def _source(self, path: Path) -> _SourceFile | None:
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: Path) -> _SourceFile | None:
        try:
            text = path.read_text("utf-8")
            tree = ast.parse(text)
        except (OSError, ValueError, SyntaxError, RecursionError):
            return None
        others = [file for file in own_files(self._package) if file != path]
        digest = _hash_files(others) if others else ""
        return _SourceFile(text, tree, package=self._package.name, others=digest)


def own_files(package: Path) -> list[Path]:
    """Return the package's own modules that can decide, sorted."""
    found = []
    for folder, folders, names in os.walk(package):
        if folder == str(package) and "_runtime" in folders:
            folders.remove("_runtime")
        found += [
            Path(folder, name)
            for name in names
            if name.endswith(".py") and name not in _NOT_CODE
        ]
    return sorted(found)


def suite_sha256(suite: Suite, digests: CodeDigests) -> str:
    """Return the SHA-256 of what the suite decides by: criteria, checks and judges."""
    rows = []
    for criterion in suite.criteria:
        scope = criterion.applies_to
        rows.append(
            {
                "id": criterion.id,
                "severity": criterion.severity,
                "source": criterion.source,
                "passes": str(criterion.passes),
                "scope": [
                    list(scope.datasets),
                    list(scope.categories),
                    list(scope.scenarios),
                    scope.narrowed,
                ],
                "code": (
                    None if criterion.check is None else digests.of(criterion.check)
                ),
                "judge": None if criterion.judge is None else criterion.judge.digest,
            }
        )
    jobs = {job: list(datasets) for job, datasets in suite.jobs.items()}
    return sha256_hex(canonical([suite.subject.profile(), rows, jobs]).encode())


class _SourceFile:
    """The top level of one file: what each name stands for, and what that uses."""

    def __init__(
        self, text: str, tree: ast.Module, *, package: str, others: str
    ) -> None:
        self._package = package
        self._others = others
        self._texts: dict[str, list[str]] = {}
        self._uses: dict[str, set[str]] = {}
        self._names_at: dict[int, str] = {}
        self._local_imports: set[str] = set()
        self._opaque = False
        # Not `splitlines`: a form feed inside a text would shift every line below.
        lines = text.split("\n")
        for node in tree.body:
            self._add(node, lines)

    def reach(self, line: int) -> list[str] | None:
        """Return the texts that the function at `line` depends on, or None."""
        start = self._names_at.get(line)
        if start is None or self._opaque:
            return None
        seen: set[str] = set()
        open_names = [start]
        while open_names:
            name = open_names.pop()
            if name in self._texts and name not in seen:
                seen.add(name)
                open_names.extend(self._uses[name])
        parts = [text for name in sorted(seen) for text in self._texts[name]]
        if seen & self._local_imports:
            parts.append(self._others)
        return parts

    def _add(self, node: ast.stmt, lines: list[str]) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        decorators = getattr(node, "decorator_list", ())
        first = min([node.lineno, *(d.lineno for d in decorators)])
        text = "\n".join(lines[first - 1 : node.end_lineno])
        names = list(_bound(node))
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "*" in names:
            self._opaque = True
        if not names:
            # A statement that binds nothing here may still change anything.
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                self._opaque = True
            return
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._names_at[first] = self._names_at[node.lineno] = node.name
        for name in names:
            self._texts.setdefault(name, []).append(text)
            self._uses.setdefault(name, set()).update(used)
            if self._is_own_import(node):
                self._local_imports.add(name)

    def _is_own_import(self, node: ast.stmt) -> bool:
        """Whether a module of the package other than the runtime is imported."""
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            prefix = f"{self._package}." if node.level else ""
            modules = [prefix + (node.module or "")]
        own = [name.split(".") for name in modules]
        return any(
            parts[0] == self._package and parts[1:2] != ["_runtime"] for parts in own
        )


def _bound(node: ast.AST) -> Iterable[str]:
    """Yield the names that a top-level statement binds, also inside `if` and `try`."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.split(".")[0]
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id
    elif not isinstance(node, (ast.expr_context, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _bound(child)


def _hash_files(paths: Iterable[Path]) -> str:
    parts: list[str] = []
    for path in paths:
        parts += [path.name, path.read_bytes().decode("utf-8", "surrogateescape")]
    return content_key(*parts)


def check_digests(suite: Suite, digests: CodeDigests) -> Mapping[str, str]:
    """Return the content hash of each criterion's check, "" where it has none."""
    return {
        criterion.id: "" if criterion.check is None else digests.of(criterion.check)
        for criterion in suite.criteria
    }
