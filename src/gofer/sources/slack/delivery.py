"""The envelope of a Slack event: its workspace, the addressed app, and the author."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gofer.sources.receiver import Ignored, IgnoredCode, incomplete
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.events import Actor

Fields = Mapping[str, object]

_WORKSPACE = re.compile(r"[TE]")
"""The beginning of the id of a workspace or an organisation."""
_PRIVATE = {"channel": False, "group": True, "mpim": True, "im": True, "app_home": True, "G": True}


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event with the facts from its envelope."""

    event: Fields
    team: str
    """The workspace in which Gofer acts, also for messages that were written in another one."""
    outer_team: str
    """The workspace that Slack names beside the event, if it is another one; else empty."""
    own_users: Collection[str]
    """The user ids of Gofer's bot; empty if they are not known."""
    app: str
    shared: bool
    """Whether the channel of the event is shared with another company."""

    @property
    def teams(self) -> Mapping[str, str]:
        """The workspaces of a delivery, for the place of its event."""
        named = {"team": self.team, "outer_team": self.outer_team, "shared": "true" * self.shared}
        return {name: value for name, value in named.items() if value or name == "team"}

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
        if as_text(fields.get("user")) in self.own_users:
            return True
        app = _app(fields)
        return bool(app) and app == self.app and is_bot(fields)

    def unknown_self(self) -> Ignored | None:
        """Return the decision for a delivery that only Gofer's own account explains; None if the account is known."""
        if self.own_users:
            return None
        return self.ignored(
            "own_account_unknown",
            "the delivery does not name Gofer's own account; add the user id of its bot to SLACK_TEAM_ID, as in "
            "T0123ABCD,U0123ABCD",
        )

    def ignored(self, code: IgnoredCode, reason: str, fields: Fields | None = None) -> Ignored:
        """Return the decision for a delivery that starts nothing."""
        return Ignored(code, reason, self.actor(self.event if fields is None else fields))

    def incomplete(self, parts: Mapping[str, object], fields: Fields | None = None) -> Ignored | None:
        """Return the decision for a delivery that lacks parts, as `receiver.incomplete` does."""
        return incomplete(parts, self.actor(self.event if fields is None else fields))


def opened(envelope: Fields, account: Collection[str] = ()) -> Delivery:
    """Return the event in an envelope. `account` are the known ids of Gofer's workspace, organisation and bot user.

    An authorization is one installation of the app that may see the event: of its bot in any of its workspaces, or of
    a person who installed it. So only the bots among them are Gofer, and none has to be there.
    """
    authorizations = [as_object(one) for one in as_list(envelope.get("authorizations"))]
    bots = [one for one in authorizations if one.get("is_bot") is True]
    own_users = {as_text(one.get("user_id")) for one in bots} | {name for name in account if not _WORKSPACE.match(name)}
    known = [name for name in account if name.startswith("T")]
    teams = (
        *known * (len(known) == 1),
        *(one.get("team_id") for one in (*bots, *authorizations)),
        envelope.get("context_team_id"),
    )
    # The workspace of an app that a whole organisation installed is the one that the event names.
    own_teams = [team for team in map(as_text, teams) if team.startswith("T")]
    outer_team = as_text(envelope.get("team_id"))
    team = next(iter(own_teams), outer_team)
    return Delivery(
        event=as_object(envelope.get("event")),
        team=team,
        outer_team="" if outer_team == team else outer_team,
        own_users=frozenset(filter(None, own_users)),
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
