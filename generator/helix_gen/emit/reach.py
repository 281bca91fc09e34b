"""How a suite reaches its subject by default: what the spec's build target is made with.

A framework that runs in Python is called in this process; what is built in another
language is reached over HTTP. `target.py` and `evals.toml` are written to fit.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..suite.model import Suite


@dataclass(frozen=True, slots=True)
class Reach:
    """One way to reach a subject.

    `template` is that of `target.py`. `function` is what stands there to be filled in
    and `kind` that of the REF that names it; a subject behind HTTP has neither, and
    `preset` says in which format it is spoken to, if in a known one.
    """

    template: str
    kind: str = ""
    function: str = ""
    preset: str = ""

    def ref(self, package: str) -> str | None:
        """Return the REF of what is filled in; None behind HTTP."""
        if not self.kind:
            return None
        return f"{self.kind}:{package}.target:{self.function}"


PYTHON: Final = Reach("target.py", "python", "target")
NAMED: Final = Reach("target_named.py", "python", "target")
PYDANTIC_AI: Final = Reach("target_pydantic_ai.py", "pydantic-ai", "agent")
LANGGRAPH: Final = Reach("target_langgraph.py", "langgraph", "graph")
OPENAI_AGENTS: Final = Reach("target_openai_agents.py", "openai-agents", "agent")
MASTRA: Final = Reach("target_http.py", preset="mastra")
A2A: Final = Reach("target_http.py", preset="a2a")
HTTP: Final = Reach("target_http.py")

_IN_PYTHON: Final[Mapping[str, Reach]] = {
    "pydantic-ai": PYDANTIC_AI,
    "pydanticai": PYDANTIC_AI,
    "langgraph": LANGGRAPH,
    "langchain": LANGGRAPH,
    "deepagents": LANGGRAPH,
    "deep-agents": LANGGRAPH,
    "openai-agents": OPENAI_AGENTS,
    "openai-agents-sdk": OPENAI_AGENTS,
    "openai-agents-python": OPENAI_AGENTS,
}
_OVER_HTTP: Final[Mapping[str, Reach]] = {"mastra": MASTRA, "a2a": A2A}
_OTHER_LANGUAGES: Final = frozenset(
    "typescript javascript ts js node nodejs bun deno go golang java kotlin scala rust "
    "ruby php elixir swift c# csharp dotnet".split()
)


def reach_of(suite: Suite) -> Reach:
    """Return how the subject of a code-written suite is reached.

    Where the overlay names a target, `target.py` is there for what that can't say.
    """
    if suite.target_ref is not None:
        return NAMED
    name = re.sub(r"[^a-z0-9]+", "-", suite.target.name.lower()).strip("-")
    over_http = _OVER_HTTP.get(name)
    if over_http is not None:
        return over_http
    if suite.target.language.strip().lower() in _OTHER_LANGUAGES:
        return HTTP
    return _IN_PYTHON.get(name, PYTHON)
