"""Parts of the forms of workflow files, and the error that their validators raise."""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError


class Strict(BaseModel):
    """A part of a file. Instances are frozen, and unknown keys are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, serialize_by_alias=True, defer_build=True
    )

    MEMBER: ClassVar[str] = "a key here"
    """The term for a key of this form, used in the message about an unknown key."""
    LISTED: ClassVar[str] = ""
    """A hint that says where the keys are documented, when a sentence cannot list them all."""
    FOREIGN: ClassVar[Mapping[str, str]] = {}
    """Hints for keys of other systems: what to write instead."""
    MANUAL: ClassVar[str] = "docs/workflow-file.md"
    """The page that describes the keys of the file."""
    HOLDS_DATA: ClassVar[bool] = False
    """Whether the file holds data such as payloads: a written `null` is a value, and template marks are text."""
    ADDED: ClassVar[Mapping[str, str]] = {}
    """Hints for required keys: how to add the key, where its description alone does not say it."""


def listed(value: object) -> object:
    """Return a single text as a list with one item, and any other value unchanged."""
    if isinstance(value, str):
        return [value]
    return value


Number = Annotated[float, Field(strict=True)]
"""A number; not true, false or quoted digits."""

Whole = Annotated[int, Field(strict=True, lt=2**63)]
"""A whole number that fits into 64 bits."""

Name = Annotated[str, Field(min_length=1)]

Names = Annotated[
    tuple[Name, ...],
    Field(min_length=1),
    BeforeValidator(listed, json_schema_input_type=Name | tuple[Name, ...]),
]
"""Names in order; a single name is a list with one item."""


_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?")


def _own_host(value: str) -> str:
    host = value.lower()
    if not _HOST.fullmatch(host):
        raise mistake(f"`{value[:80]}` is not a host.", "Write its name alone, such as wiki.example.com.")
    return host


Hosts = Annotated[
    tuple[Annotated[Name, AfterValidator(_own_host)], ...],
    BeforeValidator(listed, json_schema_input_type=Name | tuple[Name, ...]),
]
"""Hosts of the company. A single text is a list."""


def mistake(message: str, hint: str) -> PydanticCustomError:
    """Return the error of a validator: one sentence says what is wrong, the other what to write instead."""
    return PydanticCustomError("sentence", "{message} {hint}", {"message": message, "hint": hint})


class Reasoning(Strict):
    """How much a model thinks before it answers. Each format says it in its own words."""

    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    """How hard the model thinks; by default what its provider sets. Not every model knows every word."""
    summary: Literal["auto", "concise", "detailed"] | None = None
    """Whether the provider returns a summary of the thoughts, and how long it is; by default none."""


GROUPS = ("members", "guests", "externals", "customers", "bots", "anonymous", "everyone")
"""Words for groups of people; `everyone` means every person, but no bot and no event without a person."""
_PERSON = rf"^({'|'.join(GROUPS)}|@[^\s@]{{1,80}}|[UW][A-Z0-9]{{6,}})$"


Person = Annotated[str, Field(pattern=_PERSON)]
Who = Annotated[
    tuple[Person, ...],
    Field(min_length=1),
    BeforeValidator(listed, json_schema_input_type=Name | tuple[Person, ...]),
]
"""People: a word for a group of people, an `@handle` of a person or a user group, or an id. A single text is a list."""
