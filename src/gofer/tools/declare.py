"""The form of a tool: a typed function with a decorator, and below it the functions that belong to it.

    @tool(effect="lookup", settle=10.0, place=issue_place)
    async def tracker_add_comment(api: TrackerApi, call: Call, arguments: AddComment) -> ToolResult:
        \"\"\"Comment on an issue.\"\"\"

    @tracker_add_comment.look
    async def _find(api: TrackerApi, call: Call, arguments: AddComment) -> ToolResult | None: ...

The name of the function is the name of the tool, its docstring is what a model reads, and the annotation of its last
parameter is its argument class. Each function takes as many of (client, call, arguments) as it needs, counted from the
end.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Required, TypedDict, TypeVar, Unpack, overload

from gofer.journal.entries import Effect
from gofer.tools.definition import Arguments, Base, Call, Tool, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.errors import ConfigError

A = TypeVar("A", bound=Arguments)
C_contra = TypeVar("C_contra", contravariant=True)
R = TypeVar("R")

Look = Callable[[C_contra, Call, A], Awaitable[ToolResult | None]] | Callable[[Call, A], Awaitable[ToolResult | None]]
Mock = (
    Callable[[C_contra, Call, A], ToolResult]
    | Callable[[Call, A], ToolResult]
    | Callable[[A], ToolResult]
    | Callable[[], ToolResult]
)


class ToolOptions(TypedDict, total=False):
    """What the decorator says of a tool; `Tool` documents the words that both have."""

    effect: Required[Effect]
    timeout: float
    settle: float
    gone: frozenset[str]
    destination: Callable[[Any], str]
    writes: Writes | None
    internal: bool
    system: str
    base: Base
    everyday: str
    preview_tokens: int
    in_order: bool
    scopes: frozenset[str]


@dataclass(slots=True)
class _Beside:
    """The functions that stand below a tool in its module; closed as soon as the tool is bound."""

    look: Callable[..., Awaitable[ToolResult | None]] | None = None
    mock: Callable[..., ToolResult] | None = None
    place: Callable[..., Place] | None = None
    writes: Callable[..., Writes] | None = None
    closed: bool = False


@dataclass(frozen=True, slots=True)
class ToolDeclaration(Generic[C_contra, A]):
    """A tool without the client that it needs; `object` is the client of a tool that needs none."""

    name: str
    description: str
    arguments: type[A]
    act: Callable[..., Awaitable[ToolResult]]
    """The function itself, with the client, the call and the arguments as it takes them."""
    options: ToolOptions
    _beside: _Beside = field(default_factory=_Beside)

    def look(self, look: Look[C_contra, A]) -> Look[C_contra, A]:
        """Declare what finds an earlier attempt of a call; see `Tool.look`."""
        self._refuse_second("look", self._beside.look)
        self._beside.look = look
        return look

    def mock(self, mock: Mock[C_contra, A]) -> Mock[C_contra, A]:
        """Declare what the tool gives where nothing outside is there; see `Tool.mock`."""
        self._refuse_second("mock", self._beside.mock)
        self._beside.mock = mock
        return mock

    def place(self, place: Callable[[C_contra, Origin, A], Place]) -> Callable[[C_contra, Origin, A], Place]:
        """Declare the place that a call acts on, where telling it takes the client; see `Tool.where`."""
        self._refuse_second("place", self._beside.place)
        self._beside.place = place
        return place

    def writes(self, writes: Callable[[C_contra], Writes]) -> Callable[[C_contra], Writes]:
        """Declare which arguments say where, where telling it takes the client; see `Tool.writes`."""
        self._refuse_second("writes", self._beside.writes)
        self._beside.writes = writes
        return writes

    def bind(self, client: C_contra, *, system: str = "") -> Tool[A]:
        """Return the tool with its client, for a system outside where that is not declared.

        Raises ConfigError for a declaration that is not whole.
        """
        self._beside.closed = True
        options = self.options.copy()
        if system:
            options["system"] = system
        if self._beside.writes is not None:
            options["writes"] = self._beside.writes(client)
        return Tool(
            name=self.name,
            description=self.description,
            arguments=self.arguments,
            act=_with_last(self.act, client),
            look=_with_last(self._beside.look, client),
            mock=_with_last(self._beside.mock, client),
            where=_with_last(self._beside.place, client),
            **options,
        )

    def _refuse_second(self, what: str, declared: object) -> None:
        if self._beside.closed:
            raise ConfigError(f"The tool {self.name} is in use already: declare its {what} in its own module.")
        if declared is not None:
            raise ConfigError(f"The tool {self.name} declares its {what} twice: keep one of them.")


@dataclass(frozen=True, slots=True)
class Decorator:
    """What `tool` returns: makes a declaration of a function."""

    options: ToolOptions
    place: Callable[[Origin, Any], Place] | None

    @overload
    def __call__(self, act: Callable[[Call, A], Awaitable[ToolResult]]) -> ToolDeclaration[object, A]: ...

    @overload
    def __call__(self, act: Callable[[C_contra, Call, A], Awaitable[ToolResult]]) -> ToolDeclaration[C_contra, A]: ...

    def __call__(self, act: Callable[..., Awaitable[ToolResult]]) -> ToolDeclaration[Any, Any]:
        """Declare the tool. Raises ConfigError for a function without a docstring or an argument class."""
        name = act.__name__
        description = " ".join((inspect.getdoc(act) or "").split())
        if not description:
            raise ConfigError(f"The tool {name} has no docstring: say in it, for a model, what the tool does and when.")
        beside = _Beside(place=self.place)
        return ToolDeclaration(name, description, _arguments_of(act), act, self.options, beside)


def tool(*, place: Callable[[Origin, Any], Place] | None = None, **options: Unpack[ToolOptions]) -> Decorator:
    """Return the decorator that makes a tool of a typed function; `place` is what `Tool.where` says of it."""
    return Decorator(options, place)


def bind_all(tools: Sequence[ToolDeclaration[C_contra, Any]], client: C_contra, system: str = "") -> list[Tool[Any]]:
    """Return the tools of one list with the client that they share, for a system outside."""
    return [declared.bind(client, system=system) for declared in tools]


def _arguments_of(act: Callable[..., object]) -> type[Arguments]:
    """Return the class that annotates the last parameter of a tool's function."""
    try:
        signature = inspect.signature(act, eval_str=True)
    except NameError as error:
        raise ConfigError(f"The tool {act.__name__} has an annotation that cannot be read: {error}.") from error
    parameters = list(signature.parameters.values())
    found: object = parameters[-1].annotation if parameters else None
    if len(parameters) not in (2, 3) or not (isinstance(found, type) and issubclass(found, Arguments)):
        raise ConfigError(
            f"The tool {act.__name__} takes the call and its arguments, and before them the client where it needs one: "
            "annotate the last parameter with a class of its own that inherits from Arguments."
        )
    return found


@overload
def _with_last(function: None, client: object) -> None: ...


@overload
def _with_last(function: Callable[..., R], client: object) -> Callable[..., R]: ...


@overload
def _with_last(function: Callable[..., R] | None, client: object) -> Callable[..., R] | None: ...


def _with_last(function: Callable[..., R] | None, client: object) -> Callable[..., R] | None:
    """Return a function of two parameters that gives another one its client and as many of them as it takes."""
    if function is None:
        return None
    taken = len(inspect.signature(function).parameters)
    return partial(_call_with_last, function, taken, client)


def _call_with_last(function: Callable[..., R], taken: int, *given: object) -> R:
    return function(*given[len(given) - taken :])
