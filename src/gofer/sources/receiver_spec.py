"""The specification of a source's deliveries: paths, secrets, facts of events, and Gofer's own account."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from gofer.sources.receiver import Receiver, Registering
from gofer.sources.settings import Setting, SourceSettings
from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest, TemporaryError
from gofer.values.events import Event
from gofer.values.outside import Http, HttpRequest
from gofer.values.secret import Secret

SECONDS = 5.0
"""The longest wait for each answer while Gofer starts."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnAccount(Generic[T]):
    """The way to find out Gofer's own account in a system."""

    system: str
    setting: Setting[T]
    """The setting that names the account without a request."""
    request: Callable[[SourceSettings], HttpRequest | None]
    """Returns the request for the account; None without a token."""
    found: Callable[[Mapping[str, object]], T]
    """Returns the account that an answer names; empty when it names none."""
    is_needed: bool = True
    """Whether Gofer's own writes would start Gofer again if the account is unknown.

    Then Gofer logs a warning at its start, and receivers on AWS refuse deliveries.
    """


async def look_up(account: OwnAccount[T], settings: SourceSettings, http: Http) -> T:
    """Return the account that the setting names, or else the account of the token.

    Log a warning when neither is known.
    """
    named = settings[account.setting]
    request = account.request(settings)
    if named or request is None:
        return named
    try:
        response = await http.send(request)
        if response.status == 200 and (found := account.found(as_object(decode(response.body)))):
            return found
        reason = f"HTTP {response.status}"
    except BadRequest:
        reason = "the answer is no JSON"
    except TemporaryError as error:
        reason = str(error)
    if account.is_needed:
        _warn(account, reason)
    return named


def _warn(account: OwnAccount[T], reason: str) -> None:
    _log.warning(
        "%s did not name the account of Gofer's token (%s), so messages that Gofer writes there may start new runs; "
        "correct the token, or set %s.",
        account.system,
        reason,
        account.setting.name,
    )


AnySetting = Setting[Any]


def nothing(settings: SourceSettings) -> Sequence[str]:
    """Return no sentence."""
    return ()


def _unrestricted(event: Event) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Registration:
    """The registration of a secret that the source offers to its receiver and an operator confirms in the source."""

    secret: str
    """The name of the secret, for people."""
    file: str
    """The file in the state folder that stores the secret on one machine."""
    confirmed: str
    """The place where the operator pastes the secret."""


def _as_it_is(text: str) -> str:
    return text


def _as_they_are(fact: str, words: Sequence[str]) -> Sequence[str]:
    return words


def _none(event: Event) -> Sequence[Event]:
    return ()


@dataclass(frozen=True, slots=True)
class Sending:
    """The id that the program of its sender gave a message, and the time of the message."""

    key: Sequence[str]
    """The id, with the place and the sender."""
    at: int
    """Unix seconds."""


def _unsent(event: Event) -> Sending | None:
    return None


def _no_clause(fact: str, wanted: Sequence[str]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class EventSpec:
    """The facts in the events of one source that conditions can refer to, and the names of these conditions."""

    places: Mapping[str, str] = field(default_factory=dict[str, str])
    """The facts that name the place of an event, each with the condition of workflow files that restricts it."""
    place_of_kind: Mapping[str, str] = field(default_factory=dict[str, str])
    """The condition that restricts the place in events of one kind only, by the kind."""
    conditions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other conditions of workflow files by their fact, if the two names differ."""
    changes: Collection[str] = ()
    """The facts that describe changes, in the words of conditions."""
    read_later: Mapping[str, str] = field(default_factory=dict[str, str])
    """Facts that a run reads before it decides, with a description for people."""
    clause: Callable[[str, Sequence[str]], str] = _no_clause
    """Returns the reason why the condition on a fact is not met; empty to use the standard sentence."""
    written: Callable[[str, Sequence[str]], Sequence[str]] = _as_they_are
    """Returns the words of a condition on a fact in the notation of workflow files."""
    found: Callable[[str, Sequence[str]], Sequence[str]] = _as_they_are
    """Returns the words of a fact in the notation of conditions."""
    said: Callable[[str], str] = _as_it_is
    """Returns the text of an event as its author sees it."""
    former: Callable[[Event], Sequence[Event]] = _none
    """Returns the event under each name that earlier versions gave it. Rows from then have these names."""
    sending: Callable[[Event], Sending | None] = _unsent
    """Returns the id that the program of its sender gave a message; None for an event without one."""


@dataclass(frozen=True, slots=True)
class ReceiverSpec:
    """The specification of one source that sends deliveries."""

    source: str
    """The name of the source in events."""
    system: str
    """The name of the system, for people."""
    path: str
    """The URL path of its deliveries."""
    secret: Setting[Sequence[Secret]]
    """The setting with the secrets that verify deliveries."""
    make: Callable[[SourceSettings, Registering | None], Mapping[str, Receiver]]
    """Returns the receivers by path, or none while the source is not set up. The window is for registering a secret."""
    unverified: Receiver
    """The receiver for payloads from files, which translates without verifying."""
    token: Setting[Secret]
    """The setting with the credential for the system's API."""
    acts_with: Sequence[AnySetting]
    """The settings that a worker needs to act in the system, the token included."""
    events: EventSpec = EventSpec()
    """The facts in its events."""
    account: OwnAccount[Any] | None = None
    """Gofer's own account in the system; None if Gofer's own writes can never start a run."""
    site: OwnAccount[str] | None = None
    """The base URL of the company's own site there; None if the system does not tell it."""
    listens_with: Setting[Secret] | None = None
    """The setting for receiving events without a receiver, such as through a connection that Gofer opens."""
    serves_with: Sequence[AnySetting] = ()
    """Other settings, for the pages and for the process on one machine."""
    more_paths: Sequence[str] = ()
    """Further URL paths of its deliveries."""
    kind_header: str = ""
    """The header that names the kind of event, with an example, such as `X-Event: push`; empty if the body names it."""
    sent_at: Sequence[str] = ()
    """The keys that lead to the time in a delivery's body; none if bodies have no time."""
    registration: Registration | None = None
    """The registration of the secret; None if the operator copies the secret from the source."""
    is_restricted: Callable[[Event], bool] = _unrestricted
    """Returns whether an event is about an object that not all colleagues may see."""
    missing: Callable[[SourceSettings], Sequence[str]] = nothing
    """Returns a sentence for each missing setting without which `gofer serve` cannot start."""
    confused: Callable[[SourceSettings], Sequence[str]] = nothing
    """Returns a sentence for each setting that holds the wrong kind of value."""

    @property
    def paths(self) -> Sequence[str]:
        """Return all URL paths of its deliveries."""
        return (self.path, *self.more_paths)

    @property
    def receives_with(self) -> Sequence[AnySetting]:
        """Return the settings that its receiver needs: the secret, and Gofer's own account."""
        if self.account is None:
            return (self.secret,)
        return (self.secret, self.account.setting)

    @property
    def settings(self) -> Sequence[AnySetting]:
        """Return all settings of the source without duplicates."""
        listening = [] if self.listens_with is None else [self.listens_with]
        every = [*self.receives_with, *listening, *self.acts_with, *self.serves_with]
        return list({setting.name: setting for setting in every}.values())
