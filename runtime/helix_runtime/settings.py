"""`evals.toml`: what the owner of the suite decides about a run."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from .criterion import Aggregate, limit_fault, rate
from .judges.prices import Price
from .record import field, record
from .refusal import Refusal, close_match
from .spread import MAX_CEILING

if TYPE_CHECKING:
    from .formats.mapped import Mapped

FILE_NAME: Final = "evals.toml"

Sampling = Literal["temperature-0", "model-default"]
AnswerFormat = Literal["json-schema", "json-object", "tool", "text"]
LimitParameter = Literal["max_tokens", "max_completion_tokens"]

_NOTHING: Final[Mapping[str, Any]] = {}


@record(kw_only=True)
class JudgeSettings:
    """The judge as `evals.toml` names it; there is no default model.

    `timeout` is in seconds a try, `deadline` a unit with all of its tries.
    """

    provider: str
    model: str
    base_url: str | None = None
    sampling: Sampling = "temperature-0"
    max_tokens: int | None = None
    timeout: float | None = None
    deadline: float | None = None
    answer_format: AnswerFormat | None = None
    limit_parameter: LimitParameter | None = None
    cache: bool = True
    allow_self_judging: bool = False


@record(kw_only=True)
class VerifierSettings:
    """The second judge: another model, asked to refute what the first one says.

    It is asked about fails that gate, with `passes` also about passes that gate.
    """

    judge: JudgeSettings
    passes: bool = False


@record(kw_only=True)
class StabilitySettings:
    """How `stability` looks for spread, and how much of it is none.

    Each case is run `repeats` times, one run of it judged `judge_repeats` times (None:
    as often). `ceiling` is the share of the repeats of a case that may differ from the
    rest, for `run` and `aggregate` too.
    """

    repeats: int = 5
    judge_repeats: int | None = None
    ceiling: float = 0.0


@record(kw_only=True)
class Settings:
    """The settings of a suite; `timeout` is in seconds a case, the budgets are a run's.

    `target` is the REF, `target_table` the whole `[target]` table where it is one.
    `prices` are the owner's, by model.

    `traces` are paths from the suite's folder of recorded traces that a run judges
    in place of calling `target`; `trace_format` names their format, `trace_map` says
    where things stand in a team's own records. `baseline` is the path from there of a
    run to compare with. `thresholds` replaces a criterion's own.
    """

    target: str | None = None
    target_table: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    traces: tuple[str, ...] = ()
    trace_format: str | None = None
    trace_map: "Mapped | None" = None
    baseline: str | None = None
    concurrency: int = 8
    repeats: int = 1
    timeout: float = 600.0
    judge: JudgeSettings | None = None
    verifier: VerifierSettings | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    prices: Mapping[str, Price] = field(default_factory=lambda: _NOTHING)
    thresholds: Mapping[str, Aggregate] = field(default_factory=lambda: _NOTHING)
    allow_self_judging: bool = False
    stability: StabilitySettings = StabilitySettings()


def read_settings(path: Path) -> Settings:
    """Return the settings of a file; a missing file gives the defaults.

    Raises Refusal that names every fault at once, each with its key.
    """
    import tomllib

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return Settings()
    except UnicodeDecodeError as error:
        from .strict_json import why_unreadable

        why = f"{why_unreadable(error)}; save it as UTF-8"
        raise Refusal(f"{path.name}: can't be read: {why}") from error
    except OSError as error:
        raise Refusal(f"{path.name}: can't be read: {error.strerror}") from error
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Refusal(f"{path.name}: not TOML: {error}{_twice(text)}") from error
    return settings_from(data, name=path.name)


def _twice(text: str) -> str:
    """Return what to do where the target is both a line and a table, else nothing."""
    import re

    line, table = (
        re.search(pattern, text, re.MULTILINE)
        for pattern in (r"^\s*target\s*=", r"^\s*\[target\]")
    )
    if line is None or table is None:
        return ""
    return "; a table [target] stands in place of the line `target = …`: remove that"


def settings_from(data: Mapping[str, Any], *, name: str = FILE_NAME) -> Settings:
    """Return the settings of plain data. Raises Refusal with every fault at once."""
    reader = _Reader(name)
    values = reader.table(data, "", _TOP)
    judge: JudgeSettings | None = None
    verifier: VerifierSettings | None = None
    allow = False
    if isinstance(values.get("target"), dict):
        from .targets.table import faults_of

        table = values["target_table"] = values["target"]
        values["target"] = table.get("ref")
        for key, what in faults_of(table):
            name = key.removeprefix("target.")
            reader.fault(key, _misplaced("target") if name in _LINES else what)
    if "judge" in values:
        parts = reader.table(values.pop("judge"), "judge", _JUDGE)
        allow = bool(parts.get("allow_self_judging", False))
        judge = reader.judge(parts, "judge")
    if "verifier" in values:
        parts = reader.table(values.pop("verifier"), "verifier", _VERIFIER)
        passes = bool(parts.pop("passes", False))
        second = reader.judge(parts, "verifier")
        if second is not None:
            verifier = VerifierSettings(judge=second, passes=passes)
    if "prices" in values:
        values["prices"] = reader.prices(values.pop("prices"))
    if "budget" in values:
        budget = reader.table(values.pop("budget"), "budget", _BUDGET)
        values["budget_tokens"] = budget.get("tokens")
        values["budget_usd"] = budget.get("usd")
    if "stability" in values:
        parts = reader.table(values.pop("stability"), "stability", _STABILITY)
        values["stability"] = StabilitySettings(**parts)
    if "trace_map" in values:
        from .formats.mapped import mapping_of

        table = values.pop("trace_map")
        values["trace_map"] = mapping_of(
            table, lambda key, what: reader.fault(f"trace_map.{key}".rstrip("."), what)
        )
    thresholds: dict[str, Aggregate] = {}
    for key, condition in values.pop("thresholds", {}).items():
        try:
            thresholds[key] = rate(condition)
            wrong = limit_fault(thresholds[key])
            if wrong is not None:
                reader.fault(f"thresholds.{key}", f"can't decide: {wrong}")
        except (TypeError, ValueError, AttributeError):
            reader.fault(
                f"thresholds.{key}", 'must be a condition on the rate such as ">= 0.95"'
            )
    if values.get("target") is not None and values.get("traces"):
        reader.fault("traces", "stands beside `target`: give one of the two")
    if reader.faults:
        raise Refusal(*reader.faults)
    return Settings(
        **values,
        judge=judge,
        verifier=verifier,
        thresholds=thresholds,
        allow_self_judging=allow,
    )


@record
class _Kind:
    """What a value must be: its test, its words, and how it is taken."""

    holds: Callable[[Any], bool]
    words: str
    take: Callable[[Any], Any] = lambda value: value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 < value < float("inf")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_text(item) for item in value)


_TEXT: Final = _Kind(_is_text, "a text that is not empty")
_COUNT: Final = _Kind(_is_count, "a whole number of at least 1")
_SECONDS: Final = _Kind(_is_number, "a number of seconds above 0", float)
_USD: Final = _Kind(_is_number, "a number of dollars above 0", float)
_TABLE: Final = _Kind(lambda value: isinstance(value, dict), "a table")
_SWITCH: Final = _Kind(lambda value: isinstance(value, bool), "true or false")

_TOP: Final[Mapping[str, _Kind]] = {
    "target": _Kind(
        lambda value: _is_text(value) or isinstance(value, dict),
        "a REF, or a table with the REF as `ref`",
    ),
    "traces": _Kind(_is_texts, "a list of files", tuple),
    "trace_format": _TEXT,
    "baseline": _TEXT,
    "trace_map": _TABLE,
    "concurrency": _COUNT,
    "repeats": _COUNT,
    "timeout": _SECONDS,
    "judge": _TABLE,
    "verifier": _TABLE,
    "budget": _TABLE,
    "prices": _TABLE,
    "stability": _TABLE,
    "thresholds": _TABLE,
}
_JUDGE: Final[Mapping[str, _Kind]] = {
    "provider": _TEXT,
    "model": _TEXT,
    "base_url": _TEXT,
    "sampling": _Kind(
        lambda value: value in ("temperature-0", "model-default"),
        '"temperature-0" or "model-default"',
    ),
    "max_tokens": _COUNT,
    "timeout": _SECONDS,
    "deadline": _SECONDS,
    "answer_format": _Kind(
        lambda value: value in ("json-schema", "json-object", "tool", "text"),
        '"json-schema", "json-object", "tool" or "text"',
    ),
    "limit_parameter": _Kind(
        lambda value: value in ("max_tokens", "max_completion_tokens"),
        '"max_tokens" or "max_completion_tokens"',
    ),
    "cache": _SWITCH,
    "allow_self_judging": _SWITCH,
}
_VERIFIER: Final[Mapping[str, _Kind]] = {
    **{key: kind for key, kind in _JUDGE.items() if key != "allow_self_judging"},
    "passes": _SWITCH,
}
_BUDGET: Final[Mapping[str, _Kind]] = {"usd": _USD, "tokens": _COUNT}
_STABILITY: Final[Mapping[str, _Kind]] = {
    "repeats": _Kind(
        lambda value: _is_count(value) and value >= 2,
        "a whole number of at least 2: one repeat shows no spread",
    ),
    "judge_repeats": _COUNT,
    "ceiling": _Kind(
        lambda value: value.__class__ in (int, float) and 0 <= value < MAX_CEILING,
        "a share from 0 to below 0.5, such as 0.2 for one of five",
        float,
    ),
}
# A model on one's own machine costs nothing for its tokens: zero can be said.
_DOLLARS: Final = _Kind(
    lambda value: value == 0 or _is_number(value),
    "US dollars for a million tokens",
    float,
)
_PRICE: Final[Mapping[str, _Kind]] = {
    "input": _DOLLARS,
    "output": _DOLLARS,
    "cached_input": _DOLLARS,
}

_SECRET_WORDS: Final = ("key", "token", "secret", "password")
_LINES: Final = ("traces", "trace_format", "baseline", "repeats", "timeout")
"""Lines of the file that no table of its own has: they stand above every table."""


def _no_setting(key: str, known: list[str], *, table: str) -> str:
    if table and (key in _LINES or key == "concurrency"):
        return _misplaced(table)
    if any(word in key.lower() for word in _SECRET_WORDS):
        return "is not read: secrets come from the environment, never from a file"
    return f"is no setting{close_match(key, known)}; there are {', '.join(known)}"


def _misplaced(table: str) -> str:
    return (
        f"stands in the table [{table}], which takes in every line below it: "
        f"move [{table}] down, to the end of the file"
    )


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.faults: list[str] = []

    def fault(self, key: str, what: str) -> None:
        self.faults.append(f"{self.name}: `{key}` {what}")

    def table(
        self, data: Mapping[str, Any], prefix: str, kinds: Mapping[str, _Kind]
    ) -> dict[str, Any]:
        values = {}
        for key, value in data.items():
            place = f"{prefix}.{key}" if prefix else key
            kind = kinds.get(key)
            if kind is None:
                self.fault(place, _no_setting(key, list(kinds), table=prefix))
            elif not kind.holds(value):
                self.fault(place, f"must be {kind.words}")
            else:
                values[key] = kind.take(value)
        return values

    def judge(self, parts: dict[str, Any], prefix: str) -> JudgeSettings | None:
        """Return the judge of a table that was read, or None where it names none."""
        names = [key for key in ("provider", "model") if key in parts]
        missing = "model" if names == ["provider"] else "provider"
        wrong = f"{self.name}: `{prefix}.{missing}` "  # said already
        if len(names) == 1 and not any(f.startswith(wrong) for f in self.faults):
            self.fault(f"{prefix}.{missing}", "is missing: a judge needs both")
        return JudgeSettings(**parts) if len(names) == 2 else None

    def prices(self, data: Mapping[str, Any]) -> dict[str, Price]:
        """Return the prices by model."""
        prices = {}
        for model, value in data.items():
            place = f"prices.{model}"
            if not isinstance(value, dict):
                self.fault(place, "must be a table with `input` and `output`")
                continue
            parts = self.table(value, place, _PRICE)
            missing = [key for key in ("input", "output") if key not in value]
            for key in missing:
                self.fault(f"{place}.{key}", "is missing: a price needs both")
            if "input" in parts and "output" in parts:
                prices[model] = Price(**parts)
        return prices
