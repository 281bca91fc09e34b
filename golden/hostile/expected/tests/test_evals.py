"""The suite under pytest: a test for each case and criterion, and one for the gate.

The suite is run once, as `evals.toml` says, and the tests look its units up.
"""

from typing import Any

from import_os_def_evals._runtime.testing import Evals

EVALS = Evals()


def pytest_generate_tests(metafunc: Any) -> None:
    """Make a test of each case and criterion."""
    EVALS.parametrize(metafunc)


def test_unit(unit: tuple[str, str]) -> None:
    """A criterion holds on a case."""
    EVALS.check(unit)


def test_gate() -> None:
    """The gate passes."""
    EVALS.check_gate()
