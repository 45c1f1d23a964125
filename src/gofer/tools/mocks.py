"""The results of mocked tools: from their mocks, or from a file of overrides.

Such a file (YAML or JSON) lists results for tools, for all calls or for some arguments:

    create_ticket: {refusal: "The project OPS takes no tickets now.", code: "400"}
    find_person:
      - arguments: {name: "*Ada*"}
        details: {kind: guest}
      - refusal: No person has that name.

The first matching entry applies; without a match, the mock answers. A tool that writes and has neither is refused, and
one that reads runs without a network. Keys that an entry leaves out are those of the
mock, and `details` override the details of the mock key by key.

A mock may keep the state of its system, a JSON object that a world of an eval sets up. A call that raises changes
nothing.
"""

import copy
import traceback
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, cast

import yaml
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError, model_validator
from typing_extensions import override

from gofer.tools.company import FOLDER
from gofer.tools.contained import checked
from gofer.tools.definition import AnyTool, Arguments, Call, ToolResult
from gofer.values.canonical_json import as_object, not_json
from gofer.values.errors import ConfigError, TemporaryError, ToolError
from gofer.values.foreign_code import RAISED, is_from_outside
from gofer.values.outside import Http, HttpRequest, HttpResponse
from gofer.workflows.form_parts import Strict
from gofer.workflows.routes import fits


class Override(Strict):
    """A result or a refusal that replaces that of a tool's mock."""

    arguments: dict[str, object] = Field(default_factory=dict[str, object])
    """The arguments that a call must have; `*` in a text matches anything."""
    text: str | None = None
    """The result as the model reads it."""
    details: dict[str, object] | None = None
    """Details for the code of the run; each key replaces that of the tool's mock."""
    value: object = None
    """The result as a script reads it, instead of text and details."""
    refusal: str | None = None
    """The sentence of the refusal."""
    code: str = ""
    """The vendor's code of the refusal."""

    @model_validator(mode="after")
    def _one_or_the_other(self) -> "Override":
        gives = bool(self.model_fields_set & {"text", "details", "value"})
        refuses = self.refusal is not None
        if gives == refuses:
            raise ValueError("write either a result (text, details, value) or a refusal")
        if self.code and not refuses:
            raise ValueError("`code` needs `refusal`")
        return self

    def matches(self, arguments: Mapping[str, object]) -> bool:
        """Return whether the entry applies to a call with these arguments."""
        return all(_same(wanted, arguments.get(name)) for name, wanted in self.arguments.items())

    def over(self, mock: ToolResult) -> ToolResult:
        """Return the result, with missing keys from the mock's result. Raises ToolError for a refusal."""
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
"""The entries of each tool, by its name."""
_FORM: TypeAdapter[dict[str, list[Override]]] = TypeAdapter(
    dict[str, Annotated[list[Override], BeforeValidator(_listed)]]
)


def read_overrides(text: str, where: str, tools: Mapping[str, AnyTool]) -> Overrides:
    """Return the overrides in the text of a file; `where` is its name in errors. Raises ConfigError."""
    try:
        overrides = _FORM.validate_python(yaml.load(text, Loader=yaml.CSafeLoader) or {})
    except yaml.YAMLError as error:
        raise ConfigError(f"{where} is neither YAML nor JSON: {' '.join(str(error).split())}.") from error
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.errors())
        raise ConfigError(f"{where} is not a valid file of mocks: {problems}.") from error
    for name, said in overrides.items():
        if name not in tools:
            known = ", ".join(sorted(tools))
            raise ConfigError(f"{where} names the tool {name[:64]!r}, which does not exist; the tools are: {known}.")
        fields = tools[name].arguments.model_fields
        if unknown := sorted({argument for one in said for argument in one.arguments} - fields.keys()):
            raise ConfigError(f"{where}: {name} has no argument {unknown[0]!r}; it has {', '.join(fields) or 'none'}.")
    return overrides


@dataclass(slots=True)
class MockedSystems:
    """The states that mocks keep during one play or process, by the key of their system."""

    states: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    problem: str = ""
    """The first failure of a mock, as a sentence for its author; empty if none failed."""

    def answer(self, tool: AnyTool, call: Call, arguments: Arguments) -> ToolResult:
        """Return the result of a tool's mock, and keep the state that it leaves. Raises ToolError, TemporaryError."""
        if tool.mock is None:
            raise ToolError(f"{tool.name} has no mock.", code="no_mock")
        # The mock works on a copy, so that neither a refusal nor another play sees half of a change.
        state = copy.deepcopy(self.states.get(tool.system_key, {}))
        try:
            result = checked(tool.mock(replace(call, run=replace(call.run, state=state)), arguments))
        except (ToolError, TemporaryError):
            raise
        except RAISED as error:
            if is_from_outside(error):
                raise
            sentence = (
                f"{_place_in(error)}The mock of {tool.name} failed with {type(error).__name__}: {error}. Correct it."
            )
            raise self._failed(sentence) from error
        if flaw := not_json(state):
            raise self._failed(
                f"The mock of {tool.name} put into the state of `{tool.system_key}` what is not JSON: {flaw}. "
                "Put in texts, numbers, true, false, None, lists, and dicts with texts as keys."
            )
        if tool.keeps_state:
            self.states[tool.system_key] = state
        return result

    def _failed(self, sentence: str) -> ToolError:
        self.problem = self.problem or sentence
        return ToolError(sentence, code="mock_failed")


def kept_systems(world: Mapping[str, object], simulators: Collection[str]) -> MockedSystems:
    """Return the initial states of the systems of a world that have no simulator.

    Raises ConfigError for a state that is not a JSON object.
    """
    states: dict[str, dict[str, Any]] = {}
    for name, part in world.items():
        if name in simulators:
            continue
        if flaw := not_json(part, f"/{name}"):
            raise ConfigError(f"The world is not JSON: {flaw}. Put a date or a time in quotes.")
        if not isinstance(part, dict):
            raise ConfigError(f"The state of `{name}` is no mapping; write one, or {{}} for an empty state.")
        states[name] = cast("dict[str, Any]", part)
    return MockedSystems(states)


def _place_in(error: BaseException) -> str:
    """Return `tools/<module>.py:<line>: ` of the innermost line of a company's tool in an error; empty without one."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(f"{FOLDER}/")]
    return "".join(f"{one.filename}:{one.lineno}: " for one in frames[-1:])


def mocked(
    tools: Mapping[str, AnyTool], overrides: Overrides, systems: MockedSystems | None = None
) -> Mapping[str, AnyTool]:
    """Return the tools with mocks instead of systems. `systems` holds the states of the mocks, by default empty."""
    kept = systems or MockedSystems()
    return {name: _mocked(tool, overrides.get(name, ()), kept) for name, tool in tools.items()}


def keeping_state(tools: Mapping[str, AnyTool], systems: MockedSystems) -> Mapping[str, AnyTool]:
    """Return the tools in which mocks replace the systems with a state that mocks keep."""
    return {**tools, **mocked({name: tool for name, tool in tools.items() if tool.keeps_state}, {}, systems)}


def _mocked(tool: AnyTool, overrides: Sequence[Override], kept: MockedSystems) -> AnyTool:
    in_doubt = tool.in_doubt
    if in_doubt.look is not None:
        # A mocked call never changed anything, so an earlier attempt is never found.
        in_doubt = replace(in_doubt, look=_find_nothing)
    return replace(tool, act=partial(_act, tool, overrides, kept), in_doubt=replace(in_doubt, settle=0.0))


async def _act(
    tool: AnyTool, overrides: Sequence[Override], kept: MockedSystems, call: Call, arguments: Arguments
) -> ToolResult:
    said = arguments.model_dump(mode="json")
    own = replace(call, http=_Nowhere(tool.name))
    found = next((one for one in overrides if one.matches(said)), None)
    if found is None:
        return await _without_entry(tool, kept, own, arguments)
    mocked = ToolResult("", f"returned the result that a file of mocks sets for {tool.name}")
    # A refusal of the file takes precedence over a refusal of the mock.
    if tool.mock is not None and found.refusal is None:
        mocked = kept.answer(tool, own, arguments)
    return found.over(mocked)


async def _without_entry(tool: AnyTool, kept: MockedSystems, call: Call, arguments: Arguments) -> ToolResult:
    """Return the result of the mock, or what a reading tool finds without a network. Raises ToolError."""
    if tool.mock is not None:
        return kept.answer(tool, call, arguments)
    if tool.effect != "read":
        # Its code could change files and processes of this machine, which a network that refuses does not prevent.
        raise ToolError(
            f"{tool.name} writes and has no mock, so it was not called here; add one with `@{tool.name}.mock`, or set "
            "its result under `mocks` of the eval or in the file of --mocks.",
            code="no_mock",
        )
    return await tool.act(call, arguments)


async def _find_nothing(call: Call, arguments: Arguments) -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Nowhere(Http):
    """The network of a tool without a mock: it refuses every request."""

    tool: str

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        raise ToolError(f"{self.tool} has no mock and cannot reach its system here; set its result in a file of mocks.")


def _same(wanted: object, given: object) -> bool:
    if isinstance(wanted, str) and isinstance(given, str):
        return fits(wanted, given)
    return type(wanted) is type(given) and wanted == given
