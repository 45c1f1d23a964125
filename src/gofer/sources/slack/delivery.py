"""The envelope of a Slack event: its workspace, the addressed app, and the author."""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.sources.receiver import Ignored, IgnoredCode, incomplete
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.events import Actor

Fields = Mapping[str, object]

_PRIVATE = {"channel": False, "group": True, "mpim": True, "im": True, "app_home": True, "G": True}


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event with the facts from its envelope."""

    event: Fields
    team: str
    own_user: str
    """The user id of Gofer's bot; empty if the envelope lacks it."""
    app: str
    shared: bool
    """Whether the channel of the event is shared with another company."""

    def private(self, channel: str, channel_type: str) -> bool | None:
        """Return whether a channel is private; None if Slack does not tell."""
        if channel.startswith("D"):
            return True
        if self.shared:
            return None
        return _PRIVATE.get(channel_type)

    def actor(self, fields: Fields) -> Actor | None:
        """Return the author of a message or act; None if the fields name none."""
        user = as_text(fields.get("user"))
        name = user or as_text(fields.get("bot_id"))
        if not name:
            return None
        if is_bot(fields) or self.is_own(fields):
            return Actor(name, "bot")
        return Actor(name)

    def is_own(self, fields: Fields) -> bool:
        """Return whether Gofer itself is the author."""
        user = as_text(fields.get("user"))
        if user and user == self.own_user:
            return True
        app = _app(fields)
        return bool(app) and app == self.app and is_bot(fields)

    def ignored(self, code: IgnoredCode, reason: str, fields: Fields | None = None) -> Ignored:
        """Return the decision for a delivery that starts nothing."""
        return Ignored(code, reason, self.actor(self.event if fields is None else fields))

    def incomplete(self, parts: Mapping[str, object], fields: Fields | None = None) -> Ignored | None:
        """Return the decision for a delivery that lacks parts, as `receiver.incomplete` does."""
        return incomplete(parts, self.actor(self.event if fields is None else fields))


def opened(envelope: Fields) -> Delivery:
    """Return the event in an envelope."""
    own_user = ""
    if authorizations := as_list(envelope.get("authorizations")):
        own_user = as_text(as_object(authorizations[0]).get("user_id"))
    return Delivery(
        event=as_object(envelope.get("event")),
        team=as_text(envelope.get("team_id")),
        own_user=own_user,
        app=as_text(envelope.get("api_app_id")),
        shared=bool(envelope.get("is_ext_shared_channel")),
    )


def is_bot(fields: Fields) -> bool:
    """Return whether a program is the author."""
    by_bot = fields.get("bot_id") or fields.get("bot_profile") or fields.get("subtype") == "bot_message"
    return bool(by_bot) or fields.get("user") == "USLACKBOT"


def text_as_seen(text: str) -> str:
    """Return a text as its author sees it. Slack escapes exactly three characters as HTML entities."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _app(fields: Fields) -> str:
    return as_text(fields.get("app_id")) or as_text(as_object(fields.get("bot_profile")).get("app_id"))
