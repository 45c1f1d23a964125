"""Notion's rich text as Markdown: each link and mention with the id or address that leads on."""

from collections.abc import Callable
from urllib.parse import urljoin

from gofer.sources.markdown_writer import code
from gofer.sources.notion.api import Fields
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.values.canonical_json import as_list, as_object, as_text

_MARKS = (("bold", "**"), ("italic", "*"), ("strikethrough", "~~"))
_ORIGIN = "https://www.notion.so"


def inline(texts: object) -> str:
    """Return a rich text as Markdown."""
    return "".join(_part(as_object(part)) for part in as_list(texts))


def link(words: str, address: str) -> str:
    """Return a link in Markdown; the address alone if nothing else is known."""
    if not address:
        return words
    if words in ("", address):
        return address
    return f"[{words}]({address})"


def address_of(id_: str) -> str:
    """Return the address of a page or database, which the tools take; empty without an id."""
    if id_:
        return f"{_ORIGIN}/{id_.replace('-', '')}"
    return ""


def date_text(date: Fields) -> str:
    """Return a date: its start, and its end and time zone if it has them; empty if nothing is set."""
    days = "/".join(filter(None, (as_text(date.get(end)) for end in ("start", "end"))))
    zone = as_text(date.get("time_zone"))
    if zone:
        return f"{days} ({zone})"
    return days


def _part(part: Fields) -> str:
    kind = as_text(part.get("type"))
    reader = PARTS.reader(kind)
    if reader:
        return reader(part)
    if _plain(part) and not kind:
        return _plain(part)
    return f"{_plain(part)} {PARTS.named(kind)}".lstrip()


def _marked(text: str, part: Fields) -> str:
    """Return a text with the marks of its part, which stand at its words and not at the spaces around them."""
    words = text.strip()
    if not words:
        return text
    marks = as_object(part.get("annotations"))
    marked = code(words) if marks.get("code") is True else words
    for name, sign in _MARKS:
        if marks.get(name) is True:
            marked = f"{sign}{marked}{sign}"
    return text.replace(words, marked, 1)


def _plain(part: Fields) -> str:
    return as_text(part.get("plain_text"))


def _href(part: Fields) -> str:
    """Return the address of a part. Notion writes links within a workspace without their beginning."""
    if address := as_text(part.get("href")):
        return urljoin(_ORIGIN, address)
    return ""


def _text(part: Fields) -> str:
    if not _plain(part).strip():
        return _plain(part)
    return link(_marked(_plain(part), part), _href(part))


def _equation(part: Fields) -> str:
    expression = as_text(as_object(part.get("equation")).get("expression")) or _plain(part)
    return _marked(f"${expression}$", part)


def _mention(part: Fields) -> str:
    mention = as_object(part.get("mention"))
    kind = as_text(mention.get("type"))
    reader = MENTIONS.reader(kind)
    text = link(_plain(part), _href(part))
    if reader:
        text = reader(part, as_object(mention.get(kind)))
    elif kind or not text:
        text = f"{text} {MENTIONS.named(kind)}".lstrip()
    return _marked(text, part)


def _user(part: Fields, user: Fields) -> str:
    id_ = as_text(user.get("id"))
    name = as_text(user.get("name")) or _plain(part).removeprefix("@")
    if not id_:
        return f"@{name}"
    return f"@{name} (person {id_})"


def _page(part: Fields, page: Fields) -> str:
    return link(_plain(part), address_of(as_text(page.get("id"))) or _href(part))


def _date(part: Fields, date: Fields) -> str:
    return date_text(date) or _plain(part)


def _preview(part: Fields, preview: Fields) -> str:
    return link(_plain(part), as_text(preview.get("url")) or _href(part))


def _web_link(part: Fields, target: Fields) -> str:
    return link(as_text(target.get("title")) or _plain(part), as_text(target.get("href")) or _href(part))


def _template(part: Fields, template: Fields) -> str:
    return f"(template: {as_text(template.get(as_text(template.get('type')))) or _plain(part)})"


def _emoji(part: Fields, emoji: Fields) -> str:
    name = as_text(emoji.get("name"))
    if name:
        return f":{name}:"
    return _plain(part)


PARTS: Vocabulary[Callable[[Fields], str]] = Vocabulary(
    "part of a text",
    "part of a text",
    {
        "text": Member("its text and link; bold, italic, struck out and code; no colors, no underline", _text),
        "mention": Member("see the table of mentions", _mention),
        "equation": Member("its expression, as `$x$`", _equation),
    },
)
MENTIONS: Vocabulary[Callable[[Fields, Fields], str]] = Vocabulary(
    "mention",
    "mention",
    {
        "user": Member("the name and id of the person or connection", _user),
        "page": Member("the title as a link that the tools take", _page),
        "database": Member("the title as a link that the tools take", _page),
        "date": Member("its start, end and time zone", _date),
        "link_preview": Member("the words as a link", _preview),
        "link_mention": Member("the title as a link", _web_link),
        "template_mention": Member("“template: today”, “template: now” or “template: me”", _template),
        "custom_emoji": Member("its name, as `:name:`", _emoji),
    },
)
