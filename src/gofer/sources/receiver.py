"""Deliveries, the possible decisions about a delivery, and the protocol of receivers."""

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event
from gofer.values.secret import Secret

BODY_LIMIT = 1_000_000
"""The most bytes of a request body that are read; vendors' events are far smaller."""
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class RawRequest:
    """An HTTP request as it arrived: nothing is decoded, and repeated headers stay separate."""

    method: str
    path: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    query: str = ""
    """The query string as it arrived, without its question mark."""

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None when the header is missing or repeated."""
        values = [value for key, value in self.headers if key.lower() == name]
        return values[0] if len(values) == 1 else None


@dataclass(frozen=True, slots=True)
class Reply:
    """The HTTP answer to the sender."""

    status: int
    body: bytes = b""
    media_type: str = "text/plain; charset=utf-8"
    headers: Sequence[tuple[str, str]] = ()
    """Further headers."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """A vendor's test of the URL; the vendor expects `echo` back."""

    echo: str
    media_type: str = "text/plain; charset=utf-8"
    headers: Sequence[tuple[str, str]] = ()
    """Headers that the vendor expects back."""

    def reply(self) -> Reply:
        """Return the answer, which no browser takes for a page."""
        headers = (("X-Content-Type-Options", "nosniff"), *self.headers)
        return Reply(200, self.echo.encode(), self.media_type, headers)


@dataclass(frozen=True, slots=True)
class Registration:
    """A vendor's offer of the secret with which it will sign, made while an operator waits for it."""

    token: Secret
    """The offered secret.

    Only the operator who opened the window may see it. Nothing proves that the vendor sent it.
    """


IgnoredCode = Literal[
    "type_missing",
    "type_unknown",
    "incomplete",
    "own_act",
    "other_bot",
    "own_account_unknown",
    "not_a_new_message",
    "sent_again",
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
    "no_feedback",
    "feedback_too_late",
    "rate_limited",
    "tokens_revoked",
    "uninstalled",
]
"""The reasons why a genuine delivery starts nothing. The log counts by these codes and keeps no text by senders."""
ACT_NOW: frozenset[IgnoredCode] = frozenset({"rate_limited", "tokens_revoked", "uninstalled", "team_unknown"})
"""Codes that an operator must act on. Until then, further deliveries of that kind start nothing either."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A genuine delivery that starts nothing, with a reason for people."""

    code: IgnoredCode
    reason: str
    actor: Actor | None = None
    """The person or app that caused the delivery, if the delivery names one."""
    logged: str = ""
    """The reason for the log, when `reason` repeats text by the sender; else empty."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A request to stop runs: the runs that an event started, or the runs of a conversation."""

    by: str
    """The person or system that requests the stop, as shown to people."""
    item: str
    """The id of the request; repeated deliveries of one request have the same id."""
    source: str
    kinds: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    """The identity of the event, whose kind is one of `kinds`; empty when the request names a conversation."""
    conversation: str = ""
    """The conversation as events name it. A trailing `*` matches all conversations with that prefix."""
    of: str = ""
    """The actor whose runs are to stop; empty for the runs of every actor."""
    on: str = ""
    """The ts of the message that the runs are about or have written; empty for any message."""
    silent: bool = False
    """Whether the runs stop without a message, because no reader is left."""
    actor: Actor | None = None
    former: "Sequence[Stop]" = ()
    """The same request with the names that earlier versions gave the event or the conversation."""


@dataclass(frozen=True, slots=True)
class Click:
    """A press of a button for a decision; its token names the decision."""

    token: str
    """The value that Gofer gave the button. It must be verified before use."""
    actor: Actor
    at: int
    """The time of the press in unix milliseconds, by the source's clock."""


@dataclass(frozen=True, slots=True)
class PossibleFeedback:
    """An emoji on a message of Gofer's, or a reply that begins with an emoji.

    It is feedback if the settings name the emoji and Gofer answered there.
    """

    source: str
    on: tuple[str, ...]
    """The identity of the message, or of the thread, as the source's `Messages.identity` names it."""
    emoji: str
    """The name of the emoji without colons."""
    actor: Actor
    at: int
    """The time of the act in unix microseconds, by the source's clock."""
    in_thread: bool = False
    """Whether it is a reply in the thread `on`. If it is feedback, it starts no workflow."""
    withdrawn: bool = False
    """Whether the person took the emoji back."""
    words: str = ""
    """The words after the emoji."""
    event: Event | None = None
    """The event that the same delivery is; None if it starts no workflow in any case."""
    former: Sequence[tuple[str, ...]] = ()
    """The identities that earlier versions gave the message or the thread."""


Arrival: TypeAlias = Event | Stop | Click | PossibleFeedback | Handshake | Registration | Ignored
"""The possible meanings of a delivery."""


class Receiver(Protocol):
    """The verifier and translator of one source's deliveries."""

    def verify(self, request: RawRequest, now: float) -> None:
        """Verify that the source itself sent the raw bytes, at about `now`. Raises BadRequest(401) otherwise."""
        ...

    def translate(self, request: RawRequest) -> Arrival:
        """Return the meaning of a verified delivery. Raises BadRequest(400) for a body not in the source's form."""
        ...


@runtime_checkable
class Tested(Protocol):
    """A receiver of sources that test the URL before they send."""

    def handshake(self, request: RawRequest) -> Handshake | None:
        """Return the answer to a test of the URL that carries no proof of its sender; None for any other request."""
        ...


@runtime_checkable
class ForWorkflows(Protocol):
    """A receiver of events of which each workflow gets only the parts that its file names."""

    def for_workflow(self, event: Event, workflow: str) -> Event:
        """Return an event as the runs of a workflow get it."""
        ...


class Registering(Protocol):
    """A time window in which Gofer accepts the secret that a vendor offers."""

    @property
    def secrets(self) -> Sequence[Secret]:
        """Return the secrets that deliveries may be signed with, an accepted secret included."""
        ...

    def is_open(self) -> bool:
        """Return whether Gofer would accept a secret now."""
        ...

    async def register(self, offered: Registration) -> None:
        """Store the first offered secret and close the window. Raises BadRequest(403) for another, TemporaryError."""
        ...


def refuse_unverified(request: RawRequest, now: float) -> None:
    """Refuse every delivery. Receivers that only translate payloads from files verify with this."""
    raise BadRequest(401, "This receiver reads payloads from files only.")


def is_form(raw: bytes) -> bool:
    """Return whether a body is a form whose field `payload` holds JSON, as some vendors send it."""
    return raw.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"payload=")


def json_object(body: bytes) -> Mapping[str, object]:
    """Return the JSON object of a body. Raises BadRequest(400)."""
    value = decode(body)
    if not isinstance(value, dict):
        raise BadRequest(400, "The body is not a JSON object.", code="body_not_object")
    return as_object(value)  # pyright: ignore[reportUnknownArgumentType]


def unknown_type(what: str, kind: str, actor: Actor | None = None) -> Ignored:
    """Return the decision for a delivery of no known type. `what` names such deliveries, for example `events`."""
    if not kind:
        return Ignored("type_missing", "its type, which tells what happened, is missing or is not text", actor)
    logged = f"{what} of its type start nothing; unsubscribe in the sender from types that no workflow needs"
    return Ignored("type_unknown", f"{what} of type {kind[:40]!r} start nothing", actor, logged)


def incomplete(parts: Mapping[str, object], actor: Actor | None = None) -> Ignored | None:
    """Return the decision for a delivery that lacks parts; None when it is complete."""
    if reason := lacking(parts):
        return Ignored("incomplete", reason, actor)
    return None


def lacking(parts: Mapping[str, object]) -> str:
    """Return a clause that names the empty parts, such as `it lacks a team and a ts`; empty when no part is empty."""
    missing = [name for name, part in parts.items() if not part]
    if not missing:
        return ""
    *before, last = missing
    return f"it lacks {' and '.join(filter(None, [', '.join(before), last]))}"


def check_window(timestamp: int, now: float, window: int, what: str) -> None:
    """Raise BadRequest(401) for a signed time that is too far from now; `what` begins the sentence.

    The sender gets the same sentence for past and future times. The log has different codes, because a late delivery
    and a wrong clock need different remedies.
    """
    age = int(now) - timestamp
    message = f"{what} is valid only within {window} seconds of its timestamp."
    if age > window:
        raise BadRequest(401, message, code="timestamp_old")
    if age < -window:
        raise BadRequest(401, message, code="timestamp_future")
