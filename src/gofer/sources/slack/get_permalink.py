"""The link that leads to a message."""

from pydantic import Field

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.read_thread import channel_id, check_readable
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError


class GetPermalink(Arguments):
    """Which message."""

    ts: str = Field(default="", description="ts of the message. Left out: the one that the request is about.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")


async def get_permalink(api: SlackApi, call: Call, arguments: GetPermalink) -> ToolResult:
    """Return the link of a message; details: link."""
    ts = which(call, arguments)
    channel = await channel_id(api, call, arguments.channel)
    info = as_object((await api.read(call, "conversations.info", channel=channel)).get("channel"))
    check_readable(call, channel, info)
    reply = await api.read(call, "chat.getPermalink", channel=channel, message_ts=ts)
    return link_result(as_text(reply.get("permalink")))


def which(call: Call, arguments: GetPermalink) -> str:
    """Return the ts of the message that is meant. Raises ToolError."""
    if ts := arguments.ts or call.place.get("ts", ""):
        return ts
    raise ToolError("Say which message: the request is not about one.")


def link_result(link: str) -> ToolResult:
    """Return a link that was looked up."""
    return ToolResult(f"The link of that message: {link}", "looked up a link", {"link": link})
