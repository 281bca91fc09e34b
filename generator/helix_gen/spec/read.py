"""Reading a spec: bytes to a typed card, and every problem on the way at once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..problems import Problem, has_errors, in_order
from .close import CloseMatches
from .formats import recognize
from .located import Located, Path
from .yaml import collector_paused, read_yaml

if TYPE_CHECKING:
    from . import v02, v03


@dataclass(frozen=True, kw_only=True)
class ReadSpec:
    """What reading came to.

    `card` is None where there is an error; `source` holds the plain data and the
    place of each part; `sha256` is that of the bytes.
    """

    card: "v02.AgentSpec | v03.AgentSpec | None"
    problems: list[Problem]
    source: Located
    sha256: str


def read_spec(data: bytes, *, file: str, public: bool = False) -> ReadSpec:
    """Read an AgentSpec 0.2.0 or 0.3.0. Never raises for what stands in the file.

    `public` refuses what belongs on internal cards alone. The card is whole or not
    there; the problems are all of them, in the order of the file.
    """
    from hashlib import sha256

    with collector_paused():
        source, problems, card = _read(data, file=file, public=public)
    return ReadSpec(
        card=None if has_errors(problems) else card,
        problems=in_order(problems),
        source=source,
        sha256=sha256(data).hexdigest(),
    )


def _read(
    data: bytes, *, file: str, public: bool
) -> "tuple[Located, list[Problem], v02.AgentSpec | v03.AgentSpec | None]":
    source, problems = read_yaml(data, file=file)
    if source is None:
        return Located(file, "", None, {}), problems, None
    recognized = recognize(source)
    if recognized.problem is not None:
        problems = [*problems, recognized.problem]
    if recognized.version is None:
        return source, problems, None
    card: v02.AgentSpec | v03.AgentSpec | None
    if recognized.version == "0.2.0":
        card, found = _read_v02(source)
    else:
        card, found = _read_v03(source, public=public)
    refused = recognized.problem
    if refused is not None:
        found = [p for p in found if p.position != refused.position]
    return source, problems + found, card


def _read_v02(source: Located) -> "tuple[v02.AgentSpec | None, list[Problem]]":
    from pydantic import ValidationError

    from .semantics_v02 import meaning_problems
    from .structure import structure_problems
    from .v02 import AgentSpec

    close = CloseMatches()
    card, problems = None, []
    try:
        card = AgentSpec.model_validate(source.data)
    except ValidationError as error:
        problems = structure_problems(error, source, AgentSpec, close=close)
    return card, problems + meaning_problems(source, close)


def _read_v03(
    source: Located, *, public: bool
) -> "tuple[v03.AgentSpec | None, list[Problem]]":
    from pydantic import ValidationError

    from .semantics import meaning_problems
    from .structure import structure_problems
    from .v03 import AgentSpec

    close = CloseMatches()
    card, problems = None, _status_problems(source, public=public)
    try:
        card = AgentSpec.model_validate(source.data)
    except ValidationError as error:
        problems += structure_problems(
            error, source, AgentSpec, close=close, special=_special
        )
    return card, problems + meaning_problems(source, close)


def _status_problems(source: Located, *, public: bool) -> list[Problem]:
    if "status" not in source.data:
        return []
    return [
        source.problem(
            "HX110",
            ("status",),
            "`status` belongs on internal cards"
            + (": a public card has none" if public else ""),
            hint="remove it before the card is published",
            level="error" if public else "warning",
            part="key",
        )
    ]


_REMOVED_FORMS = {"actionRef": "action", "memberRef": "member"}


def _special(source: Located, path: Path, value: Any) -> Problem | None:
    """Say once, and better, what an executor of a draft of the format is."""
    parent = path[:-1] if path[-1:] != ("executor",) else path
    executor = source.get(parent)
    if parent[-1:] != ("executor",) or not isinstance(executor, dict):
        return None
    for form, kind in _REMOVED_FORMS.items():
        if form in executor and not {"kind", "ref"} & set(executor):
            ref = executor[form] if isinstance(executor[form], str) else "…"
            return source.problem(
                "HX101",
                (*parent, form),
                f"`{form}` is a form of an earlier draft: an executor has `kind` and "
                "`ref`",
                hint=f"write `executor: {{ kind: {kind}, ref: {ref} }}`",
                part="key",
            )
    return None
