"""The blocks of a page: from requests, from Markdown and to Markdown."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import gofer_simulators.notion.rich_text as rich_text
from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects
from gofer_simulators.notion.api_request import Answer, invalid
from gofer_simulators.notion.forms import check_content, check_elements

REQUEST_LIMIT = 100
"""Most blocks in one array of a request."""
DEPTH = 2
"""Most levels of nesting in one request."""
_EXTRA: dict[str, frozenset[str]] = {
    "paragraph": frozenset(),
    "heading_1": frozenset({"is_toggleable"}),
    "heading_2": frozenset({"is_toggleable"}),
    "heading_3": frozenset({"is_toggleable"}),
    "bulleted_list_item": frozenset(),
    "numbered_list_item": frozenset(),
    "to_do": frozenset({"checked"}),
    "toggle": frozenset(),
    "quote": frozenset(),
    "callout": frozenset({"icon"}),
    "code": frozenset({"language", "caption"}),
}
"""The further fields of each kind of block that has rich text."""
_OTHER = {
    "divider": frozenset[str](),
    "table": frozenset({"table_width", "has_column_header", "has_row_header"}),
    "table_row": frozenset({"cells"}),
}
_LINE = re.compile(
    r"(?P<indent> *|\t*)(?:(?P<heading>#{1,3}) |[-*] \[(?P<todo>[ xX])\] |(?P<bullet>[-*]) |\d+(?P<number>\.) "
    r"|(?P<quote>>) ?)"
)
NewId = Callable[[], str]


@dataclass(slots=True)
class Block:
    """One block with its children."""

    id: str
    type: str
    rich_text: list[Answer] = field(default_factory=list[Answer])
    fields: dict[str, object] = field(default_factory=dict[str, object])
    children: list["Block"] = field(default_factory=list["Block"])
    created: tuple[str, str] = ("", "")
    """Time, and id of the user."""
    file: tuple[str, bytes] | None = None
    """Name and content of a file; None for another block."""

    def walk(self) -> Iterator["Block"]:
        """Yield this block and all blocks below it, in reading order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def content(self) -> Answer:
        """Return the fields that a block object has under the name of its type."""
        if self.type in _EXTRA:
            return {"rich_text": self.rich_text, "color": "default"} | self.fields
        return dict(self.fields)


def read_blocks(value: object, new_id: NewId, names: rich_text.Names, where: str = "body.children") -> list[Block]:
    """Return the blocks of a request. Raises NotionRefusal for a block that Notion refuses."""
    blocks = _read(value, new_id, names, where, DEPTH)
    check_elements([sum(1 for _ in block.walk()) for block in blocks])
    return blocks


def _read(value: object, new_id: NewId, names: rich_text.Names, where: str, depth: int) -> list[Block]:
    if not is_array(value):
        raise invalid(f"{where} should be an array")
    if len(value) > REQUEST_LIMIT:
        raise invalid(f"{where}.length should be ≤ `{REQUEST_LIMIT}`, instead was `{len(value)}`")
    if depth == 0 and value:
        raise invalid(f"{where} should be not present: at most {DEPTH} levels may be sent at once")
    return [_read_block(item, new_id, names, f"{where}[{index}]", depth) for index, item in enumerate(value)]


def _read_block(item: object, new_id: NewId, names: rich_text.Names, where: str, depth: int) -> Block:
    if not is_object(item):
        raise invalid(f"{where} should be an object")
    kinds = [name for name in item if name not in ("object", "type")]
    kind = str(item.get("type", next(iter(kinds), "")))
    if kinds != [kind] or (kind not in _EXTRA and kind not in _OTHER):
        raise invalid(f"{where} should have exactly one known kind of content, instead had {kinds}")
    content = object_of(item, kind)
    if kind in _EXTRA:
        allowed = _EXTRA[kind] | {"rich_text", "color"}
    else:
        allowed = _OTHER[kind]
    if unknown := set(content) - allowed - {"children"}:
        raise invalid(f"{where}.{kind}.{min(unknown)} should be not present")
    check_content(kind, content, where)
    texts: list[Answer] = []
    if kind in _EXTRA:
        texts = rich_text.read(content.get("rich_text"), names, f"{where}.{kind}.rich_text")
    fields = {name: content[name] for name in allowed - {"rich_text", "color"} if name in content}
    if kind == "table_row":
        fields["cells"] = [rich_text.read(cell, names, f"{where}.cells") for cell in _cells(content)]
    below = depth - 1
    if kind == "table":
        # The rows of a table do not count as a level.
        below = depth
    children = _read(content.get("children", []), new_id, names, f"{where}.{kind}.children", below)
    return Block(new_id(), kind, texts, fields, children)


def to_markdown(blocks: Sequence[Block], indent: str = "") -> str:
    """Return blocks as Notion writes them in Markdown, with children indented by a tab."""
    lines: list[str] = []
    for number, block in enumerate(blocks, start=1):
        lines += [f"{indent}{line}" if line else "" for line in _lines(block, number)]
        if block.children and block.type != "table":
            lines.append(to_markdown(block.children, indent + "\t"))
    return "\n".join(lines)


def _lines(block: Block, number: int) -> list[str]:
    text = rich_text.to_markdown(block.rich_text)
    match block.type:
        case "heading_1" | "heading_2" | "heading_3":
            return [f"{'#' * int(block.type[-1])} {text}"]
        case "bulleted_list_item" | "toggle":
            return [f"- {text}"]
        case "numbered_list_item":
            return [f"{number}. {text}"]
        case "to_do":
            if block.fields.get("checked"):
                return [f"- [x] {text}"]
            return [f"- [ ] {text}"]
        case "quote" | "callout":
            return [f"> {line}" for line in text.split("\n")]
        case "code":
            language = str(block.fields.get("language", "plain text")).replace("plain text", "")
            return [f"```{language}", *rich_text.plain(block.rich_text).split("\n"), "```"]
        case "divider":
            return ["---"]
        case "table":
            return _table(block)
        case _ if block.file:
            return [f"![{block.file[0]}]({block.type})"]
        case _:
            return text.split("\n")


def _table(block: Block) -> list[str]:
    rows: list[str] = []
    for row in block.children:
        texts = [rich_text.to_markdown(objects(cell)) for cell in _cells(row.fields)]
        rows.append(f"| {' | '.join(texts)} |")
        if len(rows) == 1:
            rows.append("|" + "---|" * len(texts))
    return rows


def _cells(fields: JsonObject) -> list[object]:
    cells = fields.get("cells")
    if is_array(cells):
        return cells
    return []


def from_markdown(markdown: str, new_id: NewId) -> list[Block]:
    """Return the blocks of a Markdown text; an indented line becomes a child of the block before it."""
    top: list[Block] = []
    fence: list[str] | None = None
    language = ""
    for line in markdown.split("\n"):
        if line.strip().startswith("```"):
            if fence is None:
                fence = []
                language = line.strip().strip("`")
                continue
            texts = rich_text.cut("\n".join(fence))
            top.append(Block(new_id(), "code", texts, {"language": language or "plain text"}))
            fence = None
        elif fence is not None:
            fence.append(line)
        elif line.strip():
            block, indented = _from_line(line, new_id)
            if indented and top:
                top[-1].children.append(block)
            else:
                top.append(block)
    return top


def _from_line(line: str, new_id: NewId) -> tuple[Block, bool]:
    if line.strip() == "---":
        return Block(new_id(), "divider"), False
    match = _LINE.match(line)
    if not match:
        return Block(new_id(), "paragraph", rich_text.from_markdown(line.strip())), line.startswith("\t")
    kinds = {"bullet": "bulleted_list_item", "number": "numbered_list_item", "quote": "quote", "todo": "to_do"}
    kind = next((kinds[name] for name in kinds if match[name]), f"heading_{len(match['heading'] or '')}")
    fields: dict[str, object] = {}
    if match["todo"]:
        fields["checked"] = match["todo"] != " "
    return Block(new_id(), kind, rich_text.from_markdown(line[match.end() :]), fields), bool(match["indent"])
