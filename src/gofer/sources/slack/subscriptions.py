"""The events of Slack that an app subscribes to, and the scopes that they need."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subscription:
    """Events that a Slack app subscribes to, and the scopes that they need."""

    events: tuple[str, ...]
    scopes: frozenset[str]


_POSTS = Subscription(
    # Slack sends no `app_mention` for a mention in a group direct message.
    ("message.channels", "message.groups", "message.mpim"),
    frozenset({"channels:history", "groups:history", "mpim:history"}),
)
_REACTIONS = Subscription(("reaction_added",), frozenset({"reactions:read"}))

SUBSCRIPTIONS: Mapping[str, Subscription] = {
    "slack.mention": Subscription(("app_mention",), frozenset({"app_mentions:read"})),
    "slack.message": _POSTS,
    # Slack permits `agent_session_stopped` and `assistant:write` only for apps that are declared as agents.
    "slack.direct": Subscription(
        ("message.im", "agent_session_stopped"), frozenset({"assistant:write", "im:history", "im:read"})
    ),
    "slack.reaction": _REACTIONS,
    "slack.channel_created": Subscription(("channel_created",), frozenset({"channels:read"})),
    "slack.member_joined": Subscription(("member_joined_channel",), frozenset({"channels:read", "groups:read"})),
}
"""Subscriptions by the kind of event that they deliver."""

INSTALLATION = ("app_uninstalled", "tokens_revoked")
"""The events that report the loss of the app's access. They need no scope."""

STOPPING = Subscription(
    (*_POSTS.events, *_REACTIONS.events),
    _POSTS.scopes | _REACTIONS.scopes,
)
"""The events that stop a run: its message was deleted, or a person put a stop sign on it."""

FEEDBACK = Subscription((*_REACTIONS.events, "reaction_removed"), _REACTIONS.scopes)
"""The events in which people say what they think of an answer, or take that back."""
