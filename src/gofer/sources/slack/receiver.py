"""The Slack receiver: verifies and translates deliveries."""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from gofer.sources.receiver import (
    Handshake,
    Ignored,
    PossibleFeedback,
    RawRequest,
    Receiver,
    Stop,
    check_window,
    json_object,
    unknown_type,
)
from gofer.sources.slack.delivery import Delivery, is_bot, opened
from gofer.sources.slack.feedback import possible_feedback
from gofer.sources.slack.identities import conversation
from gofer.sources.slack.posts import STOP_SIGNS, app_mention, message, session_stopped, stop_sign
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event
from gofer.values.secret import Secret


def reaction_added(delivery: Delivery) -> Event | Stop | PossibleFeedback | Ignored:
    """Return the meaning of an emoji on a message. The identity is the person, the message and the emoji.

    An emoji on a message of Gofer's may be feedback besides.
    """
    event = _reaction(delivery)
    match event:
        case Event():
            return possible_feedback(delivery, withdrawn=False, event=event) or event
        case _:
            return event


def reaction_removed(delivery: Delivery) -> PossibleFeedback | Ignored:
    """Return the meaning of an emoji that a person took back: at most feedback."""
    if unknown := delivery.unknown_self():
        return unknown
    if delivery.is_own(delivery.event):
        return delivery.ignored("own_act", "Gofer took it back")
    return possible_feedback(delivery, withdrawn=True) or delivery.ignored(
        "no_feedback", "it is no feedback on an answer"
    )


def _reaction(delivery: Delivery) -> Event | Stop | Ignored:
    event = delivery.event
    item = as_object(event.get("item"))
    if unknown := delivery.unknown_self():
        return unknown
    if delivery.is_own(event):
        return delivery.ignored("own_act", "Gofer added it")
    if is_bot(event):
        return delivery.ignored("other_bot", "a bot added it")
    if not item.get("type"):
        return delivery.ignored("incomplete", "it lacks an item")
    if item.get("type") != "message":
        return delivery.ignored("not_a_message", "it is not on a message")
    user = as_text(event.get("user"))
    # A workflow file and Slack may write the same accented letter in two ways.
    full = unicodedata.normalize("NFC", as_text(event.get("reaction")))
    emoji = full.partition("::")[0]
    channel = as_text(item.get("channel"))
    ts = as_text(item.get("ts"))
    needed = {"a team": delivery.team, "a user": user, "an emoji": emoji, "a channel": channel, "a ts": ts}
    if lacking := delivery.incomplete(needed):
        return lacking
    if emoji in STOP_SIGNS:
        return stop_sign(channel, ts, Actor(user), delivery.teams.values())
    return Event(
        source="slack",
        kind="slack.reaction",
        identity=(channel, ts, emoji, user),
        # One conversation per message: runs for two reactions to one message take place one after the other.
        conversation=conversation(channel, ts),
        actor=Actor(user),
        text=f":{emoji}:",
        # Slack does not tell the thread of the message. The run learns it when it reads the thread.
        place={**delivery.teams, "channel": channel, "ts": ts, "thread_ts": ts, "reaction": emoji, "user": user},
        private=delivery.private(channel, ""),
        facts={"channel_id": channel, "emoji": [emoji] if emoji == full else [emoji, full]},
    )


def channel_created(delivery: Delivery) -> Event | Ignored:
    """Return the event of a new public channel. The identity is the channel."""
    described = as_object(delivery.event.get("channel"))
    channel = as_text(described.get("id"))
    name = as_text(described.get("name"))
    creator = as_text(described.get("creator"))
    needed = {
        "a team": delivery.team,
        "an id of the channel": channel,
        "a name of the channel": name,
        "a creator": creator,
    }
    if lacking := delivery.incomplete(needed):
        return lacking
    if creator in delivery.own_users:
        return Ignored("own_act", "Gofer created it", Actor(creator, "bot"))
    private = any(described.get(flag) is True for flag in ("is_private", "is_im", "is_mpim"))
    # For a shared channel, the flags of another workspace may be missing.
    unknown = delivery.shared and not private
    return Event(
        source="slack",
        kind="slack.channel_created",
        identity=(channel,),
        conversation=conversation(channel),
        actor=Actor(creator),
        text=f"#{name[:80]}",
        place={**delivery.teams, "channel": channel},
        private=None if unknown else private,
        facts={"channel_id": channel, "name": name},
    )


def member_joined(delivery: Delivery) -> Event | Ignored:
    """Return the event of a person who joined a channel, or of an invitation of Gofer. Each joining is one event."""
    event = delivery.event
    channel = as_text(event.get("channel"))
    user = as_text(event.get("user"))
    when = as_text(event.get("event_ts"))
    if lacking := delivery.incomplete({"a team": delivery.team, "a channel": channel, "a user": user, "a time": when}):
        return lacking
    if unknown := delivery.unknown_self():
        return unknown
    invited = user in delivery.own_users
    # The person who invited Gofer is the actor, because Gofer must not start itself.
    actor = user
    text = "somebody joined"
    member = "person"
    if invited:
        actor = as_text(event.get("inviter"))
        text = "Gofer was invited"
        member = "gofer"
    if not actor or actor in delivery.own_users:
        return Ignored("own_act", "Gofer joined the channel by itself", Actor(user, "bot"))
    return Event(
        source="slack",
        kind="slack.member_joined",
        identity=(channel, user, when),
        conversation=conversation(channel),
        actor=Actor(actor),
        text=text,
        place={**delivery.teams, "channel": channel, "user": user},
        private=True if event.get("channel_type") == "G" else None,
        facts={"channel_id": channel, "member": member},
    )


def app_rate_limited() -> Ignored:
    """Return the reason why Slack withholds events, and the operator's remedy."""
    return Ignored(
        "rate_limited",
        "Slack withholds events from this app, because it sent more than 30,000 in an hour or got too few answers "
        "with 2xx; unsubscribe the app from events that no workflow needs (`gofer manifest` lists the needed ones), "
        "and look for refused deliveries in this log",
    )


def tokens_revoked(delivery: Delivery) -> Ignored:
    """Return the operator's remedy for a revoked bot token. Revoked tokens of people do not concern Gofer."""
    if not as_list(as_object(delivery.event.get("tokens")).get("bot")):
        return Ignored("told_elsewhere", "it revokes tokens of people, which Gofer does not use")
    return Ignored(
        "tokens_revoked",
        "Slack revoked the token of Gofer's bot; install the app again and set SLACK_BOT_TOKEN to its new token",
    )


def app_uninstalled(delivery: Delivery) -> Ignored:
    """Return the operator's remedy for an uninstalled app."""
    return Ignored(
        "uninstalled",
        "the app was uninstalled from its workspace; install it again and set SLACK_BOT_TOKEN to its new token",
    )


WINDOW = 300
"""The seconds for which a signature is valid."""
_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)

_TRANSLATORS: Mapping[str, Callable[[Delivery], Event | Stop | PossibleFeedback | Ignored]] = {
    "app_mention": app_mention,
    "message": message,
    "reaction_added": reaction_added,
    "reaction_removed": reaction_removed,
    "channel_created": channel_created,
    "member_joined_channel": member_joined,
    "agent_session_stopped": session_stopped,
    "tokens_revoked": tokens_revoked,
    "app_uninstalled": app_uninstalled,
}
"""The translator of each type of event."""


@dataclass(frozen=True, slots=True)
class SlackReceiver(Receiver):
    """The receiver of one Slack app's events."""

    secrets: Sequence[Secret]
    """The signing secret and, during a rotation, the previous one."""
    account: Collection[str] = ()
    """The known ids of Gofer's workspace, organisation and bot user."""

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        timestamp = request.header("x-slack-request-timestamp") or ""
        signature = request.header("x-slack-signature") or ""
        said = "The Slack signature or its timestamp is missing or malformed."
        if not _TIMESTAMP.fullmatch(timestamp):
            raise BadRequest(401, said, code="timestamp_missing")
        if not _SIGNATURE.fullmatch(signature):
            raise BadRequest(401, said, code="signature_missing")
        check_window(int(timestamp), now, WINDOW, "The Slack signature")
        if not any(hmac.compare_digest(sign(s, timestamp, request.body), signature) for s in self.secrets):
            raise BadRequest(401, "The Slack signature does not match.", code="signature_mismatch")

    @override
    def translate(self, request: RawRequest) -> Event | Stop | PossibleFeedback | Handshake | Ignored:
        body = json_object(request.body)
        match body.get("type"):
            case "url_verification":
                return Handshake(as_text(body.get("challenge")))
            case "event_callback":
                return _translated(opened(body, self.account))
            case "app_rate_limited":
                return app_rate_limited()
            case other:
                return unknown_type("deliveries", as_text(other))


def sign(secret: Secret, timestamp: str, body: bytes) -> str:
    """Return Slack's signature of a delivery: `v0=` and the HMAC-SHA256 of `v0:{timestamp}:{body}` in hex."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.reveal().encode(), base, hashlib.sha256).hexdigest()


def _translated(delivery: Delivery) -> Event | Stop | PossibleFeedback | Ignored:
    if not delivery.event:
        return delivery.ignored("incomplete", "it lacks an event")
    kind = as_text(delivery.event.get("type"))
    translate = _TRANSLATORS.get(kind)
    if translate is None:
        return unknown_type("events", kind, delivery.actor(delivery.event))
    return translate(delivery)
