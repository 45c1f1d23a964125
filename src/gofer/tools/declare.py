"""The declaration of a tool: a typed function with a decorator, and the functions that belong to it.

    @tool(effect="lookup", settle=10.0, place=issue_place)
    async def tracker_add_comment(api: TrackerApi, call: Call, arguments: AddComment) -> ToolResult:
        \"\"\"Comment on an issue.\"\"\"

    @tracker_add_comment.look
    async def _find(api: TrackerApi, call: Call, arguments: AddComment) -> ToolResult | None: ...

The name of the function is the name of the tool, its docstring is the description for the model, and the annotation of
its
last parameter is its argument class. Each function takes as many of (client, call, arguments) as it needs, counted from
the end. A mock whose last parameter is called `state` also gets the state of its system.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, Required, TypeAlias, TypedDict, TypeVar, Unpack, get_args, overload

from gofer.journal.entries import Effect
from gofer.tools.definition import AnyTool, Arguments, Base, Call, InDoubt, Target, Tool, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.errors import ConfigError
from gofer.values.secret import Secret
from gofer.values.visible import VisibleKind

A = TypeVar("A", bound=Arguments)
C_contra = TypeVar("C_contra", contravariant=True)
R = TypeVar("R")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_WITH_CLIENT = 3
"""Parameters of a function that takes the client, the call and the arguments."""

Variables = Mapping[str, Secret]
NO_VARIABLES: Variables = MappingProxyType({})

Look = Callable[[C_contra, Call, A], Awaitable[ToolResult | None]] | Callable[[Call, A], Awaitable[ToolResult | None]]
Mock = (
    Callable[[C_contra, Call, A], ToolResult]
    | Callable[[Call, A], ToolResult]
    | Callable[[A], ToolResult]
    | Callable[[], ToolResult]
    | Callable[[Call, A, dict[str, Any]], ToolResult]
    | Callable[[A, dict[str, Any]], ToolResult]
)
_STATE = "state"
"""The last parameter of a mock that keeps state."""


class ToolOptions(TypedDict, total=False):
    """The options of the decorator; `Tool`, `Target` and `InDoubt` document them."""

    effect: Required[Effect]
    timeout: float
    settle: float
    gone: frozenset[str]
    destination: Callable[[Any], str]
    changes: Callable[[Origin, Any], Mapping[str, str]] | None
    writes: Writes | None
    markdown: frozenset[str]
    plain_text: frozenset[str]
    addresses: frozenset[str]
    internal: bool
    system: str
    base: Base
    shows: VisibleKind | None
    everyday: str
    preview_tokens: int
    in_order: bool
    polls: bool
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToolVariables:
    """The names of the environment variables that a tool may read."""

    secrets: tuple[str, ...] = ()
    """Credentials, whose values go into a header."""
    settings: tuple[str, ...] = ()
    """Values that are not secret, such as a base URL."""


@dataclass(slots=True)
class _Companions:
    """The functions that a module declares for a tool; closed as soon as the tool is bound."""

    look: Callable[..., Awaitable[ToolResult | None]] | None = None
    mock: Callable[..., ToolResult] | None = None
    place: Callable[..., Place] | None = None
    writes: Callable[..., Writes] | None = None
    closed: bool = False


@dataclass(frozen=True, slots=True)
class ToolDeclaration(Generic[C_contra, A]):
    """A tool before it is bound to its client; `object` is the client type of a tool without a client."""

    name: str
    description: str
    arguments: type[A]
    act: Callable[..., Awaitable[ToolResult]]
    """The function with its own parameters: client, call and arguments, or without the client."""
    options: ToolOptions
    variables: ToolVariables
    _companions: _Companions = field(default_factory=_Companions)

    @property
    def takes_client(self) -> bool:
        """Whether the first parameter of the function is a client."""
        return len(inspect.signature(self.act).parameters) == _WITH_CLIENT

    def look(self, look: Look[C_contra, A]) -> Look[C_contra, A]:
        """Declare the function that finds an earlier attempt of a call; see `InDoubt.look`."""
        self._refuse_second("look", self._companions.look)
        self._companions.look = look
        return look

    def mock(self, mock: Mock[C_contra, A]) -> Mock[C_contra, A]:
        """Declare the function that answers without any system; see `Tool.mock`."""
        self._refuse_second("mock", self._companions.mock)
        self._companions.mock = mock
        return mock

    def place(self, place: Callable[[C_contra, Origin, A], Place]) -> Callable[[C_contra, Origin, A], Place]:
        """Declare the function that returns the place of a call, if it needs the client; see `Target.where`."""
        self._refuse_second("place", self._companions.place)
        self._companions.place = place
        return place

    def writes(self, writes: Callable[[C_contra], Writes]) -> Callable[[C_contra], Writes]:
        """Declare the function that returns the place arguments, if it needs the client; see `Target.writes`."""
        self._refuse_second("writes", self._companions.writes)
        self._companions.writes = writes
        return writes

    def bind(self, client: C_contra, *, system: str = "", variables: Variables = NO_VARIABLES) -> Tool[A]:
        """Return the tool, bound to its client, its system and the values of its variables.

        Raises ConfigError for an incomplete declaration.
        """
        self._companions.closed = True
        target: Target[A] = Target(where=_with_last(self._companions.place, client), **_part(self.options, Target))
        if system:
            target = replace(target, system=system)
        if self._companions.writes is not None:
            target = replace(target, writes=self._companions.writes(client))
        look = _with_variables(_with_last(self._companions.look, client), variables)
        return Tool(
            name=self.name,
            description=self.description,
            arguments=self.arguments,
            act=_with_variables(_with_last(self.act, client), variables),
            target=target,
            in_doubt=InDoubt(look=look, **_part(self.options, InDoubt)),
            mock=_mock_with(self._companions.mock, client),
            keeps_state=_keeps_state(self._companions.mock),
            **_part(self.options, Tool),
        )

    def _refuse_second(self, option: str, declared: object) -> None:
        if self._companions.closed:
            raise ConfigError(f"The tool {self.name} is already in use: declare its {option} in its own module.")
        if declared is not None:
            raise ConfigError(f"The tool {self.name} declares its {option} twice: keep one of them.")


AnyDeclaration: TypeAlias = ToolDeclaration[object, Any]
"""A declaration of a tool without a client, with any argument class."""


@dataclass(frozen=True, slots=True)
class Decorator:
    """The decorator that `tool` returns. It makes a declaration from a function."""

    options: ToolOptions
    variables: ToolVariables
    place: Callable[[Origin, Any], Place] | None

    @overload
    def __call__(self, act: Callable[[Call, A], Awaitable[ToolResult]]) -> ToolDeclaration[object, A]: ...

    @overload
    def __call__(self, act: Callable[[C_contra, Call, A], Awaitable[ToolResult]]) -> ToolDeclaration[C_contra, A]: ...

    def __call__(self, act: Callable[..., Awaitable[ToolResult]]) -> ToolDeclaration[Any, Any]:
        """Return the declaration. Raises ConfigError for a function that cannot be a tool."""
        name = act.__name__
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"The name {name[:80]} is not allowed for a tool: use up to 64 characters of a-z, 0-9 and `_`."
            )
        _check_options(name, self.options)
        description = " ".join((inspect.getdoc(act) or "").split())
        if not description:
            raise ConfigError(
                f"The tool {name} has no docstring: describe for the model what the tool does and when to use it."
            )
        companions = _Companions(place=self.place)
        return ToolDeclaration(name, description, _arguments_of(act), act, self.options, self.variables, companions)


def tool(
    *,
    place: Callable[[Origin, Any], Place] | None = None,
    secrets: tuple[str, ...] = (),
    settings: tuple[str, ...] = (),
    **options: Unpack[ToolOptions],
) -> Decorator:
    """Return the decorator that declares a typed function as a tool.

    `place` is `Target.where`. `secrets` and `settings` name environment variables that the tool reads with
    `call.secret` and `call.setting`.
    """
    return Decorator(options, ToolVariables(secrets, settings), place)


def bind_all(tools: Sequence[ToolDeclaration[C_contra, Any]], client: C_contra, system: str = "") -> list[AnyTool]:
    """Return tools of one system, bound to the client that they share."""
    return [declared.bind(client, system=system) for declared in tools]


def _part(options: ToolOptions, group: type[Target[Any] | InDoubt[Any] | Tool[Any]]) -> dict[str, Any]:
    """Return the options that are fields of `group`."""
    names = {field.name for field in fields(group)}
    return {name: value for name, value in options.items() if name in names}


def _check_options(name: str, options: ToolOptions) -> None:
    """Raise ConfigError for wrong options, because no type checker has seen a company's module."""
    if options.get("effect") not in get_args(Effect):
        raise ConfigError(f"The tool {name} has no valid `effect`: write one of {', '.join(get_args(Effect))}.")
    if options.get("shows") not in (None, *get_args(VisibleKind)):
        raise ConfigError(f"The tool {name} has no valid `shows`: write one of {', '.join(get_args(VisibleKind))}.")
    unknown = sorted(options.keys() - ToolOptions.__annotations__.keys())
    if unknown:
        raise ConfigError(f"The tool {name} has the unknown option `{unknown[0]}`: correct it or leave it out.")


def _arguments_of(act: Callable[..., object]) -> type[Arguments]:
    """Return the class that annotates the last parameter of a tool's function."""
    try:
        signature = inspect.signature(act, eval_str=True)
    except NameError as error:
        raise ConfigError(f"The tool {act.__name__} has an annotation that cannot be read: {error}.") from error
    parameters = list(signature.parameters.values())
    if len(parameters) in (_WITH_CLIENT - 1, _WITH_CLIENT):
        found: object = parameters[-1].annotation
        if isinstance(found, type) and issubclass(found, Arguments):
            return found
    raise ConfigError(
        f"The tool {act.__name__} must take the call and its arguments, and before them a client if it needs one: "
        "annotate the last parameter with a class of its own that inherits from Arguments."
    )


@overload
def _with_last(function: None, client: object) -> None: ...


@overload
def _with_last(function: Callable[..., R], client: object) -> Callable[..., R]: ...


@overload
def _with_last(function: Callable[..., R] | None, client: object) -> Callable[..., R] | None: ...


def _with_last(function: Callable[..., R] | None, client: object) -> Callable[..., R] | None:
    """Return a function that calls another with the last of (client, *its own arguments), as many as it takes."""
    if function is None:
        return None
    taken = len(inspect.signature(function).parameters)
    return partial(_call_with_last, function, taken, client)


def _keeps_state(mock: Callable[..., ToolResult] | None) -> bool:
    return mock is not None and [*inspect.signature(mock).parameters][-1:] == [_STATE]


def _mock_with(mock: Callable[..., ToolResult] | None, client: object) -> Callable[..., ToolResult] | None:
    """Return a mock as `_with_last` does. One that keeps state gets that of its call after its own arguments."""
    if mock is None or not _keeps_state(mock):
        return _with_last(mock, client)
    taken = len(inspect.signature(mock).parameters)

    def with_state(call: Call, arguments: Arguments) -> ToolResult:
        return _call_with_last(mock, taken, client, call, arguments, call.run.state)

    return with_state


@overload
def _with_variables(function: None, variables: Variables) -> None: ...


@overload
def _with_variables(function: Callable[[Call, A], R], variables: Variables) -> Callable[[Call, A], R]: ...


@overload
def _with_variables(function: Callable[[Call, A], R] | None, variables: Variables) -> Callable[[Call, A], R] | None: ...


def _with_variables(function: Callable[[Call, A], R] | None, variables: Variables) -> Callable[[Call, A], R] | None:
    """Return a function that adds the values of variables to the call."""
    if function is None or not variables:
        return function
    return lambda call, arguments: function(replace(call, variables=variables), arguments)


def _call_with_last(function: Callable[..., R], taken: int, *given: object) -> R:
    return function(*given[len(given) - taken :])
