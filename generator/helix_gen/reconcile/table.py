"""The table of a suite, as text: which criteria `suite.py` registers, and which not."""

import ast
from collections.abc import Collection, Mapping

from .importable import calls_in
from .merge.elements import row_criterion
from .merge.how import Sides
from .merge.units import Body

ROW_DELETED = "its row in suite.py was deleted"


def rows_of(body: Body | None, references: Mapping[str, str]) -> dict[str, str] | None:
    """Return the criteria that a table registers, each with the reason it is skipped.

    None for no table. Rows stand in every list of the module; a row whose criterion
    can't be seen is left out.
    """
    if body is None or all(unit.name != "CRITERIA" for unit in body.units):
        return None
    found: dict[str, str] = {}
    for unit in body.units:
        for row in calls_in(unit.node):
            criterion = row_criterion(row, references)
            if criterion is not None:
                found[criterion] = _reason(row)
    return found


def _reason(row: ast.expr) -> str:
    """Return the `why` of a row that says `skipped(...)`; empty for any other."""
    for node in ast.walk(row):
        match node:
            case ast.keyword(arg="why", value=ast.Constant(value=str(why))):
                return why
    return ""


def rows_deleted(
    base: Body | None, yours: Body | None, references: Sides, known: Collection[str]
) -> list[str]:
    """Return the criteria whose row its owner took out of the table.

    One that its owner registers in a way that can't be seen is among them: the
    row that says so gives way to it. `known` are the criteria that there are now.
    """
    now = rows_of(yours, references.yours)
    before = rows_of(base, references.base)
    if now is None or before is None:
        return []
    gone = [i for i in before if i not in now]
    still = [i for i, reason in now.items() if reason == ROW_DELETED]
    return [i for i in (*gone, *still) if i in known]
