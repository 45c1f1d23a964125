"""The Atlassian Document Format: the check of a document, and its plain text.

The check is as strict as the vendor's schema: it accepts only the listed nodes, marks, attributes and children.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects, text_of

_INLINE = frozenset({"text", "hardBreak", "mention", "emoji", "inlineCard", "date", "status"})
_LISTS = frozenset({"bulletList", "orderedList"})
_ITEM_FIRST = frozenset({"paragraph", "codeBlock", "mediaSingle"})
_QUOTED = _ITEM_FIRST | _LISTS
_CELL = _QUOTED | {"panel", "blockquote", "rule", "heading", "taskList", "blockCard", "nestedExpand"}
_TOP = (_CELL | {"table", "expand"}) - {"nestedExpand"}
_BESIDE_CODE = frozenset({"link", "annotation", "code"})
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_PANELS = frozenset({"info", "note", "tip", "warning", "error", "success", "custom"})
_STATUS_COLOURS = frozenset({"neutral", "purple", "blue", "red", "yellow", "green"})


@dataclass(frozen=True, slots=True)
class _Node:
    children: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    """Allowed types of the first child; if empty, `children` holds for it too."""
    least: int = 0
    needed: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    leaf: bool = False


_NODES: Mapping[str, _Node] = {
    "doc": _Node(_TOP),
    "paragraph": _Node(_INLINE, optional=frozenset({"localId"})),
    "heading": _Node(_INLINE, needed=frozenset({"level"}), optional=frozenset({"localId"})),
    "bulletList": _Node(frozenset({"listItem"}), least=1),
    "orderedList": _Node(frozenset({"listItem"}), least=1, optional=frozenset({"order"})),
    "listItem": _Node(_QUOTED, first=_ITEM_FIRST, least=1),
    "codeBlock": _Node(frozenset({"text"}), optional=frozenset({"language"})),
    "blockquote": _Node(_QUOTED, least=1),
    "panel": _Node(_QUOTED | {"heading"}, least=1, needed=frozenset({"panelType"})),
    "rule": _Node(leaf=True),
    "table": _Node(frozenset({"tableRow"}), least=1),
    "tableRow": _Node(frozenset({"tableHeader", "tableCell"}), least=1),
    "tableHeader": _Node(_CELL, least=1),
    "tableCell": _Node(_CELL, least=1),
    "taskList": _Node(
        frozenset({"taskItem", "taskList"}), first=frozenset({"taskItem"}), least=1, needed=frozenset({"localId"})
    ),
    "taskItem": _Node(_INLINE, needed=frozenset({"localId", "state"})),
    "expand": _Node(_CELL - {"nestedExpand"}, least=1, optional=frozenset({"title"})),
    "nestedExpand": _Node(_QUOTED | {"heading", "rule"}, least=1, needed=frozenset({"title"})),
    "mediaSingle": _Node(frozenset({"media"}), least=1, optional=frozenset({"layout", "width"})),
    "media": _Node(leaf=True, needed=frozenset({"type"}), optional=frozenset({"id", "collection", "url", "alt"})),
    "blockCard": _Node(leaf=True, needed=frozenset({"url"})),
    "hardBreak": _Node(leaf=True, optional=frozenset({"text"})),
    "mention": _Node(leaf=True, needed=frozenset({"id"}), optional=frozenset({"text", "accessLevel"})),
    "emoji": _Node(leaf=True, needed=frozenset({"shortName"}), optional=frozenset({"id", "text"})),
    "inlineCard": _Node(leaf=True, needed=frozenset({"url"})),
    "date": _Node(leaf=True, needed=frozenset({"timestamp"})),
    "status": _Node(leaf=True, needed=frozenset({"text", "color"}), optional=frozenset({"localId"})),
    "text": _Node(leaf=True),
}
_MARKS: Mapping[str, str] = {
    "strong": "",
    "em": "",
    "strike": "",
    "underline": "",
    "code": "",
    "link": "href",
    "subsup": "type",
    "textColor": "color",
    "backgroundColor": "color",
}
"""The required attribute of each mark; empty for a mark without attributes."""


def mistake_in_document(document: object) -> str:
    """Return the first mistake of a document, or the empty string."""
    if not is_object(document) or document.get("type") != "doc":
        return "it is not an Atlassian Document"
    if document.get("version") != 1 or not is_array(document.get("content")):
        return "a doc has version 1 and content"
    return _node_mistake(document, "doc", frozenset({"version"}))


def _node_mistake(node: JsonObject, path: str, also: frozenset[str] = frozenset()) -> str:
    form = _NODES.get(text_of(node, "type"))
    if form is None:
        return f"{path} is of no known type"
    if node.get("type") == "text":
        return _text_mistake(node, path)
    attributes = object_of(node, "attrs")
    keys = {"type", *also}
    if not form.leaf:
        keys.add("content")
    if form.needed or form.optional:
        keys.add("attrs")
    if extra := set(node) - keys:
        return f"{path} has {sorted(extra)[0]}"
    if "attrs" in node and not is_object(node["attrs"]):
        return f"{path} has attrs that are no object"
    if form.needed - set(attributes) or set(attributes) - form.needed - form.optional:
        return f"{path} has attributes missing or too many"
    return _attribute_mistake(node, attributes, path) or _children_mistake(node, form, path)


def _attribute_mistake(node: JsonObject, attributes: JsonObject, path: str) -> str:
    match node.get("type"):
        case "heading":
            valid = attributes["level"] in (1, 2, 3, 4, 5, 6)
        case "orderedList":
            order = attributes.get("order", 1)
            valid = isinstance(order, int) and not isinstance(order, bool) and order >= 0
        case "panel":
            valid = attributes["panelType"] in _PANELS
        case "taskItem":
            valid = attributes["state"] in ("TODO", "DONE")
        case "status":
            valid = attributes["color"] in _STATUS_COLOURS and bool(attributes["text"])
        case _:
            valid = all(isinstance(value, str | int | float) for value in attributes.values())
    if valid:
        return ""
    return f"{path} has an attribute that it cannot have"


def _children_mistake(node: JsonObject, form: _Node, path: str) -> str:
    content = node.get("content", [])
    if not is_array(content) or len(objects(content)) < max(len(content), form.least):
        return f"{path} has too little content, or content that is no node"
    for index, child in enumerate(objects(content)):
        kind = text_of(child, "type")
        allowed = form.children
        if index == 0 and form.first:
            allowed = form.first
        if kind not in allowed:
            return f"{path} holds {kind or 'something without a type'}"
        if node.get("type") == "codeBlock" and "marks" in child:
            return f"{path} holds marked text"
        if mistake := _node_mistake(child, f"{path}/{kind}"):
            return mistake
    return ""


def _text_mistake(node: JsonObject, path: str) -> str:
    if not text_of(node, "text"):
        return f"{path} is empty"
    if set(node) - {"type", "text", "marks"}:
        return f"{path} has more than text and marks"
    marks = node.get("marks", [])
    if not is_array(marks) or len(objects(marks)) < len(marks):
        return f"{path} has marks that are none"
    kinds = [text_of(mark, "type") for mark in objects(marks)]
    if len(set(kinds)) < len(kinds):
        return f"{path} has a mark twice"
    if "code" in kinds and not set(kinds) <= _BESIDE_CODE:
        return f"{path} has code beside another mark"
    return next((mistake for mark in objects(marks) if (mistake := _mark_mistake(mark, path))), "")


def _mark_mistake(mark: JsonObject, path: str) -> str:
    kind = text_of(mark, "type")
    if kind not in _MARKS:
        return f"{path} has the unknown mark {kind}"
    needed = _MARKS[kind]
    attributes = object_of(mark, "attrs")
    if not needed:
        if set(mark) - {"type"}:
            return f"{path} has the mark {kind} with wrong attributes"
        return ""
    if set(mark) - {"type", "attrs"} or set(attributes) != {needed}:
        return f"{path} has the mark {kind} with wrong attributes"
    value = text_of(attributes, needed)
    if not value or (needed == "color" and not _COLOUR.fullmatch(value)):
        return f"{path} has the mark {kind} with a wrong value"
    return ""


def document(text: str) -> dict[str, object]:
    """Return a document with one paragraph for each line of a plain text."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    paragraphs = [{"type": "paragraph", "content": [{"type": "text", "text": line}]} for line in lines]
    return {"version": 1, "type": "doc", "content": paragraphs}


def plain(node: JsonObject) -> str:
    """Return the text of a document as the wiki markup of webhooks, one line for each block."""
    match text_of(node, "type"):
        case "text":
            return text_of(node, "text")
        case "hardBreak":
            return "\n"
        case "mention":
            return f"[~accountid:{text_of(object_of(node, 'attrs'), 'id')}]"
        case "rule":
            return "----"
        case kind:
            children = [plain(child) for child in objects(node.get("content"))]
            if kind in ("paragraph", "heading", "codeBlock", "taskItem"):
                return "".join(children)
            return "\n".join(children)
