"""Documents in the Atlassian Document Format as HTML, for the pages on which people read issues."""

from html import escape

from gofer_simulators.json_values import JsonObject, object_of, objects, text_of
from gofer_simulators.local_links import LocalLinks
from gofer_simulators.web_pages import anchor, linked

_TAGS = {
    "paragraph": "p", "heading": "h3", "bulletList": "ul", "orderedList": "ol", "listItem": "li", "codeBlock": "pre",
    "blockquote": "blockquote", "table": "table", "tableRow": "tr", "tableHeader": "th", "tableCell": "td",
}  # fmt: skip


def adf_html(node: JsonObject, links: LocalLinks) -> str:
    """Return a node with its children as HTML; a node of an unknown type becomes its children."""
    match text_of(node, "type"):
        case "text":
            return _text(node, links)
        case "hardBreak":
            return "<br>"
        case "rule":
            return "<hr>"
        case "inlineCard" | "blockCard":
            address = text_of(object_of(node, "attrs"), "url")
            return anchor(address, address, links)
        case "mention" | "emoji" | "status":
            return escape(text_of(object_of(node, "attrs"), "text"))
        case kind:
            inner = "".join(adf_html(child, links) for child in objects(node.get("content")))
            if kind in _TAGS:
                return f"<{_TAGS[kind]}>{inner}</{_TAGS[kind]}>"
            return inner


def _text(node: JsonObject, links: LocalLinks) -> str:
    words = text_of(node, "text")
    for mark in objects(node.get("marks")):
        if mark.get("type") == "link":
            return anchor(text_of(object_of(mark, "attrs"), "href"), words, links)
    return linked(words, links)
