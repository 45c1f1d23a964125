"""The rich text of a message as text in mrkdwn, Slack's own markup: people and channels stay references.

Each type that Slack publishes is a member of a vocabulary with what reads it, or with the words in its place.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from gofer.sources.vocabulary import Member, Vocabulary
from gofer.values.canonical_json import as_list, as_object, as_text

Fields = Mapping[str, object]
Reader = Callable[[Fields, int], Iterator[str]]
"""What reads one block or element, at most so many levels deep: its lines, or its pieces of one line."""

DEPTH = 12
"""The most levels of blocks within blocks. What Slack publishes has at most six."""
DEEPER = "(blocks nested deeper than Gofer reads)"
_BARE = re.compile(r"&(?!(?:amp|lt|gt);)")


def escaped(text: str) -> str:
    """Return text with mrkdwn's special characters escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def plain(text: str) -> str:
    """Return plain text with mrkdwn's special characters escaped, once."""
    return _BARE.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def minute(ts: object) -> str:
    """Return unix seconds, such as a message's ts, as a time for people."""
    try:
        return datetime.fromtimestamp(float(str(ts)), UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "an unknown time"


def nothing(fields: Fields, depth: int) -> Iterator[str]:
    """Yield nothing, for what is only a look or is read elsewhere."""
    yield from ()


def rich_text(fields: Fields, depth: int = DEPTH) -> Iterator[str]:
    """Yield the text of each element of a rich text, with the marks of its style."""
    for element in map(as_object, as_list(fields.get("elements"))):
        kind = as_text(element.get("type"))
        read = RICH.reader(kind)
        if depth <= 0:
            yield DEEPER
        elif read is None:
            yield RICH.named(kind)
        else:
            yield _styled("".join(read(element, depth - 1)), as_object(element.get("style")))


_STYLES = (("code", "`"), ("strike", "~"), ("italic", "_"), ("bold", "*"))


def _styled(text: str, style: Fields) -> str:
    for name, mark in _STYLES:
        if style.get(name) is True and text.strip():
            text = f"{mark}{text}{mark}"
    return text


def _typed_text(fields: Fields, depth: int) -> Iterator[str]:
    yield escaped(as_text(fields.get("text")))


def _header(fields: Fields, depth: int) -> Iterator[str]:
    yield plain(as_text(as_object(fields.get("text")).get("text")))


def _code(fields: Fields, depth: int) -> Iterator[str]:
    yield f"```{''.join(rich_text(fields, depth))}```"


def _quote(fields: Fields, depth: int) -> Iterator[str]:
    yield "\n".join(f"&gt; {line}" for line in "".join(rich_text(fields, depth)).splitlines())


def _list(fields: Fields, depth: int) -> Iterator[str]:
    """Yield the items of one level of a list; a deeper level is a list of its own."""
    style = as_text(fields.get("style"))
    margin = "    " * min(_number(fields.get("indent")), DEPTH)
    first = _number(fields.get("offset")) + 1
    marks = {"checked": "[x]", "unchecked": "[ ]", "ordered": ""}
    items: list[str] = []
    for number, item in enumerate(rich_text(fields, depth), first):
        mark = marks.get(style, "•") or f"{number}."
        items.append(f"{margin}{mark} {item}")
    yield "\n".join(items)


def _number(value: object) -> int:
    if isinstance(value, int) and value > 0:
        return value
    return 0


def _reference(form: str, field: str) -> Reader:
    """Return what reads a mention as a reference, such as `<@U…>`."""

    def read(fields: Fields, depth: int) -> Iterator[str]:
        yield form.format(plain(as_text(fields.get(field))))

    return read


def _link(name: str, *ids: str) -> Reader:
    """Return what reads a link with its text, or names what it leads to by text and id."""

    def read(fields: Fields, depth: int) -> Iterator[str]:
        address = escaped(as_text(fields.get("url"))).replace("|", "%7C")
        texts = [escaped(as_text(fields.get(field))) for field in ("text", "label", "name", "value", *ids)]
        label = ", ".join(filter(None, texts[: None if not address else 4]))
        if address:
            yield f"<{address}|{label.replace('|', '/')}>" if label else f"<{address}>"
        else:
            yield f"({name}: {label})" if label else f"({name})"

    return read


def _emoji(fields: Fields, depth: int) -> Iterator[str]:
    tone = fields.get("skin_tone")
    yield f":{plain(as_text(fields.get('name')))}:"
    if isinstance(tone, int):
        yield f":skin-tone-{tone}:"


def _date(fields: Fields, depth: int) -> Iterator[str]:
    """Yield a moment as a reference with its words."""
    seconds = _number(fields.get("timestamp"))
    words = escaped(as_text(fields.get("fallback"))) or minute(seconds)
    yield f"<!date^{seconds}^{escaped(as_text(fields.get('format')))}|{words}>"


RICH: Vocabulary[Reader] = Vocabulary(
    "element of a rich text",
    "element of a rich text",
    {
        "rich_text_section": Member("its text", rich_text),
        "rich_text_list": Member("its items, with bullets, numbers or ticks", _list),
        "rich_text_quote": Member("its text, each line after `>`", _quote),
        "rich_text_preformatted": Member("its code", _code),
        "rich_text_header": Member("its text", _header),
        "rich_text_divider": Member("nothing: it is a line", nothing),
        "text": Member("its text, with marks for bold, italic, struck out and code", _typed_text),
        "link": Member("text and address", _link("link")),
        "user": Member("the person's name", _reference("<@{}>", "user_id")),
        "canvas_user_mention": Member("the person's name", _reference("<@{}>", "user_id")),
        "channel": Member("the channel's name", _reference("<#{}>", "channel_id")),
        "usergroup": Member("the group's name", _reference("<!subteam^{}>", "usergroup_id")),
        "broadcast": Member("`@here`, `@channel` or `@everyone`", _reference("<!{}>", "range")),
        "team": Member("the workspace's id", _reference("(workspace {})", "team_id")),
        "emoji": Member("its name", _emoji),
        "date": Member("the date, as people see it", _date),
        "color": Member("its value", _reference("{}", "value")),
        "attachment_mention": Member("text and address", _link("attachment", "entity_id")),
        "canvas": Member("label and id", _link("canvas", "file_id")),
        "canvas_message_unfurl": Member(
            "channel and time of the message", _link("message", "root_message_channel", "root_message_ts")
        ),
        "citation": Member("text and address", _link("citation")),
        "file": Member("name and id", _link("file", "file_id")),
        "list_record": Member("text and address", _link("list record", "file_id", "record_id")),
        "message_mention": Member("text and address", _link("message", "channel_id", "message_ts")),
        "salesforce_data_field": Member("text and address", _link("Salesforce field")),
        "tag": Member("its text", _link("tag")),
        "work_object_mention": Member("text and address", _link("work object", "entity_id")),
        "workflow_mention": Member("text and address", _link("workflow", "workflow_id")),
    },
)
