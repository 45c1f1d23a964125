"""Parts of the forms of workflow files, and the error by which a part says what is wrong."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Strict(BaseModel):
    """A part of a file: frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, serialize_by_alias=True)

    MEMBER: ClassVar[str] = "a key here"
    """What its keys are, for people who wrote another one."""
    LISTED: ClassVar[str] = ""
    """Where people find them, when there are too many for a sentence."""
    FOREIGN: ClassVar[Mapping[str, str]] = {}
    """What to write instead of keys that people bring from other systems."""
    ADDED: ClassVar[Mapping[str, str]] = {}
    """How to add a key that has to be there, where its meaning alone is no instruction."""


def listed(value: object) -> object:
    """Return a single text as a list of one."""
    if isinstance(value, str):
        return [value]
    return value


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
    """Return the error of a validator: what is wrong in one sentence, and what to write instead in another."""
    return PydanticCustomError("sentence", "{message} {hint}", {"message": message, "hint": hint})


GROUPS = ("members", "guests", "externals", "bots", "everyone")
"""Words that stand for many people; `everyone` is every person and no bot."""
_FORM = rf"^({'|'.join(GROUPS)}|@[^\s@]{{1,80}}|[UW][A-Z0-9]{{6,}})$"


def _listed(value: object) -> object:
    if isinstance(value, str):
        return [value]
    return value


One = Annotated[str, Field(pattern=_FORM)]
Who = Annotated[
    tuple[One, ...],
    Field(min_length=1),
    BeforeValidator(_listed, json_schema_input_type=Name | tuple[One, ...]),
]
"""Many people by those words, user groups and people as `@handle`, people by id; one that stands alone is a list."""
