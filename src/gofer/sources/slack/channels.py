"""Channels: their newest messages, the link of a message, and joining."""

import re
from collections.abc import Mapping, Sequence

from pydantic import Field

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.attached_files import attached
from gofer.sources.slack.names import Names, look_up, mentioned, one_line
from gofer.sources.slack.read_thread import DIRECT, Message, channel_id, check_readable, is_private, render
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

PAGE = 200
_LINK = re.compile(r"<(https?://[^<>|]+)(?:\|[^<>]*)?>")


class ReadChannel(Arguments):
    """Which channel, and how much of it."""

    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")
    limit: int = Field(default=20, ge=1, le=500, description="How many of the newest messages.")


async def read_channel(api: SlackApi, call: Call, arguments: ReadChannel) -> ToolResult:
    """Return the newest messages of a channel without the replies in threads, oldest first, as text with names.

    Details: channel name, whether it is private, and `messages`: ts, thread_ts, user, name, text, links, reactions.
    """
    channel = await channel_id(api, call, arguments.channel)
    info = as_object((await api.read(call, "conversations.info", channel=channel)).get("channel"))
    private = is_private(info)
    check_readable(call, channel, info)
    messages = await _newest(api, call, channel, arguments.limit)
    people = {as_text(message.get("user")) for message in messages}
    names = await look_up(api, call, people | mentioned(as_text(message.get("text")) for message in messages))
    return channel_result(one_line(as_text(info.get("name"))) or DIRECT, messages, names, private=private)


def channel_result(name: str, messages: Sequence[Message], names: Names, *, private: bool) -> ToolResult:
    """Return a channel as it was read, for each of its readers."""
    files = attached(messages)
    return ToolResult(
        text=render(name, messages, names, title="Newest messages", files=files),
        summary=f"read {len(messages)} message{'' if len(messages) == 1 else 's'} of a channel",
        details={"channel": name, "private": private, "messages": [_value(message, names) for message in messages]},
        files=files,
    )


async def _newest(api: SlackApi, call: Call, channel: str, limit: int) -> Sequence[Message]:
    """Return the newest messages, oldest first."""
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
    user, text = as_text(message.get("user")), as_text(message.get("text"))
    return {
        "ts": as_text(message.get("ts")),
        "thread_ts": as_text(message.get("thread_ts")),
        "user": user,
        "name": names.person(user) if user else one_line(as_text(message.get("username"))),
        "text": names.text(text),
        "links": [link.replace("&amp;", "&") for link in _LINK.findall(text)],
        "reactions": [as_text(as_object(one).get("name")) for one in as_list(message.get("reactions"))],
    }


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
