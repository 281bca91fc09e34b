"""Golden diagnostics: what a broken spec is told, word for word."""

from pathlib import Path
from typing import Final

from helix_gen.lint.smells import smells
from helix_gen.problems import render_text
from helix_gen.spec.overlay import read_overlay
from helix_gen.spec.read import read_spec

ROOT: Final = Path(__file__).resolve().parents[2] / "golden" / "diagnostics"
SPECS: Final = tuple(
    path for path in sorted(ROOT.glob("*.yaml")) if ".evals." not in path.name
)


def diagnosed(spec: Path) -> str:
    """Return everything that is said of a spec and of the overlay beside it."""
    read = read_spec(spec.read_bytes(), file=spec.name, public=True)
    problems = list(read.problems)
    beside = spec.with_name(f"{spec.stem}.evals.yaml")
    overlay = None
    if beside.exists():
        overlay = read_overlay(beside.read_bytes(), file=beside.name, card=read.card)
        problems += overlay.problems
    return render_text([*problems, *smells(read, overlay)])


def stored(spec: Path) -> str:
    """Return what the golden file says; empty where there is none yet."""
    path = spec.with_suffix(".txt")
    return path.read_text("utf-8") if path.exists() else ""


def rewrite() -> None:
    """Write every golden text anew and say which of them changed."""
    for spec in SPECS:
        text = diagnosed(spec)
        print(f"  {'same   ' if text == stored(spec) else 'changed'}  {spec.name}")
        spec.with_suffix(".txt").write_bytes(text.encode())
