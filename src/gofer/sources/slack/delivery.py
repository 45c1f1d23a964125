"""The envelope of a Slack event: its workspace, the app it is for, and who did it."""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.sources.receiver import Ignored, IgnoredCode, incomplete
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.events import Actor

Fields = Mapping[str, object]

_PRIVATE = {"channel": False, "group": True, "mpim": True, "im": True, "app_home": True, "G": True}


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event and what its envelope says of it."""

    event: Fields
    team: str
    own_user: str
    """Our bot's user id, which every envelope should carry; empty when it does not."""
    app: str
    shared: bool
    """Whether it happened in a channel that another company is in too."""

    def private(self, channel: str, channel_type: str) -> bool | None:
        """Whether only some people can see a channel; None where Slack does not say."""
        if channel.startswith("D"):
            return True
        return None if self.shared else _PRIVATE.get(channel_type)

    def actor(self, fields: Fields) -> Actor | None:
        """Who wrote or did something; None when it does not say."""
        user = as_text(fields.get("user"))
        name = user or as_text(fields.get("bot_id"))
        kind = "bot" if is_bot(fields) or self.is_own(fields) else "person"
        return Actor(name, kind) if name else None

    def is_own(self, fields: Fields) -> bool:
        """Whether Gofer itself did it."""
        user, app = as_text(fields.get("user")), _app(fields)
        return bool(user and user == self.own_user) or bool(app and app == self.app and is_bot(fields))

    def ignored(self, code: IgnoredCode, reason: str, fields: Fields | None = None) -> Ignored:
        """Return the answer to a delivery that starts nothing."""
        return Ignored(code, reason, self.actor(self.event if fields is None else fields))

    def incomplete(self, parts: Mapping[str, object], fields: Fields | None = None) -> Ignored | None:
        """Return what a delivery lacks; see door.incomplete."""
        return incomplete(parts, self.actor(self.event if fields is None else fields))


def opened(envelope: Fields) -> Delivery:
    """The event in an envelope."""
    authorizations = as_list(envelope.get("authorizations"))
    return Delivery(
        event=as_object(envelope.get("event")),
        team=as_text(envelope.get("team_id")),
        own_user=as_text(as_object(authorizations[0]).get("user_id")) if authorizations else "",
        app=as_text(envelope.get("api_app_id")),
        shared=bool(envelope.get("is_ext_shared_channel")),
    )


def is_bot(fields: Fields) -> bool:
    """Whether a program wrote it."""
    by_bot = fields.get("bot_id") or fields.get("bot_profile") or fields.get("subtype") == "bot_message"
    return bool(by_bot) or fields.get("user") == "USLACKBOT"


def _app(fields: Fields) -> str:
    return as_text(fields.get("app_id")) or as_text(as_object(fields.get("bot_profile")).get("app_id"))
