"""The scopes that a Slack app needs for each method of the Web API that Gofer calls.

Methods that act in a conversation need one scope for each kind of conversation: `channels` are public ones, `groups`
are private ones, `mpim` are group direct messages. Direct messages to Gofer alone also need the scopes of
`slack.direct` (`sources/slack/subscriptions.py`).
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

Method: TypeAlias = Literal[
    "auth.test",
    "bots.info",
    "chat.delete",
    "chat.getPermalink",
    "chat.postEphemeral",
    "chat.postMessage",
    "chat.update",
    "conversations.history",
    "conversations.info",
    "conversations.join",
    "conversations.list",
    "conversations.open",
    "conversations.replies",
    "files.completeUploadExternal",
    "files.getUploadURLExternal",
    "files.info",
    "reactions.add",
    "usergroups.list",
    "users.conversations",
    "users.info",
    "users.list",
]
"""The methods that Gofer calls. Any other method is a type error."""

_READ = frozenset({"channels:history", "groups:history", "mpim:history"})
SCOPES: Mapping[Method, frozenset[str]] = {
    "auth.test": frozenset(),
    "bots.info": frozenset({"users:read"}),
    "chat.delete": frozenset({"chat:write"}),
    "chat.getPermalink": frozenset(),
    "chat.postEphemeral": frozenset({"chat:write"}),
    "chat.postMessage": frozenset({"chat:write"}),
    "chat.update": frozenset({"chat:write"}),
    "conversations.history": _READ,
    "conversations.info": frozenset({"channels:read", "groups:read", "mpim:read"}),
    # An app cannot join private channels.
    "conversations.join": frozenset({"channels:join"}),
    "conversations.open": frozenset({"im:write"}),
    # Gofer lists public channels, and the private ones that invited it.
    "conversations.list": frozenset({"channels:read", "groups:read"}),
    "conversations.replies": _READ,
    "files.completeUploadExternal": frozenset({"files:write"}),
    "files.getUploadURLExternal": frozenset({"files:write"}),
    # The content of a file comes from another address and needs the same scope.
    "files.info": frozenset({"files:read"}),
    "reactions.add": frozenset({"reactions:write"}),
    "usergroups.list": frozenset({"usergroups:read"}),
    # Gofer does not list direct messages.
    "users.conversations": frozenset({"channels:read", "groups:read"}),
    "users.info": frozenset({"users:read"}),
    "users.list": frozenset({"users:read"}),
}


def scopes(*methods: Method) -> frozenset[str]:
    """Return all scopes that the methods need."""
    return frozenset(scope for method in methods for scope in SCOPES[method])
