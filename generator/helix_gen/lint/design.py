"""The eval design as the smells see it, whatever version of a spec it is."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from ..problems import Problem, quoted
from ..spec import v02
from ..spec.located import Located, Path
from ..suite import from_v02, from_v03
from ..suite.declaration import Declaration, DeclaredCriterion
from ..suite.settings import method_of, part

if TYPE_CHECKING:
    from ..spec.overlay import ReadOverlay
    from ..spec.read import ReadSpec

ROW_FILES: Final = (".json", ".jsonl", ".csv", ".yaml", ".yml")
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_READ_AS_MORE: Final = frozenset(("null", "true", "false"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is declared, what the overlay says, and where it stands."""

    source: Located
    declared: Declaration
    says: Mapping[str, Any]
    overlay_name: str
    is_v02: bool

    def warn(self, code: str, path: Path, message: str, hint: str = "") -> Problem:
        """Return a smell at `path` of the spec."""
        return self.source.problem(code, path, message, hint=hint, level="warning")

    def statement_path(self, criterion: DeclaredCriterion) -> Path:
        """Return where the criterion's statement stands."""
        return (*criterion.at.path, "criterion" if self.is_v02 else "description")

    def says_of(self, criterion: DeclaredCriterion) -> Mapping[str, Any]:
        """Return what the overlay says of a criterion."""
        return part(self.says, "criteria", criterion.id)

    def decided_by_code_alone(self, criterion: DeclaredCriterion) -> bool:
        """Whether no judge decides the criterion, as the overlay has it."""
        says = self.says_of(criterion)
        method = method_of(says, judged=criterion.judged)
        # A word that is no method is an error of its own; it is not read as a judge.
        return method not in ("hybrid", "llm-judge")

    def has_rows_elsewhere(self, dataset: str) -> bool:
        """Whether a file of rows is named for a dataset, in the overlay or the spec.

        A URI, a folder or prose names none that can be read.
        """
        if part(self.says, "datasets", dataset).get("items"):
            return True
        reference = self.declared.references.get(dataset)
        return reference is not None and reference.text.endswith(ROW_FILES)

    def propose(self, *lines: str) -> str:
        """Return a hint with lines for the overlay, indented."""
        text = "".join(f"\n  {line}" for line in lines)
        return f"in {self.overlay_name}:{text}"


def design_of(read: "ReadSpec", overlay: "ReadOverlay | None") -> Design:
    """Return the design of a spec that was read without an error."""
    card = read.card
    assert card is not None
    is_v02 = isinstance(card, v02.AgentSpec)
    declared = (
        from_v02.declaration(card)
        if isinstance(card, v02.AgentSpec)
        else from_v03.declaration(card)
    )
    says: Mapping[str, Any] = {}
    if overlay is not None and isinstance(overlay.source.data, dict):
        says = overlay.source.data
    return Design(
        source=read.source,
        declared=declared,
        says=says,
        overlay_name=_overlay_name(read, overlay),
        is_v02=is_v02,
    )


def _overlay_name(read: "ReadSpec", overlay: "ReadOverlay | None") -> str:
    if overlay is not None:
        return quoted(PurePath(overlay.source.file).name)
    stem = PurePath(read.source.file).stem
    if stem.startswith("<"):
        return "an overlay (`--overlay FILE`)"
    return quoted(f"{stem}.evals.yaml")


def yaml_text(text: str) -> str:
    """Return a text as one line of YAML means it: plain, or in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _READ_AS_MORE:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())
