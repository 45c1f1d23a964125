"""What a vendor makes live of a text: everything that does not stand as code, with the addresses of links."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_FENCE = re.compile(r"^(```+|~~~+)[^\n]*\n.*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200c\u2060-\u2064\u2066-\u2069\u202a-\u202e\ufeff\ufe00-\ufe0e\U000e0000-\U000e01ef]"
)
"""Invisible characters. Emoji need U+200D and U+FE0F."""
_DEFUSED = re.compile("(?<=[@<;])[\u200b\u2060]")
"""The sign with which Gofer keeps a name from calling people."""
_HTML = re.compile(
    r"(?<!\\)<(img|a|iframe|script|form|style|svg|input|details|meta|link|div|span|video|base)\b[^>]*>", re.I
)
_PICTURE = re.compile(r"!\[[^\]]*\](\(|\[)")
_CALLS = re.compile(r"<!(channel|here|everyone|subteam\^)|(?<!\w)@(channel|here|everyone)\b")


def folded(text: str) -> str:
    """Return a text as an address bar reads it: in one form of its letters, without invisible characters."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).lower()


def invisible(text: str) -> bool:
    """Return whether a text has invisible characters."""
    return bool(_INVISIBLE.search(_DEFUSED.sub("", text)))


def markup(text: str, *, of: str) -> Sequence[str]:
    """Return the kinds of markup in a live text of a system that show or call something.

    Jira and Notion take trees, in which HTML is a text.
    """
    kinds = {"a picture": _PICTURE}
    match of:
        case "slack":
            kinds |= {"HTML": _HTML, "a call to many": _CALLS}
        case "github":
            kinds["HTML"] = _HTML
        case _:
            pass
    return [kind for kind, pattern in kinds.items() if pattern.search(text)]


def of_markdown(text: str) -> str:
    """Return Markdown without its code."""
    return _CODE.sub(" ", _FENCE.sub(" ", text))


def of_slack(text: str, blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return what is live of a message of Slack: of its blocks, or of its text if there are none."""
    if blocks:
        return "\n".join(part for block in blocks for part in _slack_parts(block))
    return of_markdown(text)


def _slack_parts(block: Mapping[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "markdown":
            yield of_markdown(block.get("text", ""))
        case "image" | "video":
            yield f"![{block.get('alt_text', '')}]({block.get('image_url', '')})"
        case "rich_text_preformatted":
            return
        case "text" if block.get("style", {}).get("code"):
            return
        case "link":
            yield f"{block.get('url', '')} {block.get('text', '')}"
        case "mrkdwn" | "plain_text":
            yield of_markdown(str(block.get("text", "")))
        case _:
            text = block.get("text")
            if isinstance(text, dict):
                yield from _slack_parts(text)
            elif text:
                yield str(text)
            for name in ("elements", "fields", "rows"):
                for part in block.get(name, ()):
                    for one in part if isinstance(part, list) else [part]:
                        yield from _slack_parts(one)


def of_document(node: Mapping[str, Any]) -> str:
    """Return what is live of a document of Jira."""
    return "\n".join(_document_parts(node))


def _document_parts(node: Mapping[str, Any]) -> Iterator[str]:
    kind, attributes = node.get("type"), node.get("attrs", {})
    marks = {mark.get("type"): mark.get("attrs", {}) for mark in node.get("marks", ())}
    if kind == "codeBlock" or "code" in marks:
        return
    if kind in ("media", "inlineCard", "blockCard"):
        yield f"![]({attributes.get('url', '')})"
    if "link" in marks:
        yield str(marks["link"].get("href", ""))
    if kind == "text":
        yield str(node.get("text", ""))
    for child in node.get("content", ()):
        yield from _document_parts(child)


def of_rich_text(texts: Sequence[Mapping[str, Any]]) -> str:
    """Return what is live of a rich text of Notion."""
    parts = [f"{one.get('href') or ''} {one.get('plain_text', '')}" for one in texts if not _is_code(one)]
    return "".join(parts)


def _is_code(text: Mapping[str, Any]) -> bool:
    return bool(text.get("annotations", {}).get("code")) and not text.get("href")
