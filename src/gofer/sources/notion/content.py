"""The content of a page as Markdown, with the ids of its blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gofer.sources.notion.api import PAGE, Fields, NotionApi
from gofer.sources.notion.get_file import FILES, new_file
from gofer.sources.notion.rich_text import inline, words
from gofer.tools.definition import Call, NewFile
from gofer.values.canonical_json import as_list, as_object, as_text

REQUESTS = 60
"""The most requests for one page. Each hundred blocks take one request, and each block with inner blocks takes one."""
_PREFIX = {
    "heading_1": "# ",
    "heading_2": "## ",
    "heading_3": "### ",
    "bulleted_list_item": "- ",
    "toggle": "- ",
    "quote": "> ",
    "callout": "> ",
}
_ELSEWHERE = frozenset({"child_page", "child_database", "unsupported"})
"""Types of blocks with content that is not part of the page."""


@dataclass(frozen=True, slots=True)
class Line:
    """One block of a page."""

    id: str
    depth: int
    text: str
    """The block's Markdown, of one or more lines."""


@dataclass(slots=True)
class Content:
    """The blocks of a page in reading order."""

    page: str
    lines: list[Line] = field(default_factory=list[Line])
    requests: int = 0
    whole: bool = True
    """Whether the content is complete."""
    files: list[NewFile] = field(default_factory=list[NewFile])
    """The files among the blocks, up to the number that a run can open."""


async def read_content(api: NotionApi, call: Call, page: str) -> Content:
    """Return the content of a page, cut after REQUESTS requests. Raises NotionRefusal, TemporaryError."""
    content = Content(page)
    await _below(api, call, page, 0, content)
    return content


async def _below(api: NotionApi, call: Call, parent: str, depth: int, content: Content) -> None:
    cursor: dict[str, str] = {}
    number = 0
    while content.requests < REQUESTS:
        content.requests += 1
        page = await api.get(call, f"blocks/{parent}/children", page_size=PAGE, **cursor)
        for block in map(as_object, as_list(page.get("results"))):
            number = number + 1 if block.get("type") == "numbered_list_item" else 0
            kind = as_text(block.get("type"))
            id_ = as_text(block.get("id"))
            fields = as_object(block.get(kind))
            text = _file(content, id_, kind, fields) or _markdown(kind, fields, number)
            content.lines.append(Line(id_, depth, text))
            if block.get("has_children") is True and kind not in _ELSEWHERE:
                await _below(api, call, id_, depth + 1, content)
        if not (following := as_text(page.get("next_cursor"))):
            return
        cursor = {"start_cursor": following}
    content.whole = False


def _file(content: Content, block: str, kind: str, said: Fields) -> str:
    """Return the line about a block that is a file, with the file's id; empty for any other block."""
    file = new_file(content.page, block, kind, said)
    if file is None or len(content.files) >= FILES:
        return ""
    content.files.append(file)
    caption = words(said.get("caption"))
    return f"[file {file.id}: {file.name}, {file.media_type or kind}]{f' {caption}' if caption else ''}"


def _markdown(kind: str, content: Fields, number: int) -> str:
    texts = content.get("rich_text")
    match kind:
        case "to_do":
            return f"- [{'x' if content.get('checked') is True else ' '}] {inline(texts)}"
        case "numbered_list_item":
            return f"{number}. {inline(texts)}"
        case "code":
            return f"```{as_text(content.get('language'))}\n{words(texts)}\n```"
        case "divider":
            return "---"
        case "table_row":
            return f"| {' | '.join(inline(cell) for cell in as_list(content.get('cells')))} |"
        case "child_page" | "child_database":
            return f"({kind.replace('_', ' ')}: {as_text(content.get('title'))})"
        case "equation":
            return f"$${as_text(content.get('expression'))}$$"
        case _ if isinstance(texts, list):
            return _PREFIX.get(kind, "") + inline(texts)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return f"({kind.replace('_', ' ') or 'something'}{_named(content)})"


def _named(content: Fields) -> str:
    """Return the caption, name and address of an embedded object, after a colon."""
    file = as_object(content.get("file")) or as_object(content.get("external"))
    address = as_text(content.get("url")) or (as_text(file.get("url")) if "expiry_time" not in file else "")
    description = " ".join(filter(None, (words(content.get("caption")), as_text(content.get("name")), address)))
    if description:
        return f": {description}"
    return ""


def shown(lines: Sequence[Line], budget: int) -> tuple[list[str], int]:
    """Return the rows for a model, each block after its id, and the number of blocks that did not fit into `budget`."""
    rows: list[str] = []
    for place, line in enumerate(lines):
        first, *rest = line.text.splitlines() or [""]
        indent = "    " + "  " * line.depth
        # Further lines of a block are indented more, so that they cannot imitate another block.
        made = [f"{indent}[{line.id}] {first}", *(f"{indent}      {more}" for more in rest)]
        budget -= sum(len(row) + 1 for row in made)
        if budget < 0:
            return rows, len(lines) - place
        rows += made
    return rows, 0
