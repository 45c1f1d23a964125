"""The workspace and the deliveries, as the methods of the Web API use them."""

from collections.abc import Callable
from dataclasses import dataclass

from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.delivery import Deliveries
from gofer_simulators.slack.workspace import Channel, Message, SlackRefusal, Workspace

Answer = dict[str, object]
"""The fields of an answer besides `ok`."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method: its function, the scope that the token needs, and the calls of one minute."""

    run: Callable[["Backend", Arguments], Answer]
    scope: str
    per_minute: int
    """The calls that Slack takes in a minute; 0 for a method without a known limit."""
    by_channel: bool = False
    """Whether each channel has this limit."""


@dataclass(frozen=True, slots=True)
class Backend:
    """The workspace and the deliveries of one call."""

    workspace: Workspace
    deliveries: Deliveries
    origin: str = ""
    """The address at which the caller reached this Slack, such as `http://127.0.0.1:8001`."""

    def visible_channel(self, arguments: Arguments, key: str = "channel") -> Channel:
        """Return the channel of a call, given by id or by `#name`. Raises SlackRefusal if the bot cannot see it."""
        name = arguments.required(key)
        channel = None
        if name.startswith("#"):
            channel = self.workspace.channel_named(name)
        if channel is None:
            channel = self.workspace.channel(name)
        if channel.kind != "channel" and self.workspace.bot.user not in channel.members:
            raise SlackRefusal("channel_not_found", name)
        return channel

    def joined_channel(self, arguments: Arguments, key: str = "channel") -> Channel:
        """Return the channel of a call. Raises SlackRefusal if the bot is not a member."""
        channel = self.visible_channel(arguments, key)
        if self.workspace.bot.user not in channel.members:
            raise SlackRefusal("not_in_channel")
        return channel

    def message(self, arguments: Arguments, key: str) -> Message:
        """Return the message of a call; `key` names the argument with its `ts`. Raises SlackRefusal."""
        return self.workspace.message(self.joined_channel(arguments).id, arguments.required(key))
