"""The Slack receiver: verifies and translates deliveries."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gofer.sources.receiver import Handshake, Ignored, RawRequest, Stop, json_object, unknown_type
from gofer.sources.signed_time import check_window
from gofer.sources.slack.delivery import Delivery, opened
from gofer.sources.slack.members import channel_created, member_joined
from gofer.sources.slack.posts import TEXT_LIMIT, app_mention, message
from gofer.sources.slack.reactions import reaction_added
from gofer.sources.slack.stops import session_stopped
from gofer.sources.slack.subscriptions import INSTALLATION, STOPPING, SUBSCRIPTIONS, Subscription
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.values.secret import Secret


def app_rate_limited() -> Ignored:
    """Return why Slack holds events back, and what the operator can do."""
    return Ignored(
        "rate_limited",
        "Slack holds back events of this app, because more than 30,000 came in an hour or too few were answered "
        "with a 2xx; take events from the app that no workflow needs (`gofer manifest` lists those they need), and "
        "look for refused deliveries in this log",
    )


def tokens_revoked(delivery: Delivery) -> Ignored:
    """Return what to do about revoked tokens; those of people are not Gofer's."""
    if not as_list(as_object(delivery.event.get("tokens")).get("bot")):
        return Ignored("told_elsewhere", "it revokes tokens of people, which Gofer does not use")
    return Ignored(
        "tokens_revoked",
        "Slack revoked the token of Gofer's bot; install the app again and set SLACK_BOT_TOKEN to its new token",
    )


def app_uninstalled(delivery: Delivery) -> Ignored:
    """Return what to do about an app that a workspace removed."""
    return Ignored(
        "uninstalled",
        "the app was uninstalled from its workspace; install it again and set SLACK_BOT_TOKEN to its new token",
    )


WINDOW = 300
"""Seconds a signature is good for."""
_TIMESTAMP = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)

_HAPPENINGS: Mapping[str, Callable[[Delivery], Event | Stop | Ignored]] = {
    "app_mention": app_mention,
    "message": message,
    "reaction_added": reaction_added,
    "channel_created": channel_created,
    "member_joined_channel": member_joined,
    "agent_session_stopped": session_stopped,
    "tokens_revoked": tokens_revoked,
    "app_uninstalled": app_uninstalled,
}
"""Who translates which type of event."""


@dataclass(frozen=True, slots=True)
class SlackReceiver:
    """The Events API of one Slack app."""

    secrets: Sequence[Secret]
    """The signing secret, and the previous one while it is being rotated."""

    def verify(self, request: RawRequest, now: float) -> None:
        """See Door.verify."""
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

    def translate(self, request: RawRequest) -> Event | Stop | Handshake | Ignored:
        """See Door.translate."""
        body = json_object(request.body)
        match body.get("type"):
            case "url_verification":
                return Handshake(as_text(body.get("challenge")))
            case "event_callback":
                return _happening(opened(body))
            case "app_rate_limited":
                return app_rate_limited()
            case other:
                return unknown_type("deliveries", as_text(other))


def sign(secret: Secret, timestamp: str, body: bytes) -> str:
    """Slack's signature of a delivery: `v0=` and the HMAC-SHA256 of `v0:{timestamp}:{body}` in hex."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.reveal().encode(), base, hashlib.sha256).hexdigest()


def _happening(delivery: Delivery) -> Event | Stop | Ignored:
    if not delivery.event:
        return delivery.ignored("incomplete", "it lacks an event")
    kind = as_text(delivery.event.get("type"))
    translate = _HAPPENINGS.get(kind)
    if translate is None:
        return unknown_type("events", kind, delivery.actor(delivery.event))
    return translate(delivery)


__all__ = ["INSTALLATION", "STOPPING", "SUBSCRIPTIONS", "TEXT_LIMIT", "WINDOW", "SlackReceiver", "Subscription", "sign"]
