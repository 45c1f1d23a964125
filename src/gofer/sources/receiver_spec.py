"""What a source says of its deliveries: where they arrive, what proves them, and how its receiver is made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gofer.sources.own_account import OwnAccount
from gofer.sources.receiver import Receiver, Registering
from gofer.sources.settings import Setting, SourceSettings
from gofer.values.events import Event
from gofer.values.secret import Secret

AnySetting = Setting[Any]


def nothing(settings: SourceSettings) -> Sequence[str]:
    """Return no sentence: the source needs no setting in order to be served."""
    return ()


def _open(event: Event) -> bool:
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
    account: OwnAccount[Any] | None = None
    """As whom Gofer acts in it; None where what Gofer writes starts nothing in any case."""
    listens_with: Setting[Secret] | None = None
    """What lets Gofer hear of events without a receiver, such as a connection that Gofer opens."""
    serves_with: Sequence[AnySetting] = ()
    """Other settings, of the pages and of a process on one machine."""
    more_paths: Sequence[str] = ()
    """Where else it delivers."""
    kind_header: str = ""
    """The header that says what happened, with an example, such as `X-GitHub-Event: push`; empty for the body."""
    registration: Registration | None = None
    """None where an operator copies the secret from the source."""
    is_restricted: Callable[[Event], bool] = _open
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
