"""The tool that reads a thread, and the thread's text for a model: authors, times, messages and the channel."""

import re
from collections.abc import Collection, Mapping, Sequence

from pydantic import Field

from gofer.sources.slack.api import SlackApi, next_cursor
from gofer.sources.slack.attached_files import attached, lines_of
from gofer.sources.slack.delivery import is_bot
from gofer.sources.slack.look_ups import NAMING, look_up
from gofer.sources.slack.message_text import SUBTYPES, MessageText, read
from gofer.sources.slack.names import (
    MOCK_NAMES,
    Names,
    mentioned,
    mock_channel_name,
    mock_messages,
)
from gofer.sources.slack.places import (
    DIRECT,
    MESSAGE_LINK,
    channel_id,
    channel_name,
    check_readable,
    is_private,
    readers_of,
    shown_name,
    with_outsiders,
)
from gofer.sources.slack.rich_text import minute
from gofer.sources.slack.scopes import scopes
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, NewFile, ToolResult
from gofer.tools.places import Origin, Place
from gofer.values.canonical_json import as_list, as_object, as_text, indented
from gofer.values.errors import ToolError

_TS = re.compile(r"\d{1,12}\.\d{1,9}")
PAGE = 200
"""Messages in one request."""
PAGES = 50
"""The most requests for one thread."""
TEXT_BUDGET = 30_000
"""The most characters of all message texts. The first message, the requested one and the newest ones are kept."""
MESSAGE_LIMIT = 12_000
"""The most characters of one message."""

Message = Mapping[str, object]


class ReadThread(Arguments):
    """The thread to read."""

    link: str = Field(default="", description="To any message of the thread; instead of channel and ts.")
    channel: str = Field(default="", description="As #name. Left out: where the request came from.")
    ts: str = Field(default="", description="Of any message of the thread.")


def _place(origin: Origin, arguments: ReadThread) -> Place:
    """Return the channel of the thread that a call names. Raises ToolError."""
    channel, _ = named_thread(origin, arguments)
    return Place("slack", "channel", channel, "" if arguments.link else "channel")


@tool(
    effect="read",
    place=_place,
    scopes=scopes("conversations.list", "conversations.info", "conversations.replies", *NAMING),
    everyday="conversation discussion chat replies; catch up, summarise, recap, what was said, who said what",
)
async def slack_read_thread(api: SlackApi, call: Call, arguments: ReadThread) -> ToolResult:
    """Read a Slack thread: who said what and when. Use it for threads that are linked or named."""
    named, ts = named_thread(call, arguments)
    channel = await channel_id(api, call, named)
    info = as_object((await api.read(call, "conversations.info", channel=channel)).get("channel"))
    private = is_private(info)
    check_readable(call, channel, info)
    messages, unread = await _whole_thread(api, call, channel, ts)
    names = await look_up(api, call, people(messages), messages)
    found = _thread_result(shown_name(info), messages, names, ts, private=private, unread=unread)
    return with_outsiders(found, info)


@slack_read_thread.mock
def _mock(call: Call, arguments: ReadThread) -> ToolResult:
    """Return a thread with one message, the requested one."""
    channel, ts = named_thread(call, arguments)
    return _thread_result(mock_channel_name(channel), mock_messages(ts), MOCK_NAMES, ts, private=False)


def _thread_result(
    name: str, messages: Sequence[Message], names: Names, ts: str, *, private: bool, unread: int = 0
) -> ToolResult:
    """Return a thread; `ts` is the ts of the requested message.

    Details: channel name, whether it is private, the number of messages, the ts of the first one. For scripts:
    `{channel, private, text, messages: [{ts, author, text}]}`, oldest first; `text` is the text for models.
    """
    files = attached(messages, ts)
    text = render(name, messages, names, ts, files=files, unread=unread)
    return ToolResult(
        text=text,
        summary=f"read {_counted(len(messages))} of a thread",
        details={
            "channel": name,
            "private": private,
            "messages": len(messages),
            "thread_ts": as_text(messages[0].get("ts")) if messages else ts,
            **_requested(messages, names, ts, {file.id for file in files}),
            **_deleted(messages, ts),
            **readers_of(name, private=private),
        },
        value={"channel": name, "private": private, "text": text, "messages": _listed(messages, names)},
        files=files,
    )


def _requested(messages: Sequence[Message], names: Names, ts: str, known: Collection[str]) -> Mapping[str, str]:
    """Return the requested message with names for ids, and its header; empty if it was deleted.

    What a person's message carries is apart from their words. An app speaks through its attachments.
    """
    message = next((message for message in messages if message.get("ts") == ts), None)
    if message is None:
        return {}
    carried = carried_lines(read(message), names, known)
    found = {"header": _header(message, names)}
    if is_bot(message) or not carried:
        return {**found, "words": "\n".join(_text_lines(message, names, known))}
    return {**found, "words": "\n".join(_own_lines(message, names, known)), "carried": "\n".join(carried)}


def _deleted(messages: Sequence[Message], ts: str) -> Mapping[str, bool]:
    """Return the detail `deleted` if Slack shows that the requested message was deleted."""
    marked = [message.get("ts") for message in messages if message.get("subtype") == "tombstone"]
    if ts in marked:
        return {"deleted": True}
    return {}


def _listed(messages: Sequence[Message], names: Names) -> list[dict[str, str]]:
    """Return the messages for scripts, with names for ids."""
    return [
        {
            "ts": as_text(message.get("ts")),
            "author": _author(message, names),
            "text": "\n".join(text_lines(read(message), names)),
        }
        for message in messages
    ]


def render(
    channel: str,
    messages: Sequence[Message],
    names: Names,
    focus: str = "",
    title: str = "Thread",
    files: Sequence[NewFile] = (),
    unread: int = 0,
) -> str:
    """Return messages as text for a model, oldest first, with one header line per message.

    Messages in the middle that do not fit are left out and counted, and so are `unread` ones. The message with ts
    `focus` is always shown. The `files` are listed below their messages with their ids.
    """
    known = {file.id for file in files}
    place = channel if channel in DIRECT else f"#{channel}"
    lines = [f"{title} in {place}, {_counted(len(messages) + unread)}, oldest first:"]
    before = -1
    for index in _choose(messages, focus):
        if index > before + 1:
            missing = index - before - 1
            lines += ["", f"({_counted(missing)} {'is' if missing == 1 else 'are'} left out here.)"]
        lines += ["", _header(messages[index], names), *_body(messages[index], names, known)]
        before = index
    if unread:
        lines += ["", f"({_counted(unread)} of this thread, which is too long, were not read.)"]
    return "\n".join(lines)


def _header(message: Message, names: Names) -> str:
    """Return the header line of a message. An app chooses its own name, so its line begins with the word `app`."""
    ts = as_text(message.get("ts"))
    line = f"{_author(message, names)} at {minute(ts)} (ts {ts}):"
    if message.get("user"):
        return line
    return f"app {line}"


def _counted(number: int) -> str:
    return f"{number} message{'' if number == 1 else 's'}"


def _choose(messages: Sequence[Message], focus: str) -> list[int]:
    """Return the indexes of messages within the budget: always the first and the requested one, then the newest."""
    chosen = {index for index, message in enumerate(messages) if index == 0 or message.get("ts") == focus}
    left = TEXT_BUDGET - sum(_size(messages[index]) for index in chosen)
    for index in reversed(range(len(messages))):
        if index in chosen:
            continue
        left -= _size(messages[index])
        if left < 0:
            break
        chosen.add(index)
    return sorted(chosen)


def _size(message: Message) -> int:
    header = 80
    said = read(message)
    carried = sum(len(part.text) for part in said.carried)
    return header + min(len(said.written), MESSAGE_LIMIT) + min(carried, MESSAGE_LIMIT)


def named_thread(call: Origin, arguments: ReadThread) -> tuple[str, str]:
    """Return the id or name of the channel, and the ts of a message in the thread. Raises ToolError."""
    if arguments.link:
        match = MESSAGE_LINK.search(arguments.link)
        if not match:
            raise ToolError("That is not a link to a Slack message; use one of the form …/archives/C…/p….")
        return match[1], match[4] or f"{match[2]}.{match[3]}"
    ts = arguments.ts or call.place.get("thread_ts", "")
    if not _TS.fullmatch(ts):
        raise ToolError("Say which thread: a link, or the ts of a message such as 1763709120.000100.")
    return channel_name(call, arguments.channel), ts


async def _replies(api: SlackApi, call: Call, channel: str, thread_ts: str, ts: str) -> tuple[Sequence[Message], int]:
    """Return Slack's messages of a thread, oldest first, from at most PAGES pages, and the number of unread messages.

    Of a longer thread, one more page begins with the message with ts `ts`, so that the question is always read.
    """
    found: dict[str, Message] = {}
    asked = {"channel": channel, "ts": thread_ts, "limit": PAGE}
    following = ""
    async for page in api.pages(call, "conversations.replies", PAGES, **asked, cursor=""):
        _add(found, page)
        following = next_cursor(page)
    if following and ts not in found:
        _add(found, await api.read(call, "conversations.replies", **asked, oldest=ts, inclusive="true"))
    messages = list(found.values())
    replies = messages[0].get("reply_count") if following else 0
    if isinstance(replies, int):
        return messages, max(0, replies + 1 - len(messages))
    return messages, 0


def _add(found: dict[str, Message], page: Mapping[str, object]) -> None:
    # Slack repeats the first message of the thread on every page.
    for message in map(as_object, as_list(page.get("messages"))):
        found.setdefault(as_text(message.get("ts")), message)


async def _whole_thread(api: SlackApi, call: Call, channel: str, ts: str) -> tuple[Sequence[Message], int]:
    """Return the thread of a message, and the number of its messages that are too many to be read.

    For the ts of a reply, Slack may return only this reply at first.
    """
    messages, unread = await _replies(api, call, channel, ts, ts)
    thread_ts = as_text(messages[0].get("thread_ts")) if messages else ""
    if not thread_ts or thread_ts == messages[0].get("ts"):
        return messages, unread
    return await _replies(api, call, channel, thread_ts, ts)


def people(messages: Sequence[Message]) -> set[str]:
    """Return the ids of the authors of messages, and of all people whom the messages mention."""
    authors = {as_text(message.get("user")) for message in messages}
    return authors | mentioned(text for message in messages for text in read(message).texts)


def _author(message: Message, names: Names) -> str:
    user = as_text(message.get("user"))
    if user:
        return f"@{names.of(user)}"
    return names.app(message)


def _body(message: Message, names: Names, known: Collection[str]) -> list[str]:
    """Return the lines of a message, indented so that no text can imitate the header of another message."""
    return indented("\n".join(_text_lines(message, names, known)))


def _text_lines(message: Message, names: Names, known: Collection[str]) -> list[str]:
    """Return the lines of what an author wrote and attached, and below it the lines of what the message carries."""
    lines = [*_own_lines(message, names, known), *carried_lines(read(message), names, known)]
    subtype = as_text(message.get("subtype"))
    if lines:
        return lines
    if subtype and SUBTYPES.reader(subtype) is None:
        return [SUBTYPES.named(subtype)]
    return ["(no text)"]


def _own_lines(message: Message, names: Names, known: Collection[str]) -> list[str]:
    said = read(message)
    own = [*written_lines(said, names), *lines_of(as_list(message.get("files")), known)]
    if not own and said.carried and not is_bot(message):
        return [_NO_WORDS]
    return own


_NO_WORDS = "(no words of their own, only what the message carries)"
CARRIED = 20
"""The most forwarded messages, previews and attachments that are shown below one message."""


def written_lines(said: MessageText, names: Names) -> list[str]:
    """Return the lines of what an author wrote, in at most MESSAGE_LIMIT characters."""
    return _cut(names.text(said.written), MESSAGE_LIMIT, "message").splitlines()


def carried_lines(said: MessageText, names: Names, known: Collection[str] = ()) -> list[str]:
    """Return the lines of what a message carries, each part after `| `.

    All texts together have at most MESSAGE_LIMIT characters.
    """
    lines: list[str] = []
    left = MESSAGE_LIMIT
    for part in said.carried[:CARRIED]:
        text = names.text(part.text)
        lines += [names.text(part.heading), *indented(_cut(text, left, part.what), "| ")]
        lines += [f"| {line}" for line in lines_of(part.files, known)]
        left = max(0, left - len(text))
    if len(said.carried) > CARRIED:
        lines.append(f"[{len(said.carried) - CARRIED} more attachments are left out.]")
    return lines


def text_lines(said: MessageText, names: Names) -> list[str]:
    """Return the lines of a message's text without its files, for scripts and answers."""
    return [*written_lines(said, names), *carried_lines(said, names)]


def _cut(text: str, limit: int, what: str) -> str:
    """Return the beginning of a text, with a note about what is left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[{len(text) - limit} further characters of this {what} are left out.]"
