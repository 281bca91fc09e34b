"""Whether a package's files can be imported together, told without running them."""

import pytest
from helix_gen.reconcile.importable import import_faults

BINDS = """
import os.path as paths
from json import dumps as said

one, (two, *three) = 1, (2, 3)
with open(__file__) as four:
    pass
for five in ():
    pass
if (six := 6):
    seven = 7
else:
    eight: int = 8
try:
    nine = 9
except ValueError:
    ten = 10


class Eleven:
    inner = 1


def twelve() -> None:
    local = 1
"""
NAMES = (
    "paths said one two three four five six seven eight nine ten Eleven twelve".split()
)


@pytest.mark.parametrize("name", NAMES)
def test_whatever_binds_a_name_lets_others_take_it(name: str) -> None:
    texts = {"helpers": BINDS, "checks": f"from .helpers import {name}\n"}
    assert import_faults(texts) == set()


@pytest.mark.parametrize("name", ["inner", "local", "absent"])
def test_what_no_module_binds_is_named_with_who_uses_it(name: str) -> None:
    texts = {"helpers": BINDS, "checks": f"from .helpers import {name}\n"}
    assert import_faults(texts) == {f"`helpers.{name}`, which checks.py uses"}
    texts["checks"] = f"from . import helpers\n\nX = helpers.{name}\n"
    assert import_faults(texts) == {f"`helpers.{name}`, which checks.py uses"}


def test_what_is_read_before_it_is_bound_is_named() -> None:
    assert import_faults({"checks": "X = later\nlater = 1\n"}) == {
        "`later` in checks.py"
    }
    # In a function it is read when that is called.
    assert import_faults({"checks": "def f():\n    return later\nlater = 1\n"}) == set()


def test_a_module_that_is_no_python_is_its_owners_to_mend() -> None:
    assert import_faults({"checks": "def (:\n", "suite": "X = 1\n"}) == set()
