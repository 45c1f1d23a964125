"""Joining a public channel."""

from pydantic import Field

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.names import one_line
from gofer.sources.slack.read_thread import channel_id
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_object, as_text


class JoinChannel(Arguments):
    """Which channel."""

    channel: str = Field(default="", description="Public channel, as #name. Left out: the one that this is about.")


async def join_channel(api: SlackApi, call: Call, arguments: JoinChannel) -> ToolResult:
    """Join a public channel; being in it already counts as joined. Details: channel id and name."""
    channel = await channel_id(api, call, arguments.channel)
    reply = await api.write(call, "conversations.join", channel=channel)
    return joined(channel, one_line(as_text(as_object(reply.get("channel")).get("name"))))


def joined(channel: str, name: str) -> ToolResult:
    """Return a channel that Gofer is in."""
    return ToolResult(f"Joined #{name or 'it'}.", "joined a channel", {"channel": channel, "name": name})
