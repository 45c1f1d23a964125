"""The Events API of Slack: verifies a delivery and hands it to the module that translates its type."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gofer.canonical import as_text
from gofer.errors import BadRequest
from gofer.events import Event
from gofer.secret import Secret
from gofer.triggers.clocks import check_window
from gofer.triggers.door import Handshake, Ignored, RawRequest, Stop, json_object, unknown_type
from gofer.triggers.slack.channels import channel_created, member_joined
from gofer.triggers.slack.delivery import Delivery, opened
from gofer.triggers.slack.installation import app_rate_limited, app_uninstalled, tokens_revoked
from gofer.triggers.slack.posts import app_mention, message
from gofer.triggers.slack.reactions import reaction_added
from gofer.triggers.slack.stops import session_stopped

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
class SlackDoor:
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
