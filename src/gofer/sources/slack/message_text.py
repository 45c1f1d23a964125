"""The one reading of a message of Slack: what its author wrote, and what it carries besides.

The texts are in mrkdwn, in which people, channels and groups are references. Only `names.Names` replaces them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gofer.sources.slack.block_text import at, pieces
from gofer.sources.slack.rich_text import Fields, Reader, minute, nothing, plain
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.values.canonical_json import as_list, as_object, as_text

_AUTHOR = 80
_ADDRESS = 300
"""The most characters of a name and an address above a part."""
NESTED = 3
"""The most levels of messages within messages that are read: a forwarded message that forwards one, and so on."""
_PLACEHOLDERS = frozenset({"[no preview available]", "This content can't be displayed."})
"""The texts that Slack puts in place of blocks and attachments without a text of their own."""
_SAID = ("pretext", "title", "text", "blocks", "message_blocks", "attachments", "work_object_entity", "fields", "files")
"""The fields of an attachment for which its `fallback` stands in apps that do not show them."""
_LABEL = re.compile(r"<([@#!][^<>|]*)\|[^<>]*>")
_SAME = re.compile(r"<([^<>|]*)\|\1>")
_MARKER = re.compile(r"^[ \t]*(?:\d{1,3}|[a-z]|[ivx]{1,5})\.[ \t]", re.MULTILINE)
"""The number of a list's item. A person's text and blocks count the deeper levels of a list differently."""
_WORD = re.compile(r"[^\W_]+")
LINKS = "gofer_links"
"""The id of the block with the links below an answer of Gofer's, which says nothing to a model."""
_COMPARED = 200
"""The most lines of a text that are looked for in the blocks. Slack sends at most 4,000 characters of most texts."""


@dataclass(frozen=True, slots=True)
class Carried:
    """One part that a message carries: a forwarded message, the preview of a page, or what an app attached."""

    what: str
    heading: str
    """What it is, who made it, and where it comes from, on one line."""
    text: str
    files: Sequence[Fields]
    """Slack's descriptions of the files of a forwarded message."""


@dataclass(frozen=True, slots=True)
class MessageText:
    """A message as text in mrkdwn, in two parts. Only what the author wrote can address a person or an app."""

    written: str
    """The text and the message's own blocks, without repetition."""
    carried: Sequence[Carried]

    @property
    def texts(self) -> Sequence[str]:
        """All texts, first what the author wrote."""
        return [text for text in (self.written, *(part.text for part in self.carried)) if text]


def read(message: Fields, depth: int = NESTED) -> MessageText:
    """Return the text of a message that Slack sent, at most `depth` levels of forwarded messages deep."""
    attachments = map(as_object, as_list(message.get("attachments")))
    blocks = [block for block in as_list(message.get("blocks")) if as_object(block).get("block_id") != LINKS]
    written = _once(as_text(message.get("text")), "\n".join(pieces(blocks)))
    return MessageText(written, [_carried(attachment, depth) for attachment in attachments if attachment])


def files_of(message: Fields, depth: int = NESTED) -> Sequence[Fields]:
    """Return Slack's descriptions of the files of a message, and of the messages that it forwards."""
    found = [as_object(file) for file in as_list(message.get("files"))]
    if depth <= 0:
        return found
    for attachment in map(as_object, as_list(message.get("attachments"))):
        found += files_of(attachment, depth - 1)
    for inner in _inner_messages(message):
        found += files_of(inner, depth - 1)
    return found


def _once(text: str, blocks: str) -> str:
    """Return the text and the blocks of a message without what one of them repeats of the other.

    People's editors send the same words as text and as blocks. Apps send a title or a summary as text.
    """
    if not blocks.strip() or all(map(_holds(text), blocks.split("\n"))):
        return text
    if text in _PLACEHOLDERS:
        return blocks
    repeated = _holds(blocks)
    lines = text.split("\n")
    own = [line for line in lines[:_COMPARED] if not repeated(line)]
    return "\n".join([*own, *lines[_COMPARED:], blocks])


def _holds(text: str) -> Callable[[str], bool]:
    """Return what tells whether a text has the words of a line, or a line without words as it is."""
    known = _words(text)

    def holds(line: str) -> bool:
        words = _words(line)
        return words in known if words else line.strip() in text

    return holds


def _words(text: str) -> str:
    """Return the words of a text in mrkdwn, without marks and labels; empty if it has only signs."""
    bare = _SAME.sub(r"<\1>", _LABEL.sub(r"<\1>", _MARKER.sub("", text)))
    for name in ("&lt;", "&gt;", "&amp;"):
        bare = bare.replace(name, " ")
    found = _WORD.findall(bare)
    return f" {' '.join(found)} " if found else ""


def _carried(attachment: Fields, depth: int) -> Carried:
    origin = _first(attachment, "from_url", "original_url", "app_unfurl_url")
    what = "attachment"
    if _is_message(attachment, origin):
        what = "shared message"
    elif origin:
        what = "preview"
    heading = what
    if author := _first(attachment, "author_name", "author_subname"):
        heading += f" by {author[:_AUTHOR]}"
    if link := origin or _first(attachment, "author_link"):
        heading += f", {link[:_ADDRESS]}"
    text = "\n".join(_attached(attachment, depth))
    return Carried(what=what, heading=f"[{heading}:]", text=text, files=files_of(attachment, depth))


def _first(attachment: Fields, *names: str) -> str:
    """Return the first of some fields that has a text, on one line."""
    return next(filter(None, (" ".join(as_text(attachment.get(name)).split()) for name in names)), "")


def _is_message(attachment: Fields, origin: str) -> bool:
    return attachment.get("is_share") is True or attachment.get("is_msg_unfurl") is True or "/archives/" in origin


def _attached(attachment: Fields, depth: int) -> Iterator[str]:
    """Yield the lines of an attachment, in the order of its vocabulary."""
    if depth <= 0:
        yield "(forwarded messages within each other, more than Gofer reads)"
        return
    lines: list[str] = []
    for name, member in ATTACHMENT.members.items():
        if member.reader and (attachment.get(name) or name == "text"):
            lines += member.reader(attachment, depth)
        elif attachment.get(name):
            lines.append(ATTACHMENT.named(name))
    lines += [ATTACHMENT.named(name) for name, value in attachment.items() if _is_unknown(name, value)]
    fallback = as_text(attachment.get("fallback"))
    if fallback not in ("", *_PLACEHOLDERS) and not any(map(attachment.get, _SAID)):
        yield fallback
    elif not lines and not attachment.get("files"):
        yield "(an attachment without text)"
    yield from lines


def _is_unknown(name: str, value: object) -> bool:
    """Return whether a field is in no vocabulary and may have content; ids, addresses and flags have none."""
    if name in ATTACHMENT.members:
        return False
    return bool(value) and (isinstance(value, list | dict) or " " in as_text(value).strip())


def _text(attachment: Fields, depth: int) -> Iterator[str]:
    """Yield the text of an attachment together with its blocks, and with the messages that it forwards."""
    blocks = [*pieces(as_list(attachment.get("blocks")))]
    for message in [*_inner_messages(attachment), {"attachments": attachment.get("attachments")}]:
        said = read(message, depth - 1)
        blocks += [said.written] * bool(said.written)
        blocks += [line for part in said.carried for line in (part.heading, part.text)]
    yield from filter(None, [_once(as_text(attachment.get("text")), "\n".join(blocks))])


def _inner_messages(attachment: Fields) -> Sequence[Fields]:
    blocks = map(as_object, as_list(attachment.get("message_blocks")))
    return [as_object(block.get("message")) for block in blocks]


def _marked(path: str, form: str = "{}") -> Reader:
    """Return what reads a field in mrkdwn."""

    def read_field(attachment: Fields, depth: int) -> Iterator[str]:
        yield form.format(as_text(attachment.get(path)))

    return read_field


def _title(attachment: Fields, depth: int) -> Iterator[str]:
    title = as_text(attachment.get("title"))
    link = as_text(attachment.get("title_link"))
    if link:
        title += f" (<{link}>)"
    yield title


def _fields(attachment: Fields, depth: int) -> Iterator[str]:
    for field in map(as_object, as_list(attachment.get("fields"))):
        value = field.get("value")
        text = as_text(value) or " ".join(pieces(value))
        yield ": ".join(filter(None, [as_text(field.get("title")), text]))


def _work_object(attachment: Fields, depth: int) -> Iterator[str]:
    """Yield an object of another system, such as an issue, from its layout with the most fields."""
    layouts = as_object(at(attachment, "work_object_entity.layouts"))
    layout = layouts.get("expanded") or next(iter(layouts.values()), None)
    for path in ("title.text", "subtitle.text"):
        yield from pieces(at(layout, path))
    for field in map(as_object, as_list(at(layout, "fields.elements"))):
        value = " ".join(pieces(field.get(as_text(field.get("field_type")))))
        yield ": ".join(filter(None, [plain(as_text(field.get("label"))), value]))
    yield from pieces(at(attachment, "work_object_entity.external_url"))


def _preview(attachment: Fields, depth: int) -> Iterator[str]:
    for path in ("preview.title", "preview.subtitle"):
        yield from pieces(at(attachment, path))


def _actions(attachment: Fields, depth: int) -> Iterator[str]:
    yield " ".join(pieces(attachment.get("actions"), depth=3))


def _time(attachment: Fields, depth: int) -> Iterator[str]:
    yield f"({minute(attachment.get('ts'))})"


ATTACHMENT: Vocabulary[Reader] = Vocabulary(
    "field of an attachment",
    "field",
    {
        "author_name": Member("above the attachment; else `author_subname`", nothing),
        "from_url": Member(
            "above the attachment: where it comes from; also `original_url` and `app_unfurl_url`", nothing
        ),
        "pretext": Member("its text", _marked("pretext")),
        "title": Member("its text and `title_link`", _title),
        "text": Member("its text", _text),
        "blocks": Member("as the blocks of a message, without what `text` repeats", nothing),
        "message_blocks": Member("the forwarded messages, as messages", nothing),
        "attachments": Member("what a forwarded message carries, as attachments", nothing),
        "work_object_entity": Member("title, subtitle, fields and link of an app's object", _work_object),
        "fields": Member("title and value of each field", _fields),
        "preview": Member("title and subtitle", _preview),
        "image_url": Member("its address", _marked("image_url", "(image: {})")),
        "thumb_url": Member("a small picture"),
        "video_url": Member("its address", _marked("video_url", "(video: {})")),
        "video_html": Member("a player for a video"),
        "audio_url": Member("its address", _marked("audio_url", "(sound: {})")),
        "audio_html": Member("a player for a sound"),
        "actions": Member("its buttons and menus", _actions),
        "service_name": Member("its text", _marked("service_name")),
        "private_channel_prompt": Member("a message of a private channel, which Slack does not show here"),
        "footer": Member("its text", _marked("footer")),
        "ts": Member("the time", _time),
        "files": Member("as the files of a message", nothing),
        "fallback": Member("its text, if no other field says what it is about", nothing),
        "color": Member("nothing: it is a look", nothing),
        "mrkdwn_in": Member("nothing: it is a look", nothing),
    },
)


SUBTYPES: Vocabulary[Reader] = Vocabulary(
    "subtype of a message",
    "message subtype",
    {
        "bot_message": Member("a message of an app, which may start a run", nothing),
        "file_share": Member("a message with files, which may start a run", nothing),
        "me_message": Member("a message of a person after `/me`, which may start a run", nothing),
        "thread_broadcast": Member("a reply that the channel shows too, which may start a run", nothing),
        "assistant_app_thread": Member("the beginning of a thread with an app"),
        "bot_add": Member("an app was added"),
        "bot_disable": Member("an app was switched off"),
        "bot_enable": Member("an app was switched on"),
        "bot_remove": Member("an app was removed"),
        "channel_archive": Member("the channel was archived"),
        "channel_canvas_updated": Member("the canvas of the channel was changed"),
        "channel_convert_to_private": Member("the channel became private"),
        "channel_convert_to_public": Member("the channel became public"),
        "channel_join": Member("a person joined the channel"),
        "channel_leave": Member("a person left the channel"),
        "channel_name": Member("the channel got another name"),
        "channel_posting_permissions": Member("it was changed who may write in the channel"),
        "channel_purpose": Member("the purpose of the channel was changed"),
        "channel_topic": Member("the topic of the channel was changed"),
        "channel_unarchive": Member("the channel is no longer archived"),
        "document_mention": Member("a mention in a canvas"),
        "ekm_access_denied": Member("a message that the company's key service keeps closed"),
        "file_comment": Member("a comment on a file"),
        "file_mention": Member("a mention of a file"),
        "group_archive": Member("the channel was archived"),
        "group_join": Member("a person joined the channel"),
        "group_leave": Member("a person left the channel"),
        "group_name": Member("the channel got another name"),
        "group_purpose": Member("the purpose of the channel was changed"),
        "group_topic": Member("the topic of the channel was changed"),
        "group_unarchive": Member("the channel is no longer archived"),
        "hidden_by_limit": Member("a message that the workspace's plan hides"),
        "huddle_thread": Member("a huddle"),
        "joiner_notification": Member("a person joined the workspace"),
        "message_changed": Member("an edit"),
        "message_deleted": Member("a deletion"),
        "message_replied": Member("a notice of a reply"),
        "pinned_item": Member("a message was pinned"),
        "reminder_add": Member("a reminder was set"),
        "reply_broadcast": Member("a notice of a reply that the channel shows too"),
        "sh_room_created": Member("a huddle or call"),
        "slackbot_response": Member("an automatic answer of Slackbot"),
        "tabbed_canvas_updated": Member("a canvas of the channel was changed"),
        "tombstone": Member("a deleted message"),
        "unpinned_item": Member("a message is no longer pinned"),
    },
)
"""The subtypes of messages. Those with a reader are new messages by people and apps; the others are notices."""
