"""The workspace and the deliveries that the methods of the Web API work on."""

from collections.abc import Callable
from dataclasses import dataclass

from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.delivery import Deliveries
from gofer_simulators.slack.workspace import Channel, Message, SlackRefusal, Workspace

Answer = dict[str, object]
"""The fields beside `ok`."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method: what it does, and the scope its token needs."""

    run: Callable[["Backend", Arguments], Answer]
    scope: str


@dataclass(frozen=True, slots=True)
class Backend:
    """What methods work on."""

    workspace: Workspace
    deliveries: Deliveries
    origin: str = ""
    """Where the caller reached this Slack, as `http://127.0.0.1:8001`."""

    def visible_channel(self, arguments: Arguments) -> Channel:
        """Return the channel a call names, where the bot may know of it."""
        asked = arguments.required("channel")
        named = self.workspace.channel_named(asked) if asked.startswith("#") else None
        channel = named or self.workspace.channel(asked)
        if channel.kind != "channel" and self.workspace.bot.user not in channel.members:
            raise SlackRefusal("channel_not_found", asked)
        return channel

    def joined_channel(self, arguments: Arguments) -> Channel:
        """Return the channel a call names, where the bot is in it."""
        channel = self.visible_channel(arguments)
        if self.workspace.bot.user not in channel.members:
            raise SlackRefusal("not_in_channel")
        return channel

    def message(self, arguments: Arguments, key: str) -> Message:
        """Return the message a call names by its `ts` under `key`."""
        return self.workspace.message(self.joined_channel(arguments).id, arguments.required(key))
