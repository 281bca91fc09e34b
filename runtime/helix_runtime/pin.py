"""The pin: the exact model that judges, and how it samples."""

import re
from typing import Any, Final

from .record import record


@record(kw_only=True)
class Pin:
    """A judge's provider, exact model id and temperature.

    `temperature` is 0, or None where the model refuses the parameter and the setting
    `sampling = "model-default"` says so: reruns can then differ. Raises ValueError
    without a model and for any other temperature.
    """

    provider: str
    model: str
    temperature: float | None = 0

    def __post_init__(self) -> None:
        if not self.provider.strip():
            raise ValueError("a judge needs a provider")
        if not self.model.strip():
            raise ValueError("a judge needs an exact model id; there is no default")
        if self.temperature is not None and self.temperature != 0:
            raise ValueError(
                f"a judge runs at temperature 0, not {self.temperature:g}; "
                'use `sampling = "model-default"` for a model that refuses it'
            )

    def to_record(self) -> dict[str, Any]:
        """Return the pin as it stands on the scorecard."""
        return {
            "provider": self.provider,
            "model": self.model,
            "temperature": None if self.temperature is None else 0,
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the scorecard should know about this pin."""
        found = []
        floating = floating_alias(self.model)
        if floating is not None:
            found.append(floating)
        if self.temperature is None:
            found.append(
                f"{self.model} samples at the model's own default: reruns can differ"
            )
        return tuple(found)


# The hosted families whose undated names are moved to a new snapshot from time to
# time. Of any other name nobody can say from the outside what it stands for.
_HOSTED: Final = re.compile(r"(gpt-|chatgpt-|o\d|claude-|gemini-|mistral-|command-)")
_SNAPSHOT: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2}|(?<!\d)20\d{6}(?!\d)|-\d{4}$|-\d{3}$|-\d{2}-\d{4}$|-\d{2}-\d{2}$)"
)
_DATED: Final = re.compile(r"[-@](\d{4}-\d{2}-\d{2}|20\d{6}|latest)$")
_FLOATING: Final = re.compile(r"(^|[-:@_.])latest$")


def floating_alias(model: str) -> str | None:
    """Return a warning where the model id may be moved to another model, or None.

    `…-latest` always may; so may a hosted family's name without a date or a
    numbered version (`gpt-4.1`, against `gpt-4.1-2025-04-14`).
    """
    name = model.rsplit("/", 1)[-1].lower()
    if _FLOATING.search(name):
        return f"{model} is a floating alias: pin the dated model id that it stands for"
    if _HOSTED.match(name) and not _SNAPSHOT.search(name):
        return (
            f"{model} names no dated version: the provider may move it to another "
            "model; pin the dated id where there is one"
        )
    return None


def same_model(one: str, other: str) -> bool:
    """Whether two ids seem to name one model, whoever serves it.

    A name without a date may stand for any snapshot of it; two dates are two models.
    """
    bare = [name.rpartition("/")[2].strip().lower() for name in (one, other)]
    undated = [_DATED.sub("", name) for name in bare]
    return bare[0] in (bare[1], undated[1]) or bare[1] == undated[0]


def reported_mismatch(pin: Pin, reported: str | None) -> str | None:
    """Return what to say where the provider answered as another model, or None."""
    if reported is None or reported == pin.model:
        return None
    return f"pinned {pin.model}, but the provider reports {reported}"
