"""Messages and reactions: readers see where they come from, and no person is paged by accident."""

import re

from pydantic import Field

from gofer.sources.slack.api import SlackApi, SlackRefusal
from gofer.sources.slack.fallback_text import fallback
from gofer.sources.slack.own_messages import find_by_key
from gofer.sources.slack.parts import one_message
from gofer.sources.slack.read_thread import channel_id
from gofer.sources.slack.refusals import NOT_THERE
from gofer.tools.definition import Arguments, Call, Provenance, ToolResult
from gofer.values.errors import ToolError

DELETED = ToolResult("Deleted.", "deleted a message")
_EMOJI = re.compile(r":?([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):?")


class PostMessage(Arguments):
    """What to say and where."""

    text: str = Field(min_length=1, description="The message in Markdown.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")
    thread_ts: str = Field(default="", description="ts of the thread to reply in. Left out: a new message.")


class UpdateMessage(Arguments):
    """What to say instead, and in which message."""

    text: str = Field(min_length=1, description="The whole new message in Markdown.")
    ts: str = Field(description="ts of the message, one that Gofer posted.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")


class DeleteMessage(Arguments):
    """Which message."""

    ts: str = Field(description="ts of the message, one that Gofer posted.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")


class AddReaction(Arguments):
    """Which emoji on which message."""

    emoji: str = Field(description="Name of the emoji without colons, such as eyes.")
    ts: str = Field(description="ts of the message.")
    channel: str = Field(default="", description="Channel, as #name. Left out: where the request came from.")


async def post_message(api: SlackApi, call: Call, arguments: PostMessage) -> ToolResult:
    """Post Markdown with one link to the prompt and one to the run; details: channel id and ts."""
    channel = await channel_id(api, call, arguments.channel)
    thread = {"thread_ts": arguments.thread_ts} if arguments.thread_ts else {}
    reply = await api.write(
        call,
        "chat.postMessage",
        channel=channel,
        **content(call, arguments.text),
        unfurl_links=False,
        unfurl_media=False,
        **thread,
    )
    return posted(channel, str(reply.get("ts", "")))


async def update_message(api: SlackApi, call: Call, arguments: UpdateMessage) -> ToolResult:
    """Replace a message of ours, links included; doing it twice is doing it once. Details: channel id and ts."""
    channel = await channel_id(api, call, arguments.channel)
    await api.write(call, "chat.update", channel=channel, ts=arguments.ts, **content(call, arguments.text))
    return changed(channel, arguments.ts)


async def delete_message(api: SlackApi, call: Call, arguments: DeleteMessage) -> ToolResult:
    """Delete a message of ours; one that is gone already counts as deleted."""
    channel = await channel_id(api, call, arguments.channel)
    try:
        await api.write(call, "chat.delete", channel=channel, ts=arguments.ts)
    except SlackRefusal as refused:
        if refused.code not in NOT_THERE:
            raise
    return DELETED


async def find_message(api: SlackApi, call: Call, arguments: PostMessage) -> ToolResult | None:
    """Return the message an earlier attempt of the same call posted, found by the key in its metadata.

    None when it is certain that there is none. Raises TemporaryError, SlackRefusal when that cannot be told.
    """
    channel = await channel_id(api, call, arguments.channel)
    ts = await find_by_key(api, call, channel, arguments.thread_ts)
    return posted(channel, ts) if ts else None


async def add_reaction(api: SlackApi, call: Call, arguments: AddReaction) -> ToolResult:
    """Add a reaction; one that is there already counts as added."""
    channel = await channel_id(api, call, arguments.channel)
    name = emoji_name(arguments.emoji)
    try:
        await api.write(call, "reactions.add", channel=channel, timestamp=arguments.ts, name=name)
    except SlackRefusal as refused:
        if refused.code != "already_reacted":
            raise
    return reacted(name)


def emoji_name(emoji: str) -> str:
    """Return the name of an emoji as Slack takes it. Raises ToolError."""
    if name := _EMOJI.fullmatch(emoji):
        return name[1]
    raise ToolError("That is not the name of an emoji; use one such as eyes or white_check_mark.")


def posted(channel: str, ts: str) -> ToolResult:
    """Return a message that was posted."""
    return ToolResult(f"Posted (ts {ts}).", "posted a message", {"channel": channel, "ts": ts})


def changed(channel: str, ts: str) -> ToolResult:
    """Return a message that has another text."""
    return ToolResult(f"Changed (ts {ts}).", "changed a message", {"channel": channel, "ts": ts})


def reacted(emoji: str) -> ToolResult:
    """Return a message that has a reaction."""
    return ToolResult(f"The message now has :{emoji}:.", f"added :{emoji}:")


def content(call: Call, markdown: str) -> dict[str, object]:
    """Return the fields of a message: its text, links, and what it is found and counted by. Raises ToolError."""
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
        # Neither names nor addresses in the text are looked for; what stands in it is all there is.
        "parse": "none",
        "link_names": False,
    }


def origin(provenance: Provenance) -> list[dict[str, object]]:
    """Return the links under a message; none under one that another with the links follows."""
    links = [f"<{provenance.prompt_url}|{provenance.workflow} prompt>"] if provenance.prompt_url else []
    if provenance.run_url:
        links.append(f"<{provenance.run_url}|run {provenance.run[:8]}>")
    return [{"type": "context", "elements": [{"type": "mrkdwn", "text": " · ".join(links)}]}] if links else []
