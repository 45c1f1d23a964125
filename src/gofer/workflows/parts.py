"""Parts of the forms of workflow files, and the error by which a part says what is wrong."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Strict(BaseModel):
    """A part of a file: frozen, and unknown keys are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True, serialize_by_alias=True
    )

    MEMBER: ClassVar[str] = "a key here"
    """What its keys are, for people who wrote another one."""
    LISTED: ClassVar[str] = ""
    """Where people find them, when there are too many for a sentence."""


def listed(value: object) -> object:
    """A single text as a list of one."""
    return [value] if isinstance(value, str) else value


Number = Annotated[float, Field(strict=True)]
"""A number; true, false and quoted digits are none."""

Whole = Annotated[int, Field(strict=True, lt=2**63)]
"""A whole number that fits into 64 bits."""

Name = Annotated[str, Field(min_length=1)]

Names = Annotated[
    tuple[Name, ...],
    Field(min_length=1),
    BeforeValidator(listed, json_schema_input_type=Name | tuple[Name, ...]),
]
"""Names in an order; a single name is a list of one."""


def mistake(message: str, hint: str) -> PydanticCustomError:
    """For validators: what is wrong in one sentence, and what to write instead in another, as people will read them."""
    return PydanticCustomError("sentence", "{message} {hint}", {"message": message, "hint": hint})
