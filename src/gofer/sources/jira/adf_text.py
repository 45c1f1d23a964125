"""The reader of Jira's document format (ADF): to text for a model.

Every node becomes text and never an error, even a node of an unknown kind.
"""

from gofer.sources.jira.api import Fields
from gofer.values.canonical_json import as_list, as_object, as_text

_INLINE = frozenset({"paragraph", "heading", "taskItem", "decisionItem", "codeBlock", "caption"})
_MEDIA = frozenset({"media", "mediaInline"})


def adf_text(document: object) -> str:
    """Return the text of a document with lists and code in Markdown; a plain string is returned trimmed."""
    if isinstance(document, str):
        return as_text(document).strip()
    return "\n".join(line.rstrip() for line in _block(as_object(document)).split("\n")).strip()


def _block(node: Fields) -> str:
    kind = as_text(node.get("type"))
    attributes = as_object(node.get("attrs"))
    match kind:
        case "bulletList":
            return "\n".join(_item("- ", child) for child in _children(node))
        case "orderedList":
            first = attributes.get("order")
            start = first if isinstance(first, int) else 1
            return "\n".join(_item(f"{start + i}. ", child) for i, child in enumerate(_children(node)))
        case "heading":
            return f"\n{_inside(node)}"
        case "codeBlock":
            return f"```\n{_inside(node)}\n```"
        case "taskItem":
            return f"- [{'x' if attributes.get('state') == 'DONE' else ' '}] {_inside(node)}"
        case "tableRow":
            return " | ".join(" ".join(_block(cell).split()) for cell in _children(node))
        case "blockquote":
            return "\n".join(f"> {line}" for line in _inside(node).split("\n"))
        case "rule":
            return "---"
        case _:
            return _leaf(kind, node, attributes) or _inside(node)


def _leaf(kind: str, node: Fields, attributes: Fields) -> str:
    if kind in _MEDIA:
        return "[attachment]"
    match kind:
        case "text":
            return _text(node)
        case "hardBreak":
            return "\n"
        case "mention" | "emoji" | "status":
            return as_text(attributes.get("text")) or as_text(attributes.get("shortName"))
        case "inlineCard" | "blockCard" | "embedCard":
            return as_text(attributes.get("url")) or "[card]"
        case "date":
            return f"[date {as_text(attributes.get('timestamp'))}]"
        case _:
            return ""


def _text(node: Fields) -> str:
    text = as_text(node.get("text"))
    for mark in map(as_object, as_list(node.get("marks"))):
        href = as_text(as_object(mark.get("attrs")).get("href"))
        if mark.get("type") == "link" and href and href != text:
            return f"{text} ({href})"
    return text


def _inside(node: Fields) -> str:
    between = "" if as_text(node.get("type")) in _INLINE else "\n"
    return between.join(_block(child) for child in _children(node))


def _item(marker: str, node: Fields) -> str:
    lines = _block(node).split("\n")
    return "\n".join([marker + lines[0], *("  " + line for line in lines[1:])])


def _children(node: Fields) -> list[Fields]:
    return [as_object(child) for child in as_list(node.get("content"))]
