"""Is each criterion one question, which code answers where it can?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ...criterion import Criterion
from ...suite import Tool
from ..one_question import likert_in, second_claim_in
from .finding import Finding, Holdings, names_in

# What code decides alone: the form of an answer, and counts in it.
_BY_CODE: Final = re.compile(
    r"\b(?:valid|well-formed|parsable|parseable) (?:json|xml|yaml|csv|html|urls?)\b"
    r"|\b(?:json schema|regular expression|regex)\b"
    r"|\b(?:at most|at least|no more than|fewer than|less than|exactly|under) "
    r"(?:\d+|one|two|three|four|five|ten) (?:words?|characters?|lines?|sentences?|items?"
    r"|tokens?|seconds?|calls?|steps?)\b"
    r"|\b(?:upper|lower)case\b",
    re.I,
)
_CODE_NAME: Final = re.compile(r"[\w]+(?:[._:/-][\w]+)+|\w*_\w*")


def find_design(held: Holdings) -> Iterator[Finding]:
    """Yield what is found in this area."""
    for criterion in held.live:
        judge = criterion.judge
        texts = [criterion.statement, criterion.goal]
        if judge is not None:
            texts += [judge.pass_when, judge.fail_when, judge.notes]
        score = next((s for text in texts if (s := likert_in(text)) is not None), None)
        where = _place(held, criterion)
        if score is not None:
            yield Finding(
                area="design",
                kind="score",
                where=where,
                found=f"`{criterion.id}` asks for a score ({score!r}); a verdict is pass "
                "or fail",
                do="say what must hold; express degrees by several criteria with a "
                "severity each",
                items=(criterion.id,),
            )
        second = second_claim_in(criterion.statement)
        if second is not None:
            yield Finding(
                area="design",
                kind="two-questions",
                where=where,
                found=f"`{criterion.id}` may ask two questions; the second: {second!r}",
                do="split it: one criterion, one way to fail",
                items=(criterion.id,),
            )
        check = criterion.check
        if check is not None and "unwritten" in names_in(check.function):
            yield Finding(
                area="design",
                kind="no-check",
                where=where,
                found=f"the check of `{criterion.id}` is not written: it is always "
                "uncertain",
                do="write it, or bind a primitive in the overlay",
                items=(criterion.id,),
            )
        if judge is not None and check is None:
            words = by_code(criterion.statement, held.suite.subject.tools)
            if words is not None:
                yield Finding(
                    area="design",
                    kind="code-first",
                    where=where,
                    found=f"a judge alone decides `{criterion.id}`, and code may "
                    f"({words!r})",
                    do="write a check for that part, and let the judge decide the rest "
                    "(`method: hybrid`)",
                    items=(criterion.id,),
                )


def by_code(statement: str, tools: Iterable[Tool]) -> str | None:
    """Return the words of a statement that code can decide, or None.

    Those are the form of an answer, numbers of its parts, and calls of a tool that is
    named as in code (`create_return`, not `search`).
    """
    found = _BY_CODE.search(statement)
    if found is not None:
        return found[0]
    names = {tool.name for tool in tools}
    for word in _CODE_NAME.findall(statement):
        if word in names:
            return str(word)
    return None


def _place(held: Holdings, criterion: Criterion) -> str:
    if criterion.judge is not None:
        return f"{held.package}/judges.py"
    check = criterion.check
    assert check is not None  # one of the two decides
    if getattr(check.function, "__code__", None) is None:
        return f"{held.package}/checks.py"
    return f"{held.package}/{check.place}"
