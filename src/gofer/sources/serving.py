"""The parts of a source for serving: an app to install, a connection, a sign-in to the pages.

The registries `apps.py`, `connections.py` and `sign_ins.py` list the sources that have such a part.
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
from gofer.values.proxies import Proxies
from gofer.values.secret import Secret
from gofer.values.supervisor import Supervisor
from gofer.workflows.load import Loaded
from gofer.workflows.schema import Workflow

CALLBACK = "/sign-in/callback"
"""The path to which a system sends people back after they sign in to the pages."""
Receive = Callable[[Receiver, RawRequest], Awaitable[Reply]]
"""Processes a delivery that is already verified, as `Ingress.receive_verified` does."""


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """The app that a token belongs to."""

    workspace: str
    user: str
    """The name of the app's bot user."""
    scopes: frozenset[str] | None
    """The permissions of the app; None when the system does not report them."""


@dataclass(frozen=True, slots=True)
class AppAddress:
    """The name of the app for people, and the way in which the system reaches it."""

    name: str
    """The name that colleagues mention."""
    url: str
    """The public URL of Gofer; empty with `socket`."""
    socket: bool
    """Whether Gofer opens the connection to the system."""
    sign_in: str = ""
    """The URL to which the system sends people back after they sign in; empty without a sign-in."""


@dataclass(frozen=True, slots=True)
class AppSpec:
    """An app that an operator installs in a system, with the permissions that the workflows need."""

    source: str
    system: str
    token: Setting[Secret]
    longest_name: int
    installing: str
    """The sentence that tells the operator how to create the app from its manifest."""
    manifest: Callable[[Iterable[Workflow], Iterable[AnyTool], AppAddress], Mapping[str, object]]
    """Returns the manifest as plain JSON. Raises ConfigError if no workflow needs the app."""
    needed: Callable[[Iterable[Workflow], Iterable[AnyTool]], Iterable[str]]
    """Returns the scopes that the workflows need."""
    identify: Callable[[SourceSettings, Http], Awaitable[InstalledApp]]
    """Returns the app of the token. Raises ConfigError for a token that is refused, TemporaryError."""
    notify: Callable[[SourceSettings, Http, str, str], Awaitable[None]]
    """Posts a text of the process itself into a channel, beside any run.

    Raises Unsent if it was not posted, and TemporaryError if that is not known.
    """


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection that Gofer opens itself to receive deliveries."""

    source: str
    name: str
    """The name of the connection, for people."""
    token: Setting[Secret]
    """The setting with the credential for the connection."""
    module: str
    """The module with the `connected` of Connecting. It is imported when the connection opens, because not each
    company installs its libraries."""


class Connecting(Protocol):
    """A module that opens a connection."""

    def connected(
        self, settings: SourceSettings, receive: Receive, supervisor: Supervisor, proxies: Proxies
    ) -> AbstractAsyncContextManager[None]:
        """Pass deliveries to `receive` while the block runs, with parts that `supervisor` keeps.

        Raises ConfigError, TemporaryError.
        """
        ...


class PageRefused(TemporaryError):
    """A system refused a request that a page needs. `call` is the request and `code` the system's own reason."""

    def __init__(self, system: str, call: str, code: str, remedy: str) -> None:
        """Create the error. `remedy` tells the operator what to do; it is empty when only waiting helps."""
        super().__init__(f"{system} refused {call} ({code})")
        self.system = system
        self.call = call
        self.code = code
        self.remedy = remedy


class Members(Protocol):
    """The people and places of a system. Each coroutine raises PageRefused if the system does not answer."""

    async def check_member(self, user: str, team: str) -> None:
        """Raise BadRequest(403) unless a person is currently a full member."""
        ...

    def place(self, event: Event) -> str:
        """Return the id of the place of an event; empty for an event of another system."""
        ...

    def is_direct(self, place: str) -> bool:
        """Return whether a place has exactly one reader besides Gofer."""
        ...

    async def is_in(self, place: str, user: str) -> bool:
        """Return whether a person is a member of a place."""
        ...

    async def is_private(self, place: str) -> bool:
        """Return whether a place is currently private."""
        ...

    async def place_of_owner(self, owner: str) -> str:
        """Return the id of the place that a workflow's `owner` names; empty when it names none."""
        ...

    async def private_places(self, loaded: Loaded) -> Sequence[str] | None:
        """Return the private places that a workflow is restricted to; None when every member may read about it."""
        ...


class Identities(Protocol):
    """A system in which people sign in to the pages."""

    system: ClassVar[str]
    """The name of the system, for people."""
    authorize_path: ClassVar[str]
    """The path of the system's page on which a person consents."""

    @property
    def members(self) -> Members:
        """Return the people and places of the system."""
        ...

    @property
    def pages_url(self) -> str:
        """Return the URL of Gofer's pages without a slash at the end."""
        ...

    async def authorize_url(self, state: str, nonce: str) -> str:
        """Return the URL to which a browser is redirected to sign in. Raises PageRefused."""
        ...

    async def member(self, code: str, nonce: str, now: float) -> tuple[str, str]:
        """Return the ids of the full member who signed in with a code and of the workspace.

        Raises BadRequest, PageRefused.
        """
        ...


@dataclass(frozen=True, slots=True)
class SignInSpec:
    """The sign-in of people to the pages."""

    system: str
    needed: Sequence[AnySetting]
    """The settings without which no person can sign in."""
    settings: Sequence[AnySetting]
    """All settings that the sign-in reads."""
    own: Sequence[AnySetting]
    """The settings that nothing but the sign-in reads."""
    make: Callable[[SourceSettings, Http, str], Identities]
    """Returns the identities of the system for pages at a URL."""
    members: Callable[[SourceSettings, Http], Members | None]
    """Returns the people and places of the system for pages without a sign-in; None without a credential."""
