"""Deliveries, what a source's receiver decides about one, and the protocol of receivers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event
from gofer.values.secret import Secret

BODY_LIMIT = 1_000_000
"""Bytes of a request that are read at most; vendors' events stay far below."""
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class RawRequest:
    """An HTTP request as it arrived: nothing decoded, repeated headers kept apart."""

    method: str
    path: str
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, or None when it is missing or stands there more than once."""
        values = [value for key, value in self.headers if key.lower() == name]
        return values[0] if len(values) == 1 else None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the sender gets."""

    status: int
    body: bytes = b""
    media_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Handshake:
    """A vendor's test of the URL; `echo` is what it wants back."""

    echo: str


@dataclass(frozen=True, slots=True)
class Registration:
    """A vendor offers the secret that it will sign with, while an operator waits for one."""

    token: Secret
    """To be kept for the one who opened the window, and shown to nobody else; proved by nothing but itself."""


IgnoredCode = Literal[
    "type_missing",
    "type_unknown",
    "incomplete",
    "own_act",
    "other_bot",
    "own_account_unknown",
    "not_a_new_message",
    "told_elsewhere",
    "not_a_message",
    "not_a_branch",
    "no_open_window",
    "no_own_button",
    "other_team",
    "team_unknown",
    "no_schedule",
    "no_listener",
    "conditions",
    "nothing_to_stop",
    "click_too_late",
    "rate_limited",
    "tokens_revoked",
    "uninstalled",
]
"""Why a genuine delivery starts nothing. The log counts by these, so that nothing a sender writes is kept."""
ACT_NOW: frozenset[IgnoredCode] = frozenset({"rate_limited", "tokens_revoked", "uninstalled", "team_unknown"})
"""Codes of deliveries that an operator has to act on: without that, nothing of their kind counts."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A genuine delivery that starts nothing, with one reason for people."""

    code: IgnoredCode
    reason: str
    actor: Actor | None = None
    """Who did it, where the delivery says so."""
    logged: str = ""
    """The reason without what the sender wrote, where `reason` repeats a word of it; else empty."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A person wants runs to stop: those that a happening started, or those of a conversation."""

    by: str
    """Who or what asks, as people will read it."""
    item: str
    """The same for every delivery of the same wish."""
    source: str
    kinds: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    """What happened, as the event of one of `kinds` that told of it has it; empty when a conversation is meant."""
    conversation: str = ""
    """As events name it; one that ends with `*` stands for all that begin so."""
    of: str = ""
    """Only runs that this actor started; empty is anybody's."""
    on: str = ""
    """Only runs that are about the message with this ts, or wrote it; empty is any."""
    silent: bool = False
    """Whether nobody is left to be told that they stopped."""
    actor: Actor | None = None


@dataclass(frozen=True, slots=True)
class Click:
    """A person pressed a button for a decision; its token says which one."""

    token: str
    """What Gofer wrote into the button; to be verified before anything of it is believed."""
    actor: Actor
    at: int
    """When, in unix milliseconds, by the source's clock."""


Arrival: TypeAlias = Event | Stop | Click | Handshake | Registration | Ignored
"""What a delivery can mean."""


class Receiver(Protocol):
    """The entrance of one source."""

    def verify(self, request: RawRequest, now: float) -> None:
        """Raises BadRequest(401) unless the sender proved who it is, over the raw bytes, around `now`."""
        ...

    def translate(self, request: RawRequest) -> Arrival:
        """What a verified delivery means. Raises BadRequest(400) for a body that is not of the source's form."""
        ...


class Registering(Protocol):
    """A window in which a vendor's offered secret is taken."""

    @property
    def secrets(self) -> Sequence[Secret]:
        """What deliveries may be signed with; a secret that is taken is added."""
        ...

    def is_open(self) -> bool:
        """Return whether a secret would be taken now."""
        ...

    async def register(self, offered: Registration) -> None:
        """Keep the first secret and close. Raises BadRequest(403) for another one, TemporaryError."""
        ...


def refuse_unverified(request: RawRequest, now: float) -> None:
    """Refuse a delivery: receivers for payloads that a person has in a file verify none."""
    raise BadRequest(401, "Nobody is let in here.")


def is_form(raw: bytes) -> bool:
    """Return whether a body is a vendor's JSON in a form, as some vendors send it."""
    return raw.lstrip().startswith(b"payload=")


def json_object(body: bytes) -> Mapping[str, object]:
    """A body that is one JSON object. Raises BadRequest(400)."""
    value = decode(body)
    if not isinstance(value, dict):
        raise BadRequest(400, "The body is not a JSON object.", code="body_not_object")
    return as_object(value)  # pyright: ignore[reportUnknownArgumentType]


def unknown_type(what: str, kind: str, actor: Actor | None = None) -> Ignored:
    """Return why a delivery of no known type starts nothing; `what` names deliveries: `events`."""
    if not kind:
        return Ignored("type_missing", "its type, which says what happened, is missing or no text", actor)
    logged = f"{what} of its type start nothing; take those from the sender that no workflow needs"
    return Ignored("type_unknown", f"{what} of type {kind[:40]!r} start nothing", actor, logged)


def incomplete(parts: Mapping[str, object], actor: Actor | None = None) -> Ignored | None:
    """Return why a delivery that lacks parts starts nothing; None when it is complete."""
    if said := lacking(parts):
        return Ignored("incomplete", said, actor)
    return None


def lacking(parts: Mapping[str, object]) -> str:
    """Return which parts are empty, by their names: `it lacks a team and a ts`. Empty when none is."""
    missing = [name for name, part in parts.items() if not part]
    if not missing:
        return ""
    *before, last = missing
    return f"it lacks {' and '.join(filter(None, [', '.join(before), last]))}"


def check_window(timestamp: int, now: float, window: int, what: str) -> None:
    """Raise BadRequest(401) for a signed time that is too far from now; `what` begins the sentence.

    The sender is told the same either way. The log tells a late delivery from a clock that is wrong.
    """
    age = int(now) - timestamp
    said = f"{what} is good for {window} seconds around its timestamp only."
    if age > window:
        raise BadRequest(401, said, code="timestamp_old")
    if age < -window:
        raise BadRequest(401, said, code="timestamp_future")
