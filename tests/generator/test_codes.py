"""Every code that is given is documented, and every documented code is given."""

import re
from pathlib import Path

from helix_gen.codes import CODES, ROOMS, diagnostics_page

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "generator" / "helix_gen"


def codes_given() -> set[str]:
    found: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        if path.name != "codes.py":
            found.update(re.findall(r'"(HX\d{3})"', path.read_text("utf-8")))
    return found


def test_the_codes_in_the_source_are_those_that_are_documented() -> None:
    assert codes_given() == set(CODES)


def test_codes_are_in_order_and_in_their_rooms() -> None:
    assert list(CODES) == sorted(CODES)
    assert {code[2] for code in CODES} == set(ROOMS)
    for code in CODES.values():
        assert re.fullmatch(r"HX\d{3}", code.code)
        assert code.meaning.endswith(".")
        assert code.remedy.endswith(".")


def test_the_page_is_what_the_codes_say() -> None:
    page = (ROOT / "docs" / "diagnostics.md").read_text("utf-8")
    command = "python -m helix_gen.codes > docs/diagnostics.md"
    assert page == diagnostics_page(), f"write it anew: .venv/bin/{command}"
