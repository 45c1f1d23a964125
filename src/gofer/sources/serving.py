"""The parts of a source that serving needs beside its runs: an app to install, a connection, a sign-in to the pages.

A source without such a part is in no registry of it (`apps.py`, `connections.py`, `sign_ins.py`).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import ClassVar, Protocol

from gofer.sources.receiver import RawRequest, Receiver, Reply
from gofer.sources.receiver_spec import AnySetting
from gofer.sources.settings import Setting, SourceSettings
from gofer.tools.definition import AnyTool
from gofer.values.errors import TemporaryError
from gofer.values.events import Event
from gofer.values.outside import Http
from gofer.values.secret import Secret
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Workflow

CALLBACK = "/sign-in/callback"
"""The path of the pages to which a system sends people back who sign in."""
Receive = Callable[[Receiver, RawRequest], Awaitable[Reply]]
"""Takes a delivery whose sender is known, as `Ingress.receive_verified`."""


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """The app that a token belongs to."""

    workspace: str
    user: str
    """Name of its bot user."""
    scopes: frozenset[str] | None
    """What it may do; None when the system did not say."""


@dataclass(frozen=True, slots=True)
class AppAddress:
    """How a system reaches the app, and how people know the app."""

    name: str
    """What colleagues mention."""
    url: str
    """Where Gofer can be reached; empty with `socket`."""
    socket: bool
    """Whether Gofer opens the connection."""
    sign_in: str = ""
    """The URL that the system sends people back to who sign in to the pages; empty where nobody does."""


@dataclass(frozen=True, slots=True)
class AppSpec:
    """An app that an operator installs in a system, with what the workflows need there."""

    source: str
    system: str
    token: Setting[Secret]
    longest_name: int
    installing: str
    """How an operator makes the app of its manifest, as a sentence."""
    manifest: Callable[[Iterable[Workflow], Iterable[AnyTool], AppAddress], Mapping[str, object]]
    """Returns the manifest as plain JSON. Raises ConfigError where no workflow needs the app."""
    needed: Callable[[Iterable[Workflow], Iterable[AnyTool]], Iterable[str]]
    """Returns the scopes that the workflows need."""
    identify: Callable[[SourceSettings, Http], Awaitable[InstalledApp]]
    """Returns the app of the token. Raises ConfigError for a token that is refused, TemporaryError."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection that Gofer opens itself, through which deliveries come."""

    source: str
    name: str
    """As people know it."""
    token: Setting[Secret]
    """The setting that opens it."""
    open: Callable[[SourceSettings, Receive], AbstractAsyncContextManager[None]]
    """Passes deliveries on while the block runs. Raises ConfigError, TemporaryError."""


class PageRefused(TemporaryError):
    """A system did not do what a page needs; `call` is the request and `code` the reason in the system's words."""

    def __init__(self, system: str, call: str, code: str, remedy: str) -> None:
        """Take also what the operator does; an empty remedy means that time alone helps."""
        super().__init__(f"{system} refused {call} ({code})")
        self.system = system
        self.call = call
        self.code = code
        self.remedy = remedy


class Members(Protocol):
    """The people of a system and its places; a coroutine raises PageRefused where the system does not say."""

    async def check_member(self, user: str, team: str) -> None:
        """Raise BadRequest(403) unless a person is a full member now."""
        ...

    def place(self, event: Event) -> str:
        """Return the id of the place of an event; empty for an event of another system."""
        ...

    def is_direct(self, place: str) -> bool:
        """Return whether a place has one reader besides Gofer."""
        ...

    async def is_in(self, place: str, user: str) -> bool:
        """Return whether a person is in a place."""
        ...

    async def is_private(self, place: str) -> bool:
        """Return whether a place is private by now."""
        ...

    async def place_of_owner(self, owner: str) -> str:
        """Return the id of the place that the owner of a workflow names; empty where there is none."""
        ...

    async def private_places(self, loaded: Loaded) -> Sequence[str] | None:
        """Return the private places in which alone a workflow listens; None where every member may read it."""
        ...


class Identities(Protocol):
    """A system in which people sign in to the pages."""

    system: ClassVar[str]
    """As people know it."""
    authorize_path: ClassVar[str]
    """The page on which a person agrees."""

    @property
    def members(self) -> Members:
        """Return its people and places."""
        ...

    @property
    def pages_url(self) -> str:
        """Return where colleagues open Gofer's pages, without a slash at the end."""
        ...

    async def authorize_url(self, state: str, nonce: str) -> str:
        """Return where a browser is sent to sign in. Raises PageRefused."""
        ...

    async def member(self, code: str, nonce: str, now: float) -> tuple[str, str]:
        """Return the ids of the full member of a code and of their workspace. Raises BadRequest, PageRefused."""
        ...


@dataclass(frozen=True, slots=True)
class SignInSpec:
    """How people sign in to the pages."""

    system: str
    needed: Sequence[AnySetting]
    """The settings without which no person can sign in."""
    settings: Sequence[AnySetting]
    """All settings that it reads."""
    make: Callable[[SourceSettings, Http, str], Identities]
    """Returns the system for the pages at a URL."""
