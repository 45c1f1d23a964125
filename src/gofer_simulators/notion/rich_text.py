"""Notion's rich text: from requests, from Markdown and to Markdown."""

import re
from collections.abc import Callable, Collection, Sequence

from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, text_of
from gofer_simulators.notion.api_request import Answer, invalid
from gofer_simulators.notion.forms import URL, check_annotations, check_length

CONTENT_LIMIT = 2_000
"""Longest text, in characters."""
LENGTH_LIMIT = 100
"""Most texts in one array."""
_MARKS = {"bold": "**", "italic": "*", "strikethrough": "~~", "code": "`"}
_ANNOTATIONS = ("bold", "italic", "strikethrough", "underline", "code")
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<bold>.+?)\*\*|~~(?P<strikethrough>.+?)~~|\*(?P<italic>[^*]+)\*"
    r"|\[(?P<label>[^\]]*)\]\((?P<url>[^)\s]+)\)"
)
Names = Callable[[str], str]
"""Returns the name of the user with an id. Raises NotionRefusal for an unknown user."""


def text(content: str, url: str = "", marks: Collection[str] = ()) -> Answer:
    """Return one text of a rich text array as an answer shows it."""
    return {
        "type": "text",
        "text": {"content": content, "link": {"url": url} if url else None},
        "annotations": {name: name in marks for name in _ANNOTATIONS} | {"color": "default"},
        "plain_text": content,
        "href": url or None,
    }


def read(value: object, names: Names, where: str = "rich_text") -> list[Answer]:
    """Return a rich text array of a request as an answer shows it. Raises NotionRefusal for a wrong form."""
    if not is_array(value):
        raise invalid(f"{where} should be an array, instead was {type(value).__name__}")
    if len(value) > LENGTH_LIMIT:
        raise invalid(f"{where}.length should be ≤ `{LENGTH_LIMIT}`, instead was `{len(value)}`")
    return [_read_text(item, names, f"{where}[{index}]") for index, item in enumerate(value)]


def plain(texts: Sequence[JsonObject]) -> str:
    """Return the plain text of a rich text array."""
    return "".join(text_of(item, "plain_text") for item in texts)


def to_markdown(texts: Sequence[JsonObject]) -> str:
    """Return a rich text array as inline Markdown."""
    return "".join(_text_to_markdown(item) for item in texts)


def from_markdown(markdown: str) -> list[Answer]:
    """Return the rich text array of inline Markdown."""
    found: list[Answer] = []
    end = 0
    for match in _INLINE.finditer(markdown):
        found += cut(markdown[end : match.start()])
        end = match.end()
        if url := match["url"]:
            found.append(text(match["label"], url))
            continue
        found += [text(match[mark], marks=(mark,)) for mark in _MARKS if match[mark]]
    return found + cut(markdown[end:])


def cut(content: str) -> list[Answer]:
    """Return a plain text as a rich text array, cut into texts of the longest allowed length."""
    return [text(content[at : at + CONTENT_LIMIT]) for at in range(0, len(content), CONTENT_LIMIT)]


def _read_text(item: object, names: Names, where: str) -> Answer:
    if not is_object(item):
        raise invalid(f"{where} should be an object")
    if unknown := set(item) - {"type", "text", "mention", "annotations", "plain_text", "href"}:
        raise invalid(f"{where}.{min(unknown)} should be not present")
    check_annotations(object_of(item, "annotations"), where)
    marks = [name for name, value in object_of(item, "annotations").items() if value is True]
    if is_object(item.get("mention")):
        return _mention(object_of(item, "mention"), names, where)
    inner = item.get("text")
    content = inner.get("content") if is_object(inner) else None
    if not is_object(inner) or not isinstance(content, str):
        raise invalid(f"{where}.text.content should be defined")
    if len(content) > CONTENT_LIMIT:
        raise invalid(f"{where}.text.content.length should be ≤ `{CONTENT_LIMIT}`, instead was `{len(content)}`")
    url = text_of(object_of(inner, "link"), "url")
    if inner.get("link") is not None and not re.match(r"(https?://|mailto:|/)\S+$", url):
        raise invalid(f"{where}.text.link.url: Invalid URL for link.")
    check_length(len(url), URL, f"{where}.text.link.url")
    return text(content, url, marks)


def _mention(mention: JsonObject, names: Names, where: str) -> Answer:
    user = text_of(object_of(mention, "user"), "id")
    if mention.get("type", "user") != "user" or not user:
        raise invalid(f"{where}.mention.user should be defined")
    shown = f"@{names(user)}"
    annotations = dict.fromkeys(_ANNOTATIONS, False) | {"color": "default"}
    inner = {"type": "user", "user": {"object": "user", "id": user}}
    return {"type": "mention", "mention": inner, "annotations": annotations, "plain_text": shown, "href": None}


def _text_to_markdown(item: JsonObject) -> str:
    words = text_of(item, "plain_text")
    annotations = object_of(item, "annotations")
    for name in ("code", "bold", "italic", "strikethrough"):
        if annotations.get(name) is True and words.strip():
            words = f"{_MARKS[name]}{words}{_MARKS[name]}"
    url = text_of(item, "href")
    if url:
        return f"[{words}]({url})"
    return words
