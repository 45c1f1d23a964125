"""The tools that write messages and reactions, with links to their origin and without accidental notifications."""

import re
import unicodedata
from collections.abc import AsyncIterator, Mapping

from pydantic import Field

from gofer.journal.purposes import ANSWER, STATUS, is_notice_of_wait
from gofer.sources.origin_links import origin_links
from gofer.sources.slack.api import SlackApi, SlackRefusal, next_cursor
from gofer.sources.slack.fallback_text import fallback
from gofer.sources.slack.message_text import LINKS
from gofer.sources.slack.names import mock_channel_id, mock_ts
from gofer.sources.slack.parts import one_message
from gofer.sources.slack.places import channel_id, channel_name, channel_place, in_channel, thread_place
from gofer.sources.slack.read_thread import Message
from gofer.sources.slack.refusals import EDIT_REFUSED, NOT_THERE
from gofer.sources.slack.rich_text import escaped
from gofer.sources.slack.scopes import Method, scopes
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, Provenance, ToolResult
from gofer.tools.places import Origin
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.emoji_names import names_of, spelled
from gofer.values.errors import ToolError

_DELETED = ToolResult("Deleted.", "deleted a message")
_EMOJI = re.compile(r":?(?P<name>[^\s:]+)(?P<tone>::skin-tone-[2-6])?:?")


class PostMessage(Arguments):
    """The message, and its destination."""

    text: str = Field(min_length=1, description="The message in Markdown.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")
    thread_ts: str = Field(default="", description="ts of the thread to reply in. Left out: a new message.")


class UpdateMessage(Arguments):
    """The new text, and the message to change."""

    text: str = Field(min_length=1, description="The whole new message in Markdown.")
    ts: str = Field(description="ts of the message, one that Gofer posted.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")


class DeleteMessage(Arguments):
    """The message to delete."""

    ts: str = Field(description="ts of the message, one that Gofer posted.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")


class AddReaction(Arguments):
    """The emoji, and the message to put it on."""

    emoji: str = Field(description="Name of the emoji without colons, such as eyes.")
    ts: str = Field(description="ts of the message.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")


def _thread_of(arguments: PostMessage) -> str:
    """Return the ts of the thread. The channel is no part of it, because a call can name it in several ways."""
    return arguments.thread_ts


def _message_of(arguments: UpdateMessage | DeleteMessage) -> str:
    return arguments.ts


def _changed_message(origin: Origin, arguments: UpdateMessage | DeleteMessage) -> Mapping[str, str]:
    """Return the details of the posted message that a call changes; see `_posted`."""
    return {"channel": channel_name(origin, arguments.channel), "ts": arguments.ts}


@tool(
    effect="lookup",
    shows="message",
    settle=5.0,
    place=thread_place,
    destination=_thread_of,
    writes=in_channel("text", "thread_ts"),
    markdown=frozenset({"text"}),
    scopes=scopes("conversations.list", "chat.postMessage", "conversations.replies", "conversations.history"),
    everyday="tell, notify, ping, announce, announcement; write in chat, send to a channel or the team, share "
    "news, let people know",
)
async def slack_post_message(api: SlackApi, call: Call, arguments: PostMessage) -> ToolResult:
    """Post a message to Slack. Not for the answer to the request: that is delivered by itself."""
    channel = await channel_id(api, call, arguments.channel)
    reply = await api.write(
        call,
        "chat.postMessage",
        channel=channel,
        **content(call, arguments.text),
        unfurl_links=False,
        unfurl_media=False,
        **in_thread(arguments.thread_ts),
    )
    return _posted(channel, str(reply.get("ts", "")))


@slack_post_message.look
async def _find(api: SlackApi, call: Call, arguments: PostMessage) -> ToolResult | None:
    """Return the message that an earlier attempt of the same call posted, found by the key in its metadata.

    Returns None when it certainly posted none. Raises TemporaryError and SlackRefusal when that is unclear.
    """
    channel = await channel_id(api, call, arguments.channel)
    ts = await find_by_key(api, call, channel, arguments.thread_ts)
    if ts:
        return _posted(channel, ts)
    return None


@slack_post_message.mock
def _mock_post(call: Call, arguments: PostMessage) -> ToolResult:
    """Return a message without posting it."""
    channel = mock_channel_id(channel_name(call, arguments.channel))
    content(call, arguments.text)
    return _posted(channel, mock_ts(arguments))


@tool(
    effect="keyed",
    shows="edit",
    place=channel_place,
    gone=EDIT_REFUSED,
    destination=_message_of,
    changes=_changed_message,
    writes=in_channel("text", "ts"),
    markdown=frozenset({"text"}),
    scopes=scopes("conversations.list", "chat.update"),
    everyday="edit, correct or fix a post in chat",
)
async def slack_update_message(api: SlackApi, call: Call, arguments: UpdateMessage) -> ToolResult:
    """Edit a message that Gofer posted: replace its text. Not for the answer to the request."""
    channel = await channel_id(api, call, arguments.channel)
    await api.write(call, "chat.update", channel=channel, ts=arguments.ts, **content(call, arguments.text))
    return _changed(channel, arguments.ts)


@slack_update_message.mock
def _mock_update(call: Call, arguments: UpdateMessage) -> ToolResult:
    """Return a changed message without changing one."""
    channel = mock_channel_id(channel_name(call, arguments.channel))
    content(call, arguments.text)
    return _changed(channel, arguments.ts)


@tool(
    effect="keyed",
    place=channel_place,
    destination=_message_of,
    changes=_changed_message,
    writes=in_channel("ts"),
    scopes=scopes("conversations.list", "chat.delete"),
    everyday="remove, take back or unsend a post in chat",
)
async def slack_delete_message(api: SlackApi, call: Call, arguments: DeleteMessage) -> ToolResult:
    """Delete a message that Gofer posted."""
    channel = await channel_id(api, call, arguments.channel)
    try:
        await api.write(call, "chat.delete", channel=channel, ts=arguments.ts)
    except SlackRefusal as refused:
        # A message that no longer exists counts as deleted.
        if refused.code not in NOT_THERE:
            raise
    return _DELETED


@slack_delete_message.mock
def _mock_delete(call: Call, arguments: DeleteMessage) -> ToolResult:
    """Return a deleted message without deleting one."""
    channel_name(call, arguments.channel)
    return _DELETED


@tool(
    effect="keyed",
    shows="reaction",
    place=channel_place,
    writes=in_channel("emoji", "ts"),
    scopes=scopes("conversations.list", "reactions.add"),
    everyday="react, thumbs up, checkmark, like, smiley, acknowledge a post",
)
async def slack_add_reaction(api: SlackApi, call: Call, arguments: AddReaction) -> ToolResult:
    """Add an emoji reaction to a Slack message. Not as an answer: that is delivered by itself."""
    channel = await channel_id(api, call, arguments.channel)
    name = _emoji_name(arguments.emoji)
    try:
        await api.write(call, "reactions.add", channel=channel, timestamp=arguments.ts, name=name)
    except SlackRefusal as refused:
        if refused.code != "already_reacted":
            raise
    return _reacted(name)


@slack_add_reaction.mock
def _mock_reaction(call: Call, arguments: AddReaction) -> ToolResult:
    """Return a reaction without adding it."""
    channel_name(call, arguments.channel)
    return _reacted(_emoji_name(arguments.emoji))


def _emoji_name(emoji: str) -> str:
    """Return the name that Slack sends for an emoji. Raises ToolError."""
    written = _EMOJI.fullmatch(unicodedata.normalize("NFC", emoji.strip().lower()))
    if written and written["name"] == spelled(written["name"]):
        return names_of(written["name"] + (written["tone"] or ""))[0]
    raise ToolError("That is not the name of an emoji; use one such as eyes or white_check_mark.")


def _posted(channel: str, ts: str) -> ToolResult:
    """Return a posted message. Details: channel id and ts."""
    return ToolResult(f"Posted (ts {ts}).", "posted a message", {"channel": channel, "ts": ts})


def _changed(channel: str, ts: str) -> ToolResult:
    """Return a changed message. Details: channel id and ts."""
    return ToolResult(f"Changed (ts {ts}).", "changed a message", {"channel": channel, "ts": ts})


def _reacted(emoji: str) -> ToolResult:
    """Return an added reaction."""
    return ToolResult(f"The message now has :{emoji}:.", f"added :{emoji}:")


def content(call: Call, markdown: str) -> dict[str, object]:
    """Return the fields of a message: its text and links, and the metadata with its key and hops. Raises ToolError."""
    text = one_message(markdown)
    if text is None:
        raise ToolError(
            "That is empty or longer than one Slack message (11,000 characters, less with many headings, tables or code"
            " blocks); post it in several."
        )
    return {
        "text": fallback(text),
        "blocks": [{"type": "markdown", "text": text}, *origin(call.provenance)],
        "metadata": {"event_type": "gofer_call", "event_payload": {"key": call.key, "hops": call.hops}},
        # Slack must not turn names or addresses in the text into mentions or links.
        "parse": "none",
        "link_names": False,
    }


def in_thread(thread_ts: str) -> dict[str, object]:
    """Return the field that puts a message into a thread; none for a message in the channel itself."""
    if not thread_ts:
        return {}
    return {"thread_ts": thread_ts}


def origin(provenance: Provenance) -> list[dict[str, object]]:
    """Return the block below a message: what the run wrote, and links. If another part follows, there is none."""
    links = [f"<{url}|{words}>" for words, url in origin_links(provenance)]
    if parts := [*filter(None, [escaped(provenance.wrote)]), *links]:
        return [{"type": "context", "block_id": LINKS, "elements": [{"type": "mrkdwn", "text": " · ".join(parts)}]}]
    return []


PAGE = 200
"""Messages in one request, as Slack recommends."""
PAGES = 50
"""The most requests of one search."""
CLOCKS_APART = 300.0
"""The most seconds by which Slack's clock may be behind Gofer's."""


async def candidates(api: SlackApi, call: Call, channel: str, thread_ts: str) -> AsyncIterator[Message]:
    """Yield each message of a thread or channel since the call's run began, with metadata, in Slack's order.

    When the iterator ends, there are no further messages. Raises ToolError when there are too many to read them all,
    and SlackRefusal, TemporaryError.
    """
    method: Method = "conversations.history"
    asked: dict[str, str | int] = {"channel": channel}
    if thread_ts:
        method = "conversations.replies"
        asked["ts"] = thread_ts
    oldest = f"{max(0.0, call.since - CLOCKS_APART):.6f}"
    asked |= {"oldest": oldest, "limit": PAGE, "cursor": "", "include_all_metadata": "true"}
    following = ""
    async for page in api.pages(call, method, PAGES, **asked):
        for message in map(as_object, as_list(page.get("messages"))):
            yield message
        following = next_cursor(page)
    if not following:
        return
    reason = f"Slack has more than {PAGE * PAGES} messages since the call may have been made, too many to look through."
    raise ToolError(reason, code="too_many")


async def find_by_key(api: SlackApi, call: Call, channel: str, thread_ts: str) -> str:
    """Return the ts of the message that an earlier attempt of the same call posted, found by the key in its metadata.

    Returns an empty text when it certainly posted none. Raises TemporaryError and SlackRefusal when that is unclear.
    """
    async for message in candidates(api, call, channel, thread_ts):
        payload = as_object(as_object(message.get("metadata")).get("event_payload"))
        if _is_of(as_text(payload.get("key")), call.key):
            return as_text(message.get("ts"))
    return ""


def _is_of(key: str, call: str) -> bool:
    """Return whether a message with a key is the one of a call, by the key of the call.

    Notices of waits and the answer replace the status message and its key. A run from a backup does not know that it
    answered.
    """
    run, _, purpose = call.partition("/")
    if purpose != STATUS:
        return key == call
    own, _, last = key.partition("/")
    return own == run and (last in (STATUS, ANSWER) or is_notice_of_wait(last))
