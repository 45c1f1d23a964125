"""The events of Slack that an app subscribes to, and the scopes that it needs for them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a Slack app subscribes to so that something is told, and the scopes it needs for that."""

    events: tuple[str, ...]
    scopes: frozenset[str]


_POSTS = Subscription(("message.channels", "message.groups"), frozenset({"channels:history", "groups:history"}))
_REACTIONS = Subscription(("reaction_added",), frozenset({"reactions:read"}))

SUBSCRIPTIONS: Mapping[str, Subscription] = {
    "slack.mention": Subscription(("app_mention",), frozenset({"app_mentions:read"})),
    "slack.message": _POSTS,
    # Slack takes `agent_session_stopped` and `assistant:write` from an app that its manifest declares as an agent.
    "slack.direct": Subscription(
        ("message.im", "agent_session_stopped"), frozenset({"assistant:write", "im:history", "im:read"})
    ),
    "slack.reaction": _REACTIONS,
    "slack.channel_created": Subscription(("channel_created",), frozenset({"channels:read"})),
    "slack.member_joined": Subscription(("member_joined_channel",), frozenset({"channels:read", "groups:read"})),
}
"""By the kind of event that they bring."""

INSTALLATION = ("app_uninstalled", "tokens_revoked")
"""What tells that Slack lets the app in no more; neither needs a scope."""

STOPPING = Subscription(
    (*_POSTS.events, *_REACTIONS.events),
    _POSTS.scopes | _REACTIONS.scopes,
)
"""What tells that a run is to stop: its message was deleted, or somebody put a stop sign on it."""
