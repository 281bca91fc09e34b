"""What the models of all formats share: closed objects, texts that are not empty."""

from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

T = TypeVar("T")

NULL_GIVEN: Final = "null_given"
REFUSED: Final = "refused"


def refusal(code: str, why: str, hint: str = "") -> PydanticCustomError:
    """Return the error of a validator of ours: its code, what is wrong, what to do."""
    return PydanticCustomError(
        REFUSED, "{why}", {"code": code, "why": why, "hint": hint}
    )


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise PydanticCustomError(NULL_GIVEN, "null")
    return value


Text = Annotated[str, Field(min_length=1)]
"""A text that is not empty."""

Maybe = Annotated[T | None, BeforeValidator(_refuse_null)]
"""A key that may be left out; where it stands it has a value (null is refused)."""


class Closed(BaseModel):
    """An object that has its declared keys and no others; values are not converted."""

    # Built once, as a part of the root that is used: building each by itself costs more.
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, defer_build=True
    )


class Camel(Closed):
    """A closed object whose keys are in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)
