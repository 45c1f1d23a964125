"""The answers of tools where nothing outside is there: those of their mocks, or what a file says instead.

Such a file (YAML or JSON) names tools, and for each what it gives, always or for some arguments:

    create_ticket: {refusal: "The project OPS takes no tickets now.", code: "400"}
    find_person:
      - arguments: {name: "*Ada*"}
        details: {kind: guest}
      - refusal: No person has that name.

The first that fits counts, and where none does, the mock. What it does not say is as in the mock: `details` go over
those of the mock, one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, model_validator
from typing_extensions import override

from gofer.tools.definition import AnyTool, Arguments, Call, ToolResult
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError, ToolError
from gofer.values.outside import Http, HttpRequest, HttpResponse
from gofer.workflows.routes import fits


class Override(BaseModel):
    """What a tool gives instead of what its mock does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    arguments: dict[str, object] = {}
    """Arguments that a call must have for it; `*` in a text stands for anything."""
    text: str | None = None
    details: dict[str, object] | None = None
    value: object = None
    refusal: str | None = None
    """The sentence with which the tool refuses."""
    code: str = ""
    """The vendor's word for the refusal."""

    @model_validator(mode="after")
    def _one_or_the_other(self) -> "Override":
        gives = bool(self.model_fields_set & {"text", "details", "value"})
        refuses = self.refusal is not None
        if gives == refuses:
            raise ValueError("say either what it gives (text, details, value) or its refusal")
        if self.code and not refuses:
            raise ValueError("a code belongs to a refusal")
        return self

    def meant(self, arguments: Mapping[str, object]) -> bool:
        """Return whether it is for a call with these arguments."""
        return all(_same(wanted, arguments.get(name)) for name, wanted in self.arguments.items())

    def over(self, mock: ToolResult) -> ToolResult:
        """Return the result, with what it does not say as in the mock. Raises ToolError for a refusal."""
        if self.refusal is not None:
            raise ToolError(self.refusal, code=self.code)
        result = replace(mock, details={**mock.details, **(self.details or {})})
        if self.text is not None:
            result = replace(result, text=self.text)
        if "value" in self.model_fields_set:
            result = replace(result, value=self.value)
        return result


def _listed(value: object) -> object:
    fields = as_object(value)
    if fields:
        return [fields]
    return value


Overrides = Mapping[str, Sequence[Override]]
"""What is said of each tool, by its name."""
_FORM: TypeAdapter[dict[str, list[Override]]] = TypeAdapter(
    dict[str, Annotated[list[Override], BeforeValidator(_listed)]]
)


def read_overrides(text: str, where: str, tools: Mapping[str, AnyTool]) -> Overrides:
    """Return what a file says; `where` is its name for people. Raises ConfigError."""
    try:
        overrides = _FORM.validate_python(yaml.load(text, Loader=yaml.CSafeLoader) or {})
    except yaml.YAMLError as error:
        raise ConfigError(f"{where} is neither YAML nor JSON: {' '.join(str(error).split())}.") from error
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.errors())
        raise ConfigError(f"{where} does not say what tools give: {problems}.") from error
    for name, said in overrides.items():
        if name not in tools:
            known = ", ".join(sorted(tools))
            raise ConfigError(f"{where} names the tool {name[:64]!r}, which does not exist; the tools are: {known}.")
        fields = tools[name].arguments.model_fields
        if unknown := sorted({argument for one in said for argument in one.arguments} - fields.keys()):
            raise ConfigError(f"{where}: {name} has no argument {unknown[0]!r}; it has {', '.join(fields) or 'none'}.")
    return overrides


def mocked(tools: Mapping[str, AnyTool], overrides: Overrides) -> Mapping[str, AnyTool]:
    """Return the same tools with nothing outside behind them."""
    return {name: _mocked(tool, overrides.get(name, ())) for name, tool in tools.items()}


def _mocked(tool: AnyTool, overrides: Sequence[Override]) -> AnyTool:
    in_doubt = tool.in_doubt
    if in_doubt.look is not None:
        # What is looked for was never done.
        in_doubt = replace(in_doubt, look=_find_nothing)
    return replace(tool, act=partial(_act, tool, overrides), in_doubt=replace(in_doubt, settle=0.0))


async def _act(tool: AnyTool, overrides: Sequence[Override], call: Call, arguments: Arguments) -> ToolResult:
    said = arguments.model_dump(mode="json")
    own = replace(call, http=_Nowhere(tool.name))
    found = next((one for one in overrides if one.meant(said)), None)
    if found is None:
        if tool.mock is None:
            return await tool.act(own, arguments)
        return tool.mock(own, arguments)
    mocked = ToolResult("", f"gave what a file says of {tool.name}")
    # What the file refuses is refused by nothing else before.
    if tool.mock is not None and found.refusal is None:
        mocked = tool.mock(own, arguments)
    return found.over(mocked)


async def _find_nothing(call: Call, arguments: Arguments) -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Nowhere(Http):
    """The network of a tool without a mock: it refuses every request."""

    tool: str

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        raise ToolError(f"{self.tool} has no mock, and nothing outside is there; say in a file of mocks what it gives.")


def _same(wanted: object, given: object) -> bool:
    if isinstance(wanted, str) and isinstance(given, str):
        return fits(wanted, given)
    return type(wanted) is type(given) and wanted == given
