"""How does Markdown become a document that Jira accepts, and that pages nobody?

A library reads the Markdown; what it gives is built anew here from the few nodes that Jira takes in each place, so that
no text is ever refused for its form. Images become links: a picture would be loaded by whoever opens the issue.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from marklassian import markdown_to_adf

from gofer.canonical import as_list, as_object, as_text, clean
from gofer.errors import ToolError
from gofer.tools.jira.adf_text import adf_text
from gofer.tools.jira.api import Fields
from gofer.tools.tool import Provenance

Node = dict[str, object]
Place = Literal["top", "cell", "quote", "item"]
"""Where a block stands; each place takes fewer of them than the one before."""

TEXT_LIMIT = 32_767
"""Characters Jira takes for one text."""
_MARKS = frozenset({"strong", "em", "strike"})
_SAFE = re.compile(r"(?:https?://|mailto:)\S+", re.IGNORECASE)
_ADDRESS = re.compile(r"(https?://[^\s<>()\[\]\"'`]*[^\s<>()\[\]\"'`.,;:!?*_])", re.IGNORECASE)
_ANGLE = re.compile(r"<(?!(?:https?://|mailto:)\S+>)", re.IGNORECASE)
_UNCLOSED = re.compile(r"\]\((?![^)\]]{0,1500}\))")
_HELD, _HELD_PARENTHESIS = "\ue000", "\ue001"
"""Stand for `<` and `(` while the library reads: it would leave out whatever looks like HTML to it, and look for the
end of a link that has none again and again, for half a minute in a long text."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def document(markdown: str, provenance: Provenance) -> Node:
    """A document with a line of links at its end. Raises ToolError for a text that is empty or too long."""
    text = _CONTROL.sub("\ufffd", clean(markdown).replace("\r\n", "\n").replace("\r", "\n"))
    blocks = _read(text)
    if not adf_text({"content": blocks}):
        raise ToolError("That says nothing; write some text.")
    whole: Node = {"version": 1, "type": "doc", "content": [*blocks, *_origin(provenance)]}
    if len(adf_text(whole)) > TEXT_LIMIT:
        raise ToolError(f"That is longer than Jira takes for one text ({TEXT_LIMIT} characters); write less.")
    return whole


def links(provenance: Provenance) -> list[tuple[str, str]]:
    """The links under what Gofer writes: words and addresses."""
    found = [(f"{provenance.workflow} prompt", provenance.prompt_url)] if provenance.prompt_url else []
    return found + ([(f"run {provenance.run[:8]}", provenance.run_url)] if provenance.run_url else [])


def _read(text: str) -> list[Node]:
    held = _UNCLOSED.sub("]" + _HELD_PARENTHESIS, _ANGLE.sub(_HELD, text))
    return _blocks(as_list(as_object(markdown_to_adf(held)).get("content")), "top")


def _origin(provenance: Provenance) -> list[Node]:
    parts: list[Node] = []
    for words, url in links(provenance):
        parts += [_text(" · ")] * bool(parts) + [_text(words, [{"type": "link", "attrs": {"href": url}}])]
    return [_paragraph(parts)] if parts else []


def _blocks(nodes: Iterable[object], place: Place) -> list[Node]:
    return [block for node in nodes for block in _block(as_object(node), place)]


def _block(node: Fields, place: Place) -> list[Node]:
    """The blocks that say here what a node says: one, several, or none."""
    content, roomy = as_list(node.get("content")), place in ("top", "cell")
    match as_text(node.get("type")):
        case "heading":
            return [_heading(node)] if roomy else [_paragraph(_inline(content, strong=True))]
        case "bulletList" | "orderedList":
            return _list(node)
        case "taskList":
            return _tasks(content)
        case "codeBlock":
            return [_code(node)]
        case "blockquote":
            inside = _blocks(content, "quote")
            return [{"type": "blockquote", "content": inside}] if inside and roomy else inside
        case "rule":
            return [{"type": "rule"}] if roomy else [_paragraph([_text("———")])]
        case "table":
            return _table(content) if place == "top" else [_paragraph([_text(adf_text(node).replace("\n", " "))])]
        case "mediaSingle":
            return [_paragraph([_image(as_object(media)) for media in content])]
        case _:
            inline = _inline(content)
            return [_paragraph(inline)] if inline else []


def _restored(text: str) -> str:
    return text.replace(_HELD, "<").replace(_HELD_PARENTHESIS, "(")


def _paragraph(content: Sequence[Node]) -> Node:
    return {"type": "paragraph", "content": [part for part in content if part.get("text") != ""]}


def _heading(node: Fields) -> Node:
    level = as_object(node.get("attrs")).get("level")
    fitting = level if isinstance(level, int) and 1 <= level <= 6 else 6
    return {"type": "heading", "attrs": {"level": fitting}, "content": _inline(as_list(node.get("content")))}


def _list(node: Fields) -> list[Node]:
    items = [_item(_blocks(as_list(as_object(one).get("content")), "item")) for one in as_list(node.get("content"))]
    if not items:
        return []
    if node.get("type") == "bulletList":
        return [{"type": "bulletList", "content": items}]
    order = as_object(node.get("attrs")).get("order")
    start = order if isinstance(order, int) and order >= 0 else 1
    return [{"type": "orderedList", "attrs": {"order": start}, "content": items}]


def _item(blocks: list[Node]) -> Node:
    """An item begins with words or code, never with another list."""
    first = blocks[0].get("type") if blocks else ""
    lead = [] if first in ("paragraph", "codeBlock") else [_paragraph([])]
    return {"type": "listItem", "content": [*lead, *blocks]}


def _tasks(nodes: Iterable[object]) -> list[Node]:
    """Tasks as a list with boxes: real ones need ids that would differ from one attempt to the next."""
    items: list[Node] = []
    for node in map(as_object, nodes):
        content = as_list(node.get("content"))
        if node.get("type") == "taskList":
            items.append(_item(_tasks(content)))
            continue
        done = as_object(node.get("attrs")).get("state") == "DONE"
        whole = _blocks(content, "item") if node.get("type") == "blockTaskItem" else [_paragraph(_inline(content))]
        box = _paragraph([_text("☑ " if done else "☐ "), *_parts(whole[0] if whole else {})])
        items.append(_item([box, *whole[1:]]))
    return [{"type": "bulletList", "content": items}] if items else []


def _parts(block: Node) -> list[Node]:
    content = as_list(block.get("content"))
    return [dict(as_object(part)) for part in content]


def _code(node: Fields) -> Node:
    language = as_text(as_object(node.get("attrs")).get("language"))
    text = "".join(as_text(as_object(part).get("text")) for part in as_list(node.get("content")))
    shown: Node = {"type": "codeBlock", "content": [_text(text)] if text else []}
    return shown | ({"attrs": {"language": _restored(language[:40])}} if language else {})


def _table(rows: Iterable[object]) -> list[Node]:
    found: list[Node] = []
    for row in map(as_object, rows):
        cells = [_cell(as_object(cell)) for cell in as_list(row.get("content"))]
        if cells:
            found.append({"type": "tableRow", "content": cells})
    return [{"type": "table", "content": found}] if found else []


def _cell(node: Fields) -> Node:
    kind = "tableHeader" if node.get("type") == "tableHeader" else "tableCell"
    return {"type": kind, "content": _blocks(as_list(node.get("content")), "cell") or [_paragraph([])]}


def _image(node: Fields) -> Node:
    attributes = as_object(node.get("attrs"))
    url = as_text(attributes.get("url"))
    return _text(as_text(attributes.get("alt")) or url or "image", _link(url))


def _inline(nodes: Iterable[object], *, strong: bool = False) -> list[Node]:
    found: list[Node] = []
    for node in map(as_object, nodes):
        if node.get("type") == "hardBreak":
            found.append({"type": "hardBreak"})
        elif text := as_text(node.get("text")):
            found += _linked(text, _marks(as_list(node.get("marks")), strong=strong))
        elif node.get("content"):
            found += _inline(as_list(node.get("content")), strong=strong)
    return found


def _linked(text: str, marks: list[Node]) -> list[Node]:
    """A text whose addresses can be followed; Jira does not look for them."""
    if any(mark["type"] in ("link", "code") for mark in marks):
        return [_text(text, marks)]
    parts = [(part, _ADDRESS.fullmatch(part)) for part in _ADDRESS.split(text) if part]
    return [_text(part, [*marks, *(_link(part) if address else [])]) for part, address in parts]


def _marks(marks: Iterable[object], *, strong: bool) -> list[Node]:
    """The marks that may stand together: code takes a link beside it and nothing else."""
    given = [as_object(mark) for mark in marks]
    kinds = {as_text(mark.get("type")) for mark in given}
    hrefs = [as_text(as_object(mark.get("attrs")).get("href")) for mark in given if mark.get("type") == "link"]
    link = _link(hrefs[0]) if hrefs else []
    if "code" in kinds:
        return [{"type": "code"}, *link]
    plain = sorted((kinds & _MARKS) | ({"strong"} if strong else set()))
    return [*({"type": kind} for kind in plain), *link]


def _link(href: str) -> list[Node]:
    return [{"type": "link", "attrs": {"href": href}}] if _SAFE.fullmatch(href) and _restored(href) == href else []


def _text(text: str, marks: Sequence[Node] = ()) -> Node:
    return {"type": "text", "text": _restored(text), **({"marks": [*marks]} if marks else {})}
