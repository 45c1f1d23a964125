"""The tools for messages that only the person who started the run sees."""

from pydantic import Field

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.names import mock_ts
from gofer.sources.slack.places import channel_name
from gofer.sources.slack.scopes import scopes
from gofer.sources.slack.write import content, find_by_key, in_thread
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import code
from gofer.tools.places import Origin, Place, Writes
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError

_SHOWN = ToolResult("Shown to the asker.", "showed a message to one person")


class PostEphemeral(Arguments):
    """The message to the person who started the run, shown where the run was started."""

    text: str = Field(min_length=1, description="The message in Markdown.")
    thread_ts: str = Field(default="", description="ts of the thread to show it in. Left out: in the channel.")


class PostDirect(Arguments):
    """The direct message to the person who started the run."""

    text: str = Field(min_length=1, description="The message in Markdown.")


def _channel_place(origin: Origin, arguments: Arguments) -> Place:
    """Return the channel in which the run began. Raises ToolError."""
    return Place("slack", "channel", channel_name(origin, ""))


def _person_place(origin: Origin, arguments: Arguments) -> Place:
    """Return the person who started the run."""
    return Place("slack", "person", origin.actor.id)


@tool(
    effect="blind",
    shows="message",
    place=_channel_place,
    # The message always appears in the channel of the request, so no argument names a destination.
    writes=Writes({}, frozenset({"text", "thread_ts"})),
    markdown=frozenset({"text"}),
    scopes=scopes("chat.postEphemeral"),
    everyday="whisper, tell only me, private hint, quietly",
)
async def slack_post_ephemeral(api: SlackApi, call: Call, arguments: PostEphemeral) -> ToolResult:
    """Show a message only to the person who started this, where they started it. Not for the answer to the request:
    that is delivered by itself.
    """
    channel = _home(call)
    thread = in_thread(arguments.thread_ts)
    fields = content(call, arguments.text)
    # An ephemeral message cannot be looked up later, so its metadata would have no use.
    fields.pop("metadata")
    await api.write(call, "chat.postEphemeral", channel=channel, user=call.actor.id, **fields, **thread)
    return _SHOWN


@slack_post_ephemeral.mock
def _mock_ephemeral(call: Call, arguments: PostEphemeral) -> ToolResult:
    """Return a message without showing it."""
    _home(call)
    content(call, arguments.text)
    return _SHOWN


def _home(call: Call) -> str:
    """Return the id of the channel in which the run began. Raises ToolError."""
    if channel := call.place.get("channel"):
        return channel
    raise ToolError("The request did not come from a channel of Slack; nothing can be shown there.")


@tool(
    effect="lookup",
    shows="message",
    settle=5.0,
    place=_person_place,
    markdown=frozenset({"text"}),
    scopes=scopes("conversations.open", "chat.postMessage") | {"im:history"},
    everyday="dm, private message, tell me privately, ping me",
)
async def slack_post_direct(api: SlackApi, call: Call, arguments: PostDirect) -> ToolResult:
    """Write a direct message (DM) to the person who started this. Not for the answer to the request: that is delivered
    by itself.
    """
    channel = await _direct(api, call)
    fields = content(call, arguments.text)
    reply = await api.write(call, "chat.postMessage", channel=channel, **fields, unfurl_links=False, unfurl_media=False)
    return _written_directly(channel, as_text(reply.get("ts")))


@slack_post_direct.look
async def _find_direct(api: SlackApi, call: Call, arguments: PostDirect) -> ToolResult | None:
    """Return the direct message that an earlier attempt of the call wrote; None when it certainly wrote none."""
    channel = await _direct(api, call)
    ts = await find_by_key(api, call, channel, "")
    if ts:
        return _written_directly(channel, ts)
    return None


@slack_post_direct.mock
def _mock_direct(call: Call, arguments: PostDirect) -> ToolResult:
    """Return a direct message without writing it."""
    content(call, arguments.text)
    return _written_directly(f"D{code(call.actor.id)}", mock_ts(arguments))


async def _direct(api: SlackApi, call: Call) -> str:
    """Return the direct conversation with the person who started the run. Opening it is idempotent."""
    reply = await api.write(call, "conversations.open", users=call.actor.id)
    return as_text(as_object(reply.get("channel")).get("id"))


def _written_directly(channel: str, ts: str) -> ToolResult:
    """Return a written direct message. Details: channel id and ts."""
    return ToolResult(f"Written directly (ts {ts}).", "wrote a direct message", {"channel": channel, "ts": ts})
