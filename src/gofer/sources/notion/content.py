"""The content of a page as Markdown, with the ids of its blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gofer.sources.markdown_writer import fenced
from gofer.sources.notion.api import PAGE, Fields, NotionApi, NotionRefusal
from gofer.sources.notion.get_file import KINDS, Files
from gofer.sources.notion.ids import one_line
from gofer.sources.notion.inline import address_of, date_text, inline, link
from gofer.sources.notion.labels import Labels
from gofer.sources.notion.rich_text import words
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text

REQUESTS = 60
"""The most requests for one page. Each hundred blocks take one request, and each block with inner blocks takes one."""
LONGEST = 8_000
"""The most characters of one block that are shown."""
_ELSEWHERE = frozenset({"child_page", "child_database"})
"""Types of blocks with content that is not part of the page."""
_SECTIONS = ("summary", "notes", "transcript")
"""The parts of meeting notes, whose blocks Notion gives by further ids."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block as Notion sends it."""

    id: str
    kind: str
    fields: Fields
    number: int
    """The number of an item in a numbered list, else 0."""
    file: str = ""
    """The file that the block is, as text; empty for any other block."""


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
    refused: str = ""
    """Why Notion did not give the blocks of the page itself; empty if it gave them."""


async def read_content(api: NotionApi, call: Call, page: str, files: Files, labels: Labels) -> Content:
    """Return the content of a page, cut after REQUESTS requests. Raises NotionRefusal, TemporaryError."""
    reading = _Reading(api, call, Content(page), files, labels)
    reading.content.refused = await reading.below(page, 0)
    return reading.content


async def read_block(api: NotionApi, call: Call, page: str, block: str, files: Files, labels: Labels) -> Content:
    """Return one block without those below it; nothing if Notion refuses it. Raises NotionRefusal, TemporaryError."""
    reading = _Reading(api, call, Content(page), files, labels)
    try:
        await reading.add(await api.get(call, f"blocks/{block}"), 0, 0)
    except NotionRefusal as refused:
        if refused.is_outage:
            raise
    return reading.content


@dataclass(frozen=True, slots=True)
class _Reading:
    api: NotionApi
    call: Call
    content: Content
    files: Files
    labels: Labels
    seen: set[str] = field(default_factory=set[str])

    async def below(self, parent: str, depth: int) -> str:
        """Add the blocks below a page or block. Return why Notion refused them, or the empty string."""
        if parent in self.seen:
            return ""
        self.seen.add(parent)
        cursor: dict[str, str] = {}
        number = 0
        while self.content.requests < REQUESTS:
            self.content.requests += 1
            try:
                page = await self.api.get(self.call, f"blocks/{parent}/children", page_size=PAGE, **cursor)
            except NotionRefusal as refused:
                if refused.is_outage:
                    raise
                return refused.reason
            for block in map(as_object, as_list(page.get("results"))):
                number = _number(block, number)
                await self.add(block, depth, number)
                await self._inside(block, depth)
            if not (following := as_text(page.get("next_cursor"))):
                return ""
            cursor = {"start_cursor": following}
        self.content.whole = False
        return ""

    async def add(self, block: Fields, depth: int, number: int) -> None:
        """Add one block."""
        kind = as_text(block.get("type"))
        id_ = as_text(block.get("id"))
        fields = await self.labels.add(as_object(block.get(kind)))
        file = self.files.block(self.content.page, id_, kind, fields) if kind in KINDS else ""
        self.content.lines.append(Line(id_, depth, _text(Block(id_, kind, fields, number, file))))

    async def _inside(self, block: Fields, depth: int) -> None:
        """Add what is inside of a block, and say at the block what Notion refused."""
        kind = as_text(block.get("type"))
        id_ = as_text(block.get("id"))
        place = len(self.content.lines) - 1
        refused = ""
        if block.get("has_children") is True and kind not in _ELSEWHERE:
            refused = await self.below(id_, depth + 1)
        fields = as_object(block.get(kind))
        original = as_text(as_object(fields.get("synced_from")).get("block_id"))
        empty = len(self.content.lines) == place + 1
        if original and empty:
            refused = await self.below(original, depth + 1)
        self._note(place, "the original" if original else "what is inside", refused)
        for section in _SECTIONS:
            inner = as_text(as_object(fields.get("children")).get(f"{section}_block_id"))
            if inner and empty:
                self.content.lines.append(Line(inner, depth + 1, f"({section})"))
                self._note(len(self.content.lines) - 1, "it", await self.below(inner, depth + 2))

    def _note(self, place: int, part: str, refused: str) -> None:
        """Say at a line why Notion refused a part; nothing if it did not."""
        if refused:
            line = self.content.lines[place]
            note = f"(Gofer may not read {part}: Notion refused with {one_line(refused)})"
            self.content.lines[place] = replace(line, text=f"{line.text} {note}")


def _number(block: Fields, before: int) -> int:
    """Return the number of an item in a numbered list; 0 for any other block."""
    if block.get("type") != "numbered_list_item":
        return 0
    start = as_object(block.get("numbered_list_item")).get("list_start_index")
    if not before and isinstance(start, int):
        return start
    return before + 1


def _text(block: Block) -> str:
    reader = BLOCKS.reader(block.kind)
    if reader:
        return reader(block)
    return f"{BLOCKS.named(block.kind)} {inline(block.fields.get('rich_text'))}".rstrip()


def _prefixed(prefix: str) -> Callable[[Block], str]:
    return lambda block: f"{prefix}{inline(block.fields.get('rich_text'))}"


def _to_do(block: Block) -> str:
    return f"- [{'x' if block.fields.get('checked') is True else ' '}] {inline(block.fields.get('rich_text'))}"


def _item(block: Block) -> str:
    return f"{block.number}. {inline(block.fields.get('rich_text'))}"


def _callout(block: Block) -> str:
    icon = as_text(as_object(block.fields.get("icon")).get("emoji"))
    return f"> {icon} ".replace("  ", " ") + inline(block.fields.get("rich_text"))


def _code(block: Block) -> str:
    text = fenced(words(block.fields.get("rich_text")), as_text(block.fields.get("language")))
    return "\n".join(filter(None, (text, inline(block.fields.get("caption")))))


def _rule(_: Block) -> str:
    return "---"


def _row(block: Block) -> str:
    cells = [" ".join(inline(cell).split()).replace("|", "\\|") for cell in as_list(block.fields.get("cells"))]
    return f"| {' | '.join(cells)} |"


def _child(block: Block) -> str:
    return f"({block.kind.replace('_', ' ')}: {as_text(block.fields.get('title')) or 'without a title'})"


def _equation(block: Block) -> str:
    return f"$${as_text(block.fields.get('expression'))}$$"


def _media(block: Block) -> str:
    caption = inline(block.fields.get("caption"))
    if block.file.startswith("[file file_"):
        return f"{block.file} {caption}".rstrip()
    return f"({block.kind}: {' '.join(filter(None, (caption, block.file)))})"


def _web(block: Block) -> str:
    described = (inline(block.fields.get("caption")), as_text(block.fields.get("url")))
    return f"({block.kind.replace('_', ' ')}: {' '.join(filter(None, described))})"


def _link_to_page(block: Block) -> str:
    kind = as_text(block.fields.get("type"))
    id_ = as_text(block.fields.get(kind))
    if kind in ("page_id", "database_id"):
        return f"(link to {kind.removesuffix('_id')}: {link(as_text(block.fields.get('name')), address_of(id_))})"
    return f"(link to {kind.removesuffix('_id') or 'something'} {id_})"


def _synced(block: Block) -> str:
    original = as_text(as_object(block.fields.get("synced_from")).get("block_id"))
    if original:
        return f"(synced block, a copy of block {original})"
    return "(synced block)"


def _meeting(block: Block) -> str:
    event = as_object(block.fields.get("calendar_event")) or as_object(block.fields.get("recording"))
    times = date_text({"start": event.get("start_time"), "end": event.get("end_time")})
    status = as_text(block.fields.get("status")).replace("_", " ")
    return f"(meeting notes: {', '.join(filter(None, (inline(block.fields.get('title')), times, status)))})"


def _unsupported(block: Block) -> str:
    kind = as_text(block.fields.get("block_type"))
    return f"(a block that Notion's API does not give{f': {kind}' if kind else ''})"


def _template(block: Block) -> str:
    return f"(template button: {inline(block.fields.get('rich_text'))})"


_MEDIA = Member("its caption, name and file, see the table of files", _media)
_WEB = Member("its caption and address", _web)
_MEETING = Member("its title, times and state, then summary, notes and transcript as far as they fit", _meeting)
_CHILD = Member("its title; the id of the block is its id", _child)
BLOCKS: Vocabulary[Callable[[Block], str]] = Vocabulary(
    "block",
    "block",
    {
        "paragraph": Member("its text and what is below", _prefixed("")),
        "heading_1": Member("its text and what is below", _prefixed("# ")),
        "heading_2": Member("its text and what is below", _prefixed("## ")),
        "heading_3": Member("its text and what is below", _prefixed("### ")),
        "heading_4": Member("its text and what is below", _prefixed("#### ")),
        "bulleted_list_item": Member("its text and what is below", _prefixed("- ")),
        "numbered_list_item": Member("its number, its text and what is below", _item),
        "to_do": Member("whether it is checked, its text and what is below", _to_do),
        "toggle": Member("its text and what is below", _prefixed("- ")),
        "quote": Member("its text and what is below", _prefixed("> ")),
        "callout": Member("its emoji, its text and what is below", _callout),
        "code": Member("its language, code and caption", _code),
        "equation": Member("its expression, as `$$x$$`", _equation),
        "divider": Member("“---”", _rule),
        "breadcrumb": Member("breadcrumb"),
        "table_of_contents": Member("table of contents"),
        "table": Member("table"),
        "table_row": Member("the texts of its cells", _row),
        "column_list": Member("column list"),
        "column": Member("column"),
        "tab": Member("tabs"),
        "template": Member("its text and what is below", _template),
        "synced_block": Member("what is below; for a copy, the blocks of the original", _synced),
        "child_page": _CHILD,
        "child_database": _CHILD,
        "link_to_page": Member("its title and address, or the id of a comment", _link_to_page),
        "bookmark": _WEB,
        "embed": _WEB,
        "link_preview": _WEB,
        "image": _MEDIA,
        "video": _MEDIA,
        "audio": _MEDIA,
        "pdf": _MEDIA,
        "file": _MEDIA,
        "meeting_notes": _MEETING,
        "transcription": _MEETING,
        "unsupported": Member(
            "that Notion's API does not give it, with its type (button, form, drive), and what is below", _unsupported
        ),
    },
)


def shown(lines: Sequence[Line], budget: int) -> tuple[list[str], int]:
    """Return the rows for a model, each block after its id, and the number of blocks that did not fit into `budget`."""
    rows: list[str] = []
    for place, line in enumerate(lines):
        first, *rest = _short(line.text).splitlines() or [""]
        indent = "    " + "  " * line.depth
        # Further lines of a block are indented more, so that they cannot imitate another block.
        made = [f"{indent}[{line.id}] {first}", *(f"{indent}      {more}" for more in rest)]
        budget -= sum(len(row) + 1 for row in made)
        if budget < 0:
            return rows, len(lines) - place
        rows += made
    return rows, 0


def _short(text: str) -> str:
    """Return the text of a block, cut with a note if it is longer than one block may be."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n({len(text) - LONGEST} further characters of this block are left out here.)"
