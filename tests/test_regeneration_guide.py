"""docs/regeneration.md: its example is played through, and says what it shows."""

import shutil
from pathlib import Path

from support.command_line import helix_gen

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "regeneration.md").read_text("utf-8")
PACKAGE = "returns_desk_evals"


def edit(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text("utf-8")
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text, "utf-8")


def shown(start: str) -> str:
    """Return the block of the guide that starts so."""
    at = GUIDE.index(start)
    return GUIDE[at : GUIDE.index("```", at)]


def test_the_example_goes_as_the_guide_says(tmp_path: Path) -> None:
    for path in (ROOT / "examples" / "returns_desk").glob("agentspec*.yaml"):
        shutil.copy(path, tmp_path)
    words = ("suite", "agentspec.yaml", "-o", "suite")
    assert helix_gen(*words, cwd=tmp_path).returncode == 0
    checks = tmp_path / "suite" / PACKAGE / "checks.py"
    table = tmp_path / "suite" / PACKAGE / "suite.py"
    body = shown('    if "again" in case.query:')
    edit(
        checks,
        (
            '    return tools.before(case, trace, first="lookup_order"',
            body.rstrip("\n"),
        ),
        (body.rstrip("\n") + ', then="create_return")', body.rstrip("\n")),
        ("import Verdict\n", "import Verdict, not_applicable\n"),
    )
    head, found, rest = table.read_text("utf-8").partition("checks.known_decision")
    table.write_text(head + found + rest.replace("HIGH", "CRIT", 1), "utf-8")
    edit(
        tmp_path / "agentspec.yaml",
        ("before anything is booked.", "before anything is said or booked."),
        (
            "      - id: explains-decision\n",
            "      - id: names-the-order\n"
            "        description: It names the order that it is about.\n"
            "        type: code-check\n"
            "        goal: Every answer\n"
            "      - id: explains-decision\n",
        ),
        ("looks-up-first, explains", "looks-up-first, names-the-order, explains"),
    )

    said = helix_gen(*words, "--dry-run", cwd=tmp_path).stdout
    assert said.startswith(shown("suite: would be updated"))
    diff = helix_gen(*words, "--diff", cwd=tmp_path)
    assert diff.returncode == 0
    assert "+def names_the_order(" in diff.stdout
    check = helix_gen(*words, "--check", cwd=tmp_path)
    assert check.returncode == 1
    assert "to mend it: helix-gen suite agentspec.yaml -o suite" in check.stderr

    assert helix_gen(*words, cwd=tmp_path).returncode == 0
    merged = checks.read_text("utf-8")
    assert body in merged and "said or booked" in merged
    assert "names_the_order" in merged
    assert "checks.known_decision" in table.read_text("utf-8")
    assert 'severity="CRIT"' in table.read_text("utf-8").partition("known_decision")[2]

    overlay = tmp_path / "agentspec.evals.yaml"
    edit(overlay, ("first: lookup_order", "first: find_order"))
    done = helix_gen(*words, cwd=tmp_path)
    assert done.returncode == 3
    for line in shown("conflict: suite/").strip().split("\n"):
        assert line in done.stderr
    page = tmp_path / "suite/.helix/conflicts" / PACKAGE / "checks.py.md"
    assert "find_order" in page.read_text("utf-8")
    again = helix_gen(*words, "--json", cwd=tmp_path)
    assert again.returncode == 3

    assert helix_gen("resolve", "suite", cwd=tmp_path).returncode == 2
    assert helix_gen("resolve", "no-such-place", "--ours", cwd=tmp_path).returncode == 2
    wrong = helix_gen("resolve", checks, "--ours", "--theirs", cwd=tmp_path)
    assert wrong.returncode == 2 and "say one of" in wrong.stderr
    done = helix_gen("resolve", "suite", "--ours", cwd=tmp_path)
    assert done.returncode == 0
    assert "yours stays" in done.stdout
    done = helix_gen(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout.partition("\n")[0]) == (
        0,
        "suite: nothing changed",
    )
    none_left = helix_gen("resolve", "suite", "--theirs", cwd=tmp_path)
    assert "no conflict is open" in none_left.stdout
