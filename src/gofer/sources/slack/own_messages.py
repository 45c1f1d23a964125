"""The messages that an earlier attempt of a call can have left."""

from collections.abc import AsyncIterator

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.read_thread import Message
from gofer.sources.slack.scopes import Method
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

PAGE, PAGES = 200, 50
"""Messages asked for at once, as Slack advises, and how often."""
CLOCKS_APART = 300.0
"""Seconds Slack's clock may be behind ours."""


async def candidates(api: SlackApi, call: Call, channel: str, thread_ts: str) -> AsyncIterator[Message]:
    """Yield each message of a thread, or of a channel, since the call's run began, with metadata; in Slack's order.

    That it ends means that there is no other. Raises ToolError when there are too many to say so,
    SlackRefusal, TemporaryError.
    """
    method: Method = "conversations.history"
    where = {"channel": channel}
    if thread_ts:
        method = "conversations.replies"
        where["ts"] = thread_ts
    oldest = f"{max(0.0, call.since - CLOCKS_APART):.6f}"
    cursor = ""
    for _ in range(PAGES):
        page = await api.read(
            call, method, **where, oldest=oldest, limit=PAGE, cursor=cursor, include_all_metadata="true"
        )
        for message in map(as_object, as_list(page.get("messages"))):
            yield message
        cursor = as_text(as_object(page.get("response_metadata")).get("next_cursor"))
        if not cursor:
            return
    said = f"Slack has more than {PAGE * PAGES} messages there since; that is too many to look through."
    raise ToolError(said, code="too_many")


async def find_by_key(api: SlackApi, call: Call, channel: str, thread_ts: str) -> str:
    """Return the ts of the message an earlier attempt of the same call posted, found by the key in its metadata.

    Empty when it is certain that there is none. Raises TemporaryError, SlackRefusal when that cannot be told.
    """
    async for message in candidates(api, call, channel, thread_ts):
        payload = as_object(as_object(message.get("metadata")).get("event_payload"))
        if payload.get("key") == call.key:
            return as_text(message.get("ts"))
    return ""
