"""The commands of the frameworks' pages work, and print what the pages show."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.order_desk import EXAMPLES, mastra_server, own_server

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "frameworks"
BLOCK = re.compile(r"```(sh|text)\n(.*?)```", re.S)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the examples, as a user has it who has cloned the repository."""
    shutil.copytree(
        ROOT / "examples",
        tmp_path / "examples",
        ignore=shutil.ignore_patterns("__pycache__", "node_modules"),
    )
    return tmp_path


@pytest.fixture
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The ports that a page names, each with the one that is served in its place."""
    page = request.getfixturevalue("page")
    if page == "mastra.md":
        with mastra_server(tmp_path / "mastra") as port:
            yield {"4111": str(port)}
    elif page == "http.md":
        with own_server() as port:
            yield {"8137": str(port)}
    else:
        yield {}


@pytest.mark.parametrize(
    "page", sorted(p.name for p in PAGES.glob("*.md") if p.name != "README.md")
)
def test_a_page_does_what_it_says(
    page: str, place: Path, served: dict[str, str]
) -> None:
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    printed, shown, ran = "", 0, 0
    for kind, block in BLOCK.findall((PAGES / page).read_text("utf-8")):
        if kind == "text":
            for line in block.splitlines():
                assert line in printed.splitlines(), printed
                shown += 1
            continue
        for line in block.splitlines():
            if line.startswith("export "):
                name, _, value = line.removeprefix("export ").partition("=")
                env[name] = value
                continue
            if line.endswith(" &") or line.startswith(("npm ", "cd ")):
                continue  # the servers are up already: `served`
            done = subprocess.run(
                line, shell=True, cwd=place, env=env, capture_output=True, text=True
            )
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            printed += done.stdout
            ran += 1
            if line.startswith("cp "):
                settings = place / line.split()[-1]
                text = settings.read_text("utf-8")
                for old, new in served.items():
                    text = text.replace(old, new)
                settings.write_text(text, "utf-8")
    assert ran >= 2 and shown >= 1


def test_every_page_is_listed_and_shows_its_example_as_it_is() -> None:
    index = (PAGES / "README.md").read_text("utf-8")
    sources = [p.read_text("utf-8") for p in sorted(EXAMPLES.rglob("*.py"))]
    for page in PAGES.glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index
        text = page.read_text("utf-8")
        for code in re.findall(r"```python\n(.*?)```", text, re.S):
            assert any(code.strip() in source for source in sources), code
