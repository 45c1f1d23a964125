"""Tools for channels: reading the newest messages, getting the link of a message, joining."""

import re
from collections.abc import Mapping, Sequence

from pydantic import Field

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.attached_files import attached
from gofer.sources.slack.look_ups import NAMING, look_up
from gofer.sources.slack.message_text import read
from gofer.sources.slack.names import (
    MOCK_NAMES,
    Names,
    mock_channel_id,
    mock_channel_name,
    mock_messages,
    one_line,
)
from gofer.sources.slack.places import (
    channel_id,
    channel_name,
    channel_place,
    check_readable,
    in_channel,
    is_private,
    readers_of,
    shown_name,
    with_outsiders,
)
from gofer.sources.slack.read_thread import Message, people, render, text_lines
from gofer.sources.slack.scopes import scopes
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import SECONDS
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

PAGE = 200
_LINK = re.compile(r"<(https?://[^<>|]+)(?:\|[^<>]*)?>")


class ReadChannel(Arguments):
    """The channel, and the number of messages."""

    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")
    limit: int = Field(default=20, ge=1, le=500, description="How many of the newest messages.")


@tool(
    effect="read",
    place=channel_place,
    scopes=scopes("conversations.list", "conversations.info", "conversations.history", *NAMING),
    everyday="chat conversation recent posts; catch up, what was said, what happened, what is going on, latest",
)
async def slack_read_channel(api: SlackApi, call: Call, arguments: ReadChannel) -> ToolResult:
    """Read the newest messages of a Slack channel: what was posted today or this week, without replies in threads."""
    channel = await channel_id(api, call, arguments.channel)
    info = as_object((await api.read(call, "conversations.info", channel=channel)).get("channel"))
    private = is_private(info)
    check_readable(call, channel, info)
    messages = await _newest(api, call, channel, arguments.limit)
    names = await look_up(api, call, people(messages), messages)
    return with_outsiders(_channel_result(shown_name(info), messages, names, private=private), info)


@slack_read_channel.mock
def _mock_read(call: Call, arguments: ReadChannel) -> ToolResult:
    """Return a channel with one message."""
    name = mock_channel_name(channel_name(call, arguments.channel))
    return _channel_result(name, mock_messages(f"{SECONDS}.000100"), MOCK_NAMES, private=False)


def _channel_result(name: str, messages: Sequence[Message], names: Names, *, private: bool) -> ToolResult:
    """Return a channel that was read, with its messages oldest first.

    Details: channel name, whether it is private, and `messages`: ts, thread_ts, user, name, text, links, reactions.
    """
    files = attached(messages)
    return ToolResult(
        text=render(name, messages, names, title="Newest messages", files=files),
        summary=f"read {len(messages)} message{'' if len(messages) == 1 else 's'} of a channel",
        details={
            "channel": name,
            "private": private,
            "messages": [_value(message, names) for message in messages],
            **readers_of(name, private=private),
        },
        files=files,
    )


async def _newest(api: SlackApi, call: Call, channel: str, limit: int) -> Sequence[Message]:
    """Return the newest messages in the order of time, oldest first."""
    found: list[Message] = []
    cursor = ""
    while len(found) < limit:
        size = min(PAGE, limit - len(found))
        page = await api.read(call, "conversations.history", channel=channel, limit=size, cursor=cursor)
        found += map(as_object, as_list(page.get("messages")))
        cursor = as_text(as_object(page.get("response_metadata")).get("next_cursor"))
        if not cursor or not page.get("messages"):
            break
    return found[:limit][::-1]


def _value(message: Message, names: Names) -> Mapping[str, object]:
    user = as_text(message.get("user"))
    said = read(message)
    return {
        "ts": as_text(message.get("ts")),
        "thread_ts": as_text(message.get("thread_ts")),
        "user": user,
        "name": names.of(user) if user else names.app(message),
        "text": "\n".join(text_lines(said, names)),
        "links": [link.replace("&amp;", "&") for text in said.texts for link in _LINK.findall(text)],
        "reactions": [as_text(as_object(one).get("name")) for one in as_list(message.get("reactions"))],
    }


class GetPermalink(Arguments):
    """The message to link to."""

    ts: str = Field(default="", description="ts of the message. Left out: the one that the request is about.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")


@tool(
    effect="read",
    place=channel_place,
    scopes=scopes("conversations.list", "conversations.info", "chat.getPermalink"),
    everyday="url link address of a message or post; reference it",
)
async def slack_get_permalink(api: SlackApi, call: Call, arguments: GetPermalink) -> ToolResult:
    """Get the web link (URL) of a Slack message, to put it into a ticket or a page."""
    ts = _which(call, arguments)
    channel = await channel_id(api, call, arguments.channel)
    info = as_object((await api.read(call, "conversations.info", channel=channel)).get("channel"))
    check_readable(call, channel, info)
    reply = await api.read(call, "chat.getPermalink", channel=channel, message_ts=ts)
    return _link_result(as_text(reply.get("permalink")))


@slack_get_permalink.mock
def _mock_permalink(call: Call, arguments: GetPermalink) -> ToolResult:
    """Return a link to a made-up address."""
    ts = _which(call, arguments)
    channel = mock_channel_id(channel_name(call, arguments.channel))
    return _link_result(f"https://example.slack.com/archives/{channel}/p{ts.replace('.', '')}")


def _which(call: Call, arguments: GetPermalink) -> str:
    """Return the ts of the message that the arguments name, or of the message that the run is about.

    Raises ToolError.
    """
    if ts := arguments.ts or call.place.get("ts", ""):
        return ts
    raise ToolError("Say which message: the request is not about one.")


def _link_result(link: str) -> ToolResult:
    """Return the link of a message. Details: link."""
    return ToolResult(f"The link of that message: {link}", "looked up a link", {"link": link})


class JoinChannel(Arguments):
    """The channel to join."""

    channel: str = Field(default="", description="Public channel, as #name. Left out: the one that this is about.")


@tool(
    effect="keyed",
    place=channel_place,
    writes=in_channel(),
    scopes=scopes("conversations.list", "conversations.join"),
    everyday="enter, get into, be added to a channel",
)
async def slack_join_channel(api: SlackApi, call: Call, arguments: JoinChannel) -> ToolResult:
    """Join a public Slack channel, so that Gofer can read and write there."""
    # Slack also answers with success if Gofer is already a member.
    channel = await channel_id(api, call, arguments.channel)
    reply = await api.write(call, "conversations.join", channel=channel)
    return _joined(channel, one_line(as_text(as_object(reply.get("channel")).get("name"))))


@slack_join_channel.mock
def _mock_join(call: Call, arguments: JoinChannel) -> ToolResult:
    """Return a channel as joined."""
    channel = channel_name(call, arguments.channel)
    return _joined(mock_channel_id(channel), mock_channel_name(channel))


def _joined(channel: str, name: str) -> ToolResult:
    """Return a joined channel. Details: channel id and name."""
    return ToolResult(f"Joined #{name or 'it'}.", "joined a channel", {"channel": channel, "name": name})
