"""The protocol of deliveries: where they arrive, what proves them, what their events carry, and as whom Gofer acts."""

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
"""How long a start waits for each answer at most."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnAccount(Generic[T]):
    """How one system says as whom Gofer acts there."""

    system: str
    setting: Setting[T]
    """What names the account instead."""
    request: Callable[[SourceSettings], HttpRequest | None]
    """Returns the request that asks for the account; None without a token."""
    found: Callable[[Mapping[str, object]], T]
    """Returns the account of an answer; empty where the answer does not say it."""
    is_needed: bool = True
    """Whether what Gofer writes would start it again without it; the start then warns, and receivers on AWS refuse."""


async def look_up(account: OwnAccount[T], settings: SourceSettings, http: Http) -> T:
    """Return the account of a token, or what the setting says; what cannot be found out is a warning and empty."""
    named = settings[account.setting]
    request = account.request(settings)
    if named or request is None:
        return named
    try:
        response = await http.send(request)
        if response.status == 200 and (found := account.found(as_object(decode(response.body)))):
            return found
        why = f"HTTP {response.status}"
    except BadRequest:
        why = "the answer is no JSON"
    except TemporaryError as error:
        why = str(error)
    if account.is_needed:
        _warn(account, why)
    return named


def _warn(account: OwnAccount[T], why: str) -> None:
    _log.warning(
        "%s does not say whom Gofer's token belongs to (%s), so that what Gofer writes there may start it again; "
        "correct the token, or set %s.",
        account.system,
        why,
        account.setting.name,
    )


AnySetting = Setting[Any]


def nothing(settings: SourceSettings) -> Sequence[str]:
    """Return no sentence: the source needs no setting in order to be served."""
    return ()


def _unrestricted(event: Event) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Registration:
    """How a source registers its secret: it offers one to its receiver, and an operator confirms it in the source."""

    secret: str
    """The secret as people know it."""
    file: str
    """Where it is kept on one machine, in the folder of the state."""
    confirmed: str
    """Where an operator pastes it."""


def _as_it_is(text: str) -> str:
    return text


def _as_they_are(fact: str, words: Sequence[str]) -> Sequence[str]:
    return words


def _no_clause(fact: str, wanted: Sequence[str]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class EventSpec:
    """What the events of one source carry: the facts that conditions ask for, and the words for them."""

    places: Mapping[str, str] = field(default_factory=dict[str, str])
    """The facts that say where an event happened, with the condition of workflow files that asks for each."""
    place_of_kind: Mapping[str, str] = field(default_factory=dict[str, str])
    """The condition that asks for the place in events of one kind alone, by the kind."""
    conditions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other conditions of workflow files by their fact, where the names differ."""
    changes: Collection[str] = ()
    """The facts that say what changed, in the words of conditions."""
    read_later: Mapping[str, str] = field(default_factory=dict[str, str])
    """Facts that a run reads before it decides, in words for people."""
    clause: Callable[[str, Sequence[str]], str] = _no_clause
    """Returns why the condition on a fact with these words is not met; empty where the fact and its words say it."""
    written: Callable[[str, Sequence[str]], Sequence[str]] = _as_they_are
    """Returns words of a condition on a fact as workflow files have them."""
    found: Callable[[str, Sequence[str]], Sequence[str]] = _as_they_are
    """Returns the words of a fact in the form that conditions have."""
    said: Callable[[str], str] = _as_it_is
    """Returns the text of an event as its author reads it."""


@dataclass(frozen=True, slots=True)
class ReceiverSpec:
    """One source from outside that sends deliveries."""

    source: str
    """As events name it."""
    system: str
    """As people know it."""
    path: str
    """Where its events arrive."""
    secret: Setting[Sequence[Secret]]
    """What proves its deliveries."""
    make: Callable[[SourceSettings, Registering | None], Mapping[str, Receiver]]
    """Returns its receivers by path; none while it is not set up. The window is open while a secret is registered."""
    unverified: Receiver
    """Translates a payload that a person has in a file."""
    token: Setting[Secret]
    """The credential with which Gofer reaches it."""
    acts_with: Sequence[AnySetting]
    """What a worker needs in order to act in it, the token among them."""
    events: EventSpec = EventSpec()
    """What its events carry."""
    account: OwnAccount[Any] | None = None
    """As whom Gofer acts in it; None where what Gofer writes starts nothing in any case."""
    listens_with: Setting[Secret] | None = None
    """What lets Gofer hear of events without a receiver, such as a connection that Gofer opens."""
    serves_with: Sequence[AnySetting] = ()
    """Other settings, of the pages and of a process on one machine."""
    more_paths: Sequence[str] = ()
    """Where else it delivers."""
    kind_header: str = ""
    """The header that says what happened, with an example, such as `X-Event: push`; empty for the body."""
    registration: Registration | None = None
    """None where an operator copies the secret from the source."""
    is_restricted: Callable[[Event], bool] = _unrestricted
    """Whether an event is about an object that not all colleagues may see."""
    missing: Callable[[SourceSettings], Sequence[str]] = nothing
    """Returns a sentence for each setting without which Gofer cannot be served."""
    confused: Callable[[SourceSettings], Sequence[str]] = nothing
    """Returns a sentence for each setting that holds another kind of value."""

    @property
    def paths(self) -> Sequence[str]:
        """Every path at which it delivers."""
        return (self.path, *self.more_paths)

    @property
    def receives_with(self) -> Sequence[AnySetting]:
        """What its receiver needs: the secret, and as whom Gofer acts there."""
        if self.account is None:
            return (self.secret,)
        return (self.secret, self.account.setting)

    @property
    def settings(self) -> Sequence[AnySetting]:
        """Every setting of it, once."""
        listening = [] if self.listens_with is None else [self.listens_with]
        every = [*self.receives_with, *listening, *self.acts_with, *self.serves_with]
        return list({setting.name: setting for setting in every}.values())
