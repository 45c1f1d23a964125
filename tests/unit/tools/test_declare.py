"""Declaring a tool: what is derived from its function, and which declarations are refused."""

import asyncio
from dataclasses import dataclass

import pytest

from gofer.tools.declare import bind_all, tool
from gofer.tools.definition import Arguments, Call, Provenance, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.errors import ConfigError
from gofer.values.outside import HttpRequest, HttpResponse
from support.tools.calls import any_call


class NoHttp:
    async def send(self, request: HttpRequest) -> HttpResponse:
        raise AssertionError("nothing is sent")


def call_of() -> Call:
    return any_call(NoHttp(), key="run1/1.0", provenance=Provenance("w", "", "run1", None))


@dataclass(frozen=True)
class Pager:
    url: str


class Page(Arguments):
    text: str = ""


def pager(origin: Origin, arguments: Page) -> Place:
    return Place("pager", "other", "rota")


@tool(effect="keyed", place=pager, everyday="wake up")
async def pager_page(api: Pager, call: Call, arguments: Page) -> ToolResult:
    """Page the person
    on call.
    """
    return ToolResult(f"{api.url}: {arguments.text}", "paged")


@tool(effect="read")
async def greet(call: Call, arguments: Page) -> ToolResult:
    """Greet."""
    return ToolResult(f"hello {arguments.text}", "greeted")


def test_tool_takes_name_description_and_arguments_from_the_function() -> None:
    bound = pager_page.bind(Pager("http://pager"), system="Pager")
    assert (bound.name, bound.description, bound.arguments) == ("pager_page", "Page the person on call.", Page)
    assert (bound.effect, bound.everyday, bound.target.system) == ("keyed", "wake up", "Pager")
    assert bound.target.where is not None
    assert bound.target.where(call_of(), Page()) == Place("pager", "other", "rota")


def test_tool_acts_through_the_bound_client() -> None:
    bound = pager_page.bind(Pager("http://pager"))
    assert asyncio.run(bound.act(call_of(), Page(text="disk"))).text == "http://pager: disk"


def test_tool_without_a_client_is_bound_to_none() -> None:
    (bound,) = bind_all([greet], None)
    assert asyncio.run(bound.act(call_of(), Page(text="Ada"))).text == "hello Ada"


@pytest.mark.parametrize("taken", [0, 1, 2, 3])
def test_mock_receives_as_many_arguments_as_declared(taken: int) -> None:
    @tool(effect="read")
    async def look_up(api: Pager, call: Call, arguments: Page) -> ToolResult:
        """Look up."""
        raise AssertionError("a mock answers")

    given: list[object] = []

    def none() -> ToolResult:
        return ToolResult("", "")

    def one(arguments: Page) -> ToolResult:
        given.extend([arguments])
        return none()

    def two(call: Call, arguments: Page) -> ToolResult:
        given.extend([call, arguments])
        return none()

    def three(api: Pager, call: Call, arguments: Page) -> ToolResult:
        given.extend([api, call, arguments])
        return none()

    look_up.mock([none, one, two, three][taken])
    all_of_them = [Pager("http://pager"), call_of(), Page()]
    mock = look_up.bind(all_of_them[0]).mock
    assert mock is not None
    mock(*all_of_them[1:])
    assert given == all_of_them[3 - taken :]


def test_place_and_writes_of_a_tool_may_use_the_client() -> None:
    @tool(effect="keyed")
    async def note(api: Pager, call: Call, arguments: Page) -> ToolResult:
        """Note."""
        raise AssertionError("is not called")

    @note.place
    def _place(api: Pager, origin: Origin, arguments: Page) -> Place:
        return Place("pager", "other", api.url)

    @note.writes
    def _writes(api: Pager) -> Writes:
        return Writes({}, frozenset({api.url}))

    bound = note.bind(Pager("here"), system="Pager")
    assert bound.target.where is not None
    assert bound.target.where(call_of(), Page()).name == "here"
    assert bound.target.writes == Writes({}, frozenset({"here"}))


def test_tool_without_a_docstring_is_refused() -> None:
    with pytest.raises(ConfigError, match="The tool silent has no docstring: describe for the model"):

        @tool(effect="read")
        async def silent(call: Call, arguments: Page) -> ToolResult:
            raise AssertionError("is not called")


def test_tool_without_an_argument_class_is_refused() -> None:
    with pytest.raises(ConfigError, match="The tool loose must take the call and its arguments"):

        @tool(effect="read")
        async def loose(call: Call, arguments) -> ToolResult:
            """Do something."""
            raise AssertionError("is not called")


def test_write_tool_without_a_declared_place_is_refused() -> None:
    @tool(effect="keyed")
    async def write(call: Call, arguments: Page) -> ToolResult:
        """Write."""
        raise AssertionError("is not called")

    with pytest.raises(ConfigError, match="The tool write writes to Pager and does not declare its place"):
        write.bind(None, system="Pager")


def test_tool_declaration_is_refused_when_repeated_or_after_binding() -> None:
    @tool(effect="read")
    async def read(call: Call, arguments: Page) -> ToolResult:
        """Read."""
        raise AssertionError("is not called")

    def mock() -> ToolResult:
        return ToolResult("", "")

    read.mock(mock)
    with pytest.raises(ConfigError, match="The tool read declares its mock twice: keep one of them"):
        read.mock(mock)
    read.bind(None)
    with pytest.raises(ConfigError, match="The tool read is already in use: declare its mock in its own module"):
        read.mock(mock)


def test_unknown_kind_of_visible_objects_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="The tool ring has no valid `shows`: write one of message, edit, button"):

        @tool(effect="keyed", shows="bell")  # pyright: ignore[reportArgumentType]
        async def ring(call: Call, arguments: Page) -> ToolResult:
            """Ring."""
            raise AssertionError("is not called")


def test_read_tool_shows_people_no_object() -> None:
    @tool(effect="read", shows="page")
    async def read(call: Call, arguments: Page) -> ToolResult:
        """Read."""
        raise AssertionError("is not called")

    with pytest.raises(ConfigError, match="The tool read has effect read and shows page"):
        read.bind(None)
