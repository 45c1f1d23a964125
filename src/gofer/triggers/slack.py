"""Is this delivery from Slack, and what happened there?"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.canonical import as_list, as_object, as_text
from gofer.errors import BadRequest
from gofer.events import Actor, Event
from gofer.secret import Secret
from gofer.triggers.door import Handshake, Ignored, RawRequest, json_object

WINDOW = 300
"""Seconds a signature is good for."""
TEXT_LIMIT = 4_000
"""Characters of a message that its event keeps; a run reads the message itself from its thread."""
_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)
_PRIVATE = {"channel": False, "group": True, "mpim": True, "im": True, "app_home": True}
_ORDINARY = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of messages that people wrote just now."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a Slack app subscribes to so that something is told, and the scopes it needs for that."""

    events: tuple[str, ...]
    scopes: frozenset[str]


SUBSCRIPTIONS: Mapping[str, Subscription] = {
    "slack.mention": Subscription(("app_mention",), frozenset({"app_mentions:read"})),
    "slack.message": Subscription(
        ("message.channels", "message.groups"), frozenset({"channels:history", "groups:history"})
    ),
    "slack.direct": Subscription(("message.im",), frozenset({"im:history"})),
    "slack.reaction": Subscription(("reaction_added",), frozenset({"reactions:read"})),
    "slack.channel_created": Subscription(("channel_created",), frozenset({"channels:read"})),
    "slack.member_joined": Subscription(("member_joined_channel",), frozenset({"channels:read", "groups:read"})),
}
"""By the kind of event that they bring."""

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class SlackDoor:
    """The Events API of one Slack app."""

    secrets: Sequence[Secret]
    """The signing secret, and the previous one while it is being rotated."""

    def verify(self, request: RawRequest, now: float) -> None:
        """See Door.verify."""
        timestamp = request.header("x-slack-request-timestamp") or ""
        signature = request.header("x-slack-signature") or ""
        if not _TIMESTAMP.fullmatch(timestamp) or not _SIGNATURE.fullmatch(signature):
            raise BadRequest(401, "The Slack signature or its timestamp is missing or malformed.")
        if abs(int(now) - int(timestamp)) > WINDOW:
            raise BadRequest(401, "The Slack signature is too old.")
        if not any(hmac.compare_digest(sign(s, timestamp, request.body), signature) for s in self.secrets):
            raise BadRequest(401, "The Slack signature does not match.")

    def translate(self, request: RawRequest) -> Event | Handshake | Ignored:
        """See Door.translate."""
        body = json_object(request.body)
        match body.get("type"):
            case "url_verification":
                return Handshake(as_text(body.get("challenge")))
            case "event_callback":
                return _happening(body, as_object(body.get("event")))
            case other:
                return Ignored(f"deliveries of type {as_text(other)[:40]!r} start nothing")


def sign(secret: Secret, timestamp: str, body: bytes) -> str:
    """Slack's signature of a delivery: `v0=` and the HMAC-SHA256 of `v0:{timestamp}:{body}` in hex."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.reveal().encode(), base, hashlib.sha256).hexdigest()


def _happening(envelope: Fields, event: Fields) -> Event | Ignored:
    kind = as_text(event.get("type"))
    if kind not in ("app_mention", "message"):
        return Ignored(f"events of type {kind[:40]!r} start nothing", _actor(envelope, event))
    if reason := _not_a_persons_post(envelope, event):
        return Ignored(reason, _actor(envelope, event))
    if kind == "message" and not _mentions(as_text(event.get("text")), _own_user(envelope)):
        return Ignored("the message does not mention Gofer", _actor(envelope, event))
    return _mention(envelope, event)


def _not_a_persons_post(envelope: Fields, event: Fields) -> str:
    """Why nobody should be answered, or the empty string."""
    subtype = as_text(event.get("subtype"))
    user = as_text(event.get("user"))
    if _is_bot(event):
        return "a bot wrote it"
    if user and user == _own_user(envelope):
        return "Gofer wrote it"
    if subtype not in _ORDINARY or event.get("hidden"):
        return f"messages of subtype {subtype[:40]!r} start nothing"
    return "" if not event.get("edited") else "it is an edit of an earlier message"


def _is_bot(event: Fields) -> bool:
    by_bot = event.get("bot_id") or event.get("bot_profile") or event.get("subtype") == "bot_message"
    return bool(by_bot) or event.get("user") == "USLACKBOT"


def _actor(envelope: Fields, event: Fields) -> Actor | None:
    """Who is behind an event that starts nothing."""
    user = as_text(event.get("user"))
    bot = _is_bot(event) or bool(user and user == _own_user(envelope))
    name = user or as_text(event.get("bot_id"))
    return Actor(name, "bot" if bot else "person") if name else None


def _mention(envelope: Fields, event: Fields) -> Event | Ignored:
    team, user = as_text(envelope.get("team_id")), as_text(event.get("user"))
    channel, ts = as_text(event.get("channel")), as_text(event.get("ts"))
    if not (team and user and channel and ts):
        return Ignored("it lacks a team, a user, a channel or a ts", _actor(envelope, event))
    thread_ts = as_text(event.get("thread_ts")) or ts
    return Event(
        source="slack",
        kind="slack.mention",
        identity=(team, channel, ts),
        conversation=f"slack:{team}:{channel}:{thread_ts}",
        actor=Actor(user),
        text=as_text(event.get("text"))[:TEXT_LIMIT],
        place={"team": team, "channel": channel, "ts": ts, "thread_ts": thread_ts},
        private=None if envelope.get("is_ext_shared_channel") else _PRIVATE.get(as_text(event.get("channel_type"))),
    )


def _mentions(text: str, user: str) -> bool:
    return bool(user) and (f"<@{user}>" in text or f"<@{user}|" in text)


def _own_user(envelope: Fields) -> str:
    """Our bot's user id, which every envelope should carry; empty when it does not."""
    authorizations = as_list(envelope.get("authorizations"))
    return as_text(as_object(authorizations[0]).get("user_id")) if authorizations else ""
