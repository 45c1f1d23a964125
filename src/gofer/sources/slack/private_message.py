"""Messages to one person only, the one who started the run."""

from pydantic import Field

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.own_messages import candidates
from gofer.sources.slack.write import content
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError

SHOWN = ToolResult("Shown to whoever asked.", "showed a message to one person")


class PostEphemeral(Arguments):
    """What to show to the person who started the run, where they did it."""

    text: str = Field(min_length=1, description="The message in Markdown.")
    thread_ts: str = Field(default="", description="ts of the thread to show it in. Left out: in the channel.")


class PostDirect(Arguments):
    """What to write to the person who started the run."""

    text: str = Field(min_length=1, description="The message in Markdown.")


async def post_ephemeral(api: SlackApi, call: Call, arguments: PostEphemeral) -> ToolResult:
    """Show Markdown to one person alone; it is gone when they reload."""
    channel = home(call)
    thread = {"thread_ts": arguments.thread_ts} if arguments.thread_ts else {}
    said = content(call, arguments.text)
    # Nobody looks for it later.
    said.pop("metadata")
    await api.write(call, "chat.postEphemeral", channel=channel, user=call.actor.id, **said, **thread)
    return SHOWN


def home(call: Call) -> str:
    """Return the id of the channel that the run began in. Raises ToolError."""
    if channel := call.place.get("channel"):
        return channel
    raise ToolError("The request did not come from a channel of Slack; nothing can be shown there.")


async def post_direct(api: SlackApi, call: Call, arguments: PostDirect) -> ToolResult:
    """Write Markdown to one person directly; details: channel id and ts."""
    channel = await _direct(api, call)
    said = content(call, arguments.text)
    reply = await api.write(call, "chat.postMessage", channel=channel, **said, unfurl_links=False, unfurl_media=False)
    return written_directly(channel, as_text(reply.get("ts")))


async def find_direct(api: SlackApi, call: Call, arguments: PostDirect) -> ToolResult | None:
    """Return the direct message an earlier attempt of the call wrote. None when it is certain that there is none."""
    channel = await _direct(api, call)
    async for message in candidates(api, call, channel, ""):
        payload = as_object(as_object(message.get("metadata")).get("event_payload"))
        if payload.get("key") == call.key:
            return written_directly(channel, as_text(message.get("ts")))
    return None


async def _direct(api: SlackApi, call: Call) -> str:
    """Return the conversation with the person who started the run; opening it again gives the same one."""
    reply = await api.write(call, "conversations.open", users=call.actor.id)
    return as_text(as_object(reply.get("channel")).get("id"))


def written_directly(channel: str, ts: str) -> ToolResult:
    """Return a direct message that was written."""
    return ToolResult(f"Written directly (ts {ts}).", "wrote a direct message", {"channel": channel, "ts": ts})
