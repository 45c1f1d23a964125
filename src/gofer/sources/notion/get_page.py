"""The tool that reads a page, and the page's text for a model: title, properties, content and open comments."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from gofer.sources.notion.api import Fields, NotionApi, NotionRefusal
from gofer.sources.notion.comments import Discussions, read_comments
from gofer.sources.notion.content import Content, Line, read_block, read_content, shown
from gofer.sources.notion.get_file import Files
from gofer.sources.notion.ids import READS, home, is_at, is_private, may_read, one_line, page_id
from gofer.sources.notion.labels import Labels
from gofer.sources.notion.properties import Completion, plain, properties, property_lines, title
from gofer.sources.notion.refusals import MISSING, NOT_THERE
from gofer.sources.notion.rich_text import words
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import MOMENT, NAME, uuid
from gofer.tools.readable import hidden, readers
from gofer.values.canonical_json import as_object, as_text

TEXT_BUDGET = 30_000
"""The most characters of content that are shown, and the most of comments."""
BLOCKS_ASKED = 60
"""The most blocks whose comments are read. Notion lists comments separately for each block."""


class GetPage(Arguments):
    """The page to read."""

    page: str = Field(default="", description="The page, as a link or an id. Left out: where the request came from.")
    comments: Literal["page", "all"] = Field(
        default="page",
        description="page: open comments on the page itself, and on the block the request came from. all: also those "
        "on its blocks, which takes a request for each block.",
    )


@tool(
    effect="read",
    # Each block with inner blocks takes a request, and so do the comments of each block.
    timeout=90.0,
    scopes=READS | {"read comments"},
    everyday="wiki, doc, document, article; open it, read it, what is in it, what does it say",
)
async def notion_get_page(api: NotionApi, call: Call, arguments: GetPage) -> ToolResult:
    """Read a page of Notion: title, properties, content with the ids of its blocks, open comments."""
    page = await _readable(api, call, page_id(call, arguments.page))
    page = await Completion(api, call).page(page)
    labels = Labels(api, call)
    page = {**page, "properties": await labels.add(as_object(page.get("properties")))}
    id_ = as_text(page.get("id"))
    here: Mapping[str, str] = {}
    if is_at(id_, call.place):
        here = call.place
    source = await _source(api, call, home(page)[1])
    files = Files()
    content = await read_content(api, call, id_, files, labels)
    places, missed = _places(here, id_, content, everywhere=arguments.comments == "all")
    discussions = await read_comments(api, call, places, here.get("comment", ""), labels)
    commented = await _commented(api, call, content, here.get("block", ""), files, labels)
    return _page_result(page, source, content, discussions, files, commented, missed)


async def _readable(api: NotionApi, call: Call, name: str) -> Fields:
    """Return a page that the run may read. Raises the same error for a hidden page as for a missing one."""
    try:
        page = await api.get(call, f"pages/{name}")
    except NotionRefusal as refused:
        raise (hidden(MISSING) if refused.code in NOT_THERE and not is_at(name, call.place) else refused) from refused
    if not may_read(call, page):
        raise hidden(MISSING)
    return page


@notion_get_page.mock
def _mock(call: Call, arguments: GetPage) -> ToolResult:
    """Return a row of a database with one paragraph and one open comment."""
    page = page_id(call, arguments.page)
    block = call.place.get("block") or uuid(f"block of {page}")
    comment: Fields = {
        "discussion_id": uuid(f"discussion of {page}"),
        "parent": {"page_id": page},
        "display_name": {"resolved_name": NAME},
        "created_time": MOMENT,
        "rich_text": words_of("Could somebody look at this?"),
    }
    content = Content(page, [Line(block, 0, "What this is about stands here.")])
    found = mock_page(page, "Something to read", "Pages")
    return _page_result(found, mock_source("Pages"), content, Discussions(comments=[comment]), Files(), [], 0)


def _page_result(
    page: Fields,
    source: Fields,
    content: Content,
    discussions: Discussions,
    files: Files,
    commented: Sequence[str],
    missed: int,
) -> ToolResult:
    """Return a page.

    `commented` are the lines about the block of the event if the content does not show it. `missed` is the number of
    blocks without a look at their comments.
    """
    head = _header(page, source, files)
    comments = _comments(as_text(page.get("id")), discussions, files, missed)
    text = "\n".join([*head, *_content(content, files), *commented, *comments])
    open_ones = len(discussions.comments)
    summary = f"read a page with {len(content.lines)} blocks and {open_ones} open comments"
    made = details(page, words(source.get("title")))
    if subject := discussions.details:
        made["subject"] = subject
    if _in_trash(page) or discussions.deleted:
        made["deleted"] = True
    return ToolResult(text, summary, made, files=files.listed)


def _in_trash(page: Fields) -> bool:
    return page.get("in_trash") is True or page.get("archived") is True


def details(page: Fields, database_name: str = "") -> dict[str, object]:
    """Return the details of a page: private, page, database, data_source, title, url, properties and facts.

    Each property is `{id, value}`. The facts are `database`, the database's ids and name, and `database_id`, the ids
    only. A page counts as private unless it is a row of a database or public, because Notion does not tell its readers.
    """
    database, source = home(page)
    ids = [id_ for id_ in (database, source) if id_]
    spelled = [*ids, *(id_.replace("-", "") for id_ in ids)]
    named = [*spelled, *([database_name] if database_name else [])]
    return {
        "private": is_private(page),
        **readers("people whom Notion does not name", private=is_private(page)),
        "page": as_text(page.get("id")),
        "database": database or None,
        "data_source": source or None,
        "title": title(page),
        "url": as_text(page.get("url")),
        "properties": {
            name: {"id": as_text(value.get("id")), "value": plain(value)} for name, value in properties(page).items()
        },
        "facts": {"database": named, "database_id": spelled},
    }


async def _source(api: NotionApi, call: Call, source: str) -> Fields:
    try:
        if source:
            return await api.get(call, f"data_sources/{source}")
        return {}
    except NotionRefusal as refused:
        if refused.is_outage:
            raise
        # A row can be shared without its database.
        return {}


def _header(page: Fields, source: Fields, files: Files) -> list[str]:
    gone = ["It is in the trash."] if _in_trash(page) else []
    rows = property_lines(page, files)
    return [
        f"Notion page “{title(page)}”{_kind(page, source)}",
        f"id {as_text(page.get('id'))}, last edited {as_text(page.get('last_edited_time'))[:16].replace('T', ' ')} UTC",
        as_text(page.get("url")),
        *gone,
        *(["", "Properties:", *rows] if rows else []),
    ]


def _kind(page: Fields, source: Fields) -> str:
    """Return the part of the header that names the database of a row; empty for any other page."""
    name = one_line(words(source.get("title")))
    if name:
        return f", a row of the database “{name}”"
    if home(page)[1]:
        return ", a row of a database"
    return ""


def _content(content: Content, files: Files) -> list[str]:
    notes: list[str] = []
    rows, left = shown(content.lines, TEXT_BUDGET)
    if left:
        notes.append(f"({left} further blocks are left out here.)")
    if not content.whole:
        notes.append("(The page has more blocks than can be read at once.)")
    if files.left_out:
        notes.append(f"(Gofer cannot open {files.left_out} further files of the page.)")
    if content.refused:
        notes.append(
            f"(Gofer may not read the content, or its rest: Notion refused with {one_line(content.refused, 400)})"
        )
    if rows:
        return ["", "Content, each block after its id in brackets:", *rows, *notes]
    return ["", *(notes or ["The page has no content."])]


async def _commented(
    api: NotionApi, call: Call, content: Content, block: str, files: Files, labels: Labels
) -> list[str]:
    """Return the lines about the block of the event if the content does not show it, such as beyond its limits."""
    _, left = shown(content.lines, TEXT_BUDGET)
    if not block or block in {line.id for line in content.lines[: len(content.lines) - left]}:
        return []
    lines = [line for line in content.lines if line.id == block]
    if not lines:
        lines = (await read_block(api, call, content.page, block, files, labels)).lines
    rows, _ = shown(lines, TEXT_BUDGET)
    return ["", "The block that the comment is on:", *rows] if rows else []


def _places(here: Mapping[str, str], page: str, content: Content, *, everywhere: bool) -> tuple[list[str], int]:
    """Return the page and the blocks to read the comments of, and the number of blocks that are left out."""
    own = [block for block in (here.get("block", ""),) if block]
    blocks = [line.id for line in content.lines if everywhere and line.id not in own]
    return [page, *own, *blocks[:BLOCKS_ASKED]], max(0, len(blocks) - BLOCKS_ASKED)


def _comments(page: str, discussions: Discussions, files: Files, missed: int) -> list[str]:
    rows = discussions.lines(page, files, TEXT_BUDGET)
    if discussions.refused and not rows:
        return ["", "Gofer may not read comments."]
    if discussions.refused:
        rows.append(f"(Gofer may not read the comments on {', '.join(discussions.refused[:10])}.)")
    if not discussions.whole:
        rows.append("(There are more comments than Gofer reads; these are the oldest of them.)")
    if missed:
        rows.append(f"(Comments on the last {missed} blocks were not read.)")
    return ["", *(rows or ["No comment is open there."])]


def mock_page(id_: str, title: str, database: str) -> Fields:
    """Return a row of a database in the form of Notion's answer."""
    return {
        "object": "page",
        "id": id_,
        "parent": {"database_id": uuid(f"database {database}"), "data_source_id": uuid(database)},
        "url": f"https://www.notion.so/{id_.replace('-', '')}",
        "last_edited_time": MOMENT,
        "properties": {
            "Name": {"id": "title", "type": "title", "title": words_of(title)},
            "Status": {"id": "stat", "type": "status", "status": {"name": "In progress"}},
        },
    }


def mock_source(name: str) -> Fields:
    """Return a data source with a name."""
    return {"id": uuid(name), "title": words_of(name)}


def words_of(text: str) -> list[Fields]:
    """Return a text as rich text in the form of Notion's answer."""
    return [{"type": "text", "plain_text": text, "text": {"content": text}}]
