"""The tools that a workflow's runs may call, how often, and who must approve their calls."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, cast

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError, PydanticKnownError

from gofer.values.canonical_json import as_object
from gofer.workflows.form_parts import Name, Names, Strict, Whole, listed, mistake

Once = Literal["per_message"]
"""How many effects a tool may have: one for each message, issue or page, however many people ask for it."""

_DURATION = r"([1-9][0-9]{0,4}) (minute|hour|day)s?"
_UNITS = {"minute": 60_000, "hour": 3_600_000, "day": 86_400_000}
_LONGEST = 30 * 86_400_000
_APPROVER = r"requester|@[a-z0-9._-]{1,80}|[USW][A-Z0-9]{6,}"


NOT_GIVEN = "none"
"""The bound of an argument that no call may give."""

Value = StrictStr | StrictBool | StrictInt | StrictFloat


def _checked_bound(value: object) -> object:
    values = [value]
    if isinstance(value, list | tuple):
        values = list(cast(Sequence[object], value))
    if not values or not all(isinstance(one, str | int | float) for one in values):
        raise mistake("An argument is bounded by one value, by a list of values, or by `none`.", "Write one of them.")
    return cast(object, value)


Bound = Annotated[Value | tuple[Value, ...], BeforeValidator(_checked_bound)]
"""The bound of an argument: the value that it must have, the values of which it may have one, or `none`."""

Bounds = Mapping[str, Bound]
"""The bounds of a tool's arguments, by argument."""

MOST_WRITES = 3
"""How often a run under a model calls a tool that writes, if its workflow file does not say."""


def _is_unset(value: object) -> bool:
    """Return whether an option has no value: a bundle without the option keeps the hash that it had before."""
    return value is None or value == {}


class ToolOptions(Strict):
    """The options of a tool."""

    once: Once | None = None
    """`per_message`: one effect for each message, issue or page, however many people ask for it."""
    most: Whole | None = Field(default=None, ge=1)
    """How many calls of the tool a run and its subagents may make; by default 3 if a model decides and the tool writes,
    else as many as the limits allow."""
    arguments: dict[Name, Bound] = Field(default_factory=dict[str, Bound])
    """Bounds of arguments: a value that an argument must have, a list of which it may have one, or `none` if no call
    may give it."""


class Grant(Strict):
    """A tool that a workflow's runs may call."""

    MEMBER: ClassVar[str] = "an option of a tool"
    LISTED: ClassVar[str] = "The options of a tool are `once`, `most` and `arguments`."

    name: Name
    """The name of the tool."""
    once: Once | None = None
    """How many effects the tool may have; without it there is no limit."""
    most: int | None = Field(default=None, exclude_if=_is_unset)
    """How many calls of the tool a run and its subagents may make; without it there is no limit."""
    arguments: dict[str, Bound] = Field(default_factory=dict[str, Bound], exclude_if=_is_unset)
    """The bounds of arguments."""

    @model_validator(mode="before")
    @classmethod
    def _normalized(cls, value: object) -> object:
        """Read `- name`, `- name: {once: per_message}`, and the fields that a bundle stores."""
        if isinstance(value, str):
            return {"name": value}
        fields = as_object(value)
        if not fields and not isinstance(value, dict):
            raise PydanticKnownError("string_type")
        if isinstance(fields.get("name"), str):
            return fields
        if len(fields) != 1:
            raise PydanticCustomError("one_tool", "one tool")
        ((name, options),) = fields.items()
        if options is None:
            return {"name": name}
        try:
            return {"name": name, **dict(ToolOptions.model_validate(options))}
        except ValidationError as error:
            raise ValidationError.from_exception_data("tool", [_below(name, one) for one in error.errors()]) from None


def most_calls(grants: Sequence[Grant], tool: str) -> int | None:
    """Return how many calls of a tool a run and its subagents may make; None without a limit."""
    return next((grant.most for grant in grants if grant.name == tool), None)


def _below(name: str, error: ErrorDetails) -> InitErrorDetails:
    """Return an error in the options of a tool, with the name of the tool in its path."""
    context = error.get("ctx", {})
    kind: str | PydanticCustomError = error["type"]
    if kind == "sentence":
        kind = mistake(str(context["message"]), str(context["hint"]))
    return InitErrorDetails(type=kind, loc=(name, *error["loc"]), input=error["input"], ctx=context)


def _unchanged(value: object) -> object:
    return value


ListedTool = Annotated[Grant, BeforeValidator(_unchanged, json_schema_input_type=Name | dict[Name, ToolOptions])]
"""A tool in a workflow file: a name, or a name with options."""


def milliseconds(duration: str) -> int:
    """Return the milliseconds of a text such as `24 hours`. Raises ValueError for any other text."""
    found = re.fullmatch(_DURATION, duration)
    if found is None or (length := int(found[1]) * _UNITS[found[2]]) > _LONGEST:
        raise ValueError("not a duration")
    return length


def _duration(value: str) -> str:
    try:
        milliseconds(value)
    except ValueError as error:
        raise PydanticCustomError("duration", "not a duration") from error
    return value


def _approver(value: str) -> str:
    if not re.fullmatch(_APPROVER, value):
        raise PydanticCustomError("approver", "not an approver")
    return value


Duration = Annotated[str, AfterValidator(_duration), Field(json_schema_extra={"pattern": f"^{_DURATION}$"})]
"""A duration of at most 30 days: `30 minutes`, `24 hours`, `2 days`."""

Approver = Annotated[str, AfterValidator(_approver), Field(json_schema_extra={"pattern": f"^({_APPROVER})$"})]

Approvers = Annotated[
    tuple[Approver, ...],
    Field(min_length=1),
    BeforeValidator(listed, json_schema_input_type=Approver | tuple[Approver, ...]),
]
"""Approvers; a single approver is a list with one item."""


class Approve(Strict):
    """Tool calls that need an approval before Gofer makes them."""

    tools: Names
    """Tools of this workflow. Every call of them needs an approval."""
    by: Approvers
    """Who may approve: `requester`, a user group (`@leads`), a member ID (`U0123ABCD`), or a list of them."""
    expires: Duration = "24 hours"
    """How long approvers have to decide, such as `30 minutes` or `2 days`. After that the call is denied."""

    @property
    def expires_ms(self) -> int:
        """How long approvers have to decide, in milliseconds."""
        return milliseconds(self.expires)


def names_group(approvers: Sequence[str]) -> bool:
    """Return whether the approvers include a user group."""
    return any(name.startswith(("@", "S")) for name in approvers)
