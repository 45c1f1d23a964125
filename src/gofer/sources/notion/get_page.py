"""The tool that reads a page, and the page's text for a model: title, properties, content and open comments."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from gofer.sources.notion.api import Fields, NotionApi, NotionRefusal
from gofer.sources.notion.comments import comments_of, lines
from gofer.sources.notion.content import Content, Line, read_content, shown
from gofer.sources.notion.ids import READS, home, one_line, page_id
from gofer.sources.notion.rich_text import words
from gofer.sources.notion.values import line, plain
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import MOMENT, NAME, uuid
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
    page = await api.get(call, f"pages/{page_id(call, arguments.page)}")
    id_ = as_text(page.get("id"))
    source = await _source(api, call, home(page)[1])
    content = await read_content(api, call, id_)
    places, missed = _places(call, id_, content, everywhere=arguments.comments == "all")
    open_comments = await _read_comments(api, call, places)
    return _page_result(page, source, content, open_comments, missed)


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
    return _page_result(mock_page(page, "Something to read", "Pages"), mock_source("Pages"), content, [comment], 0)


def _page_result(
    page: Fields, source: Fields, content: Content, open_comments: Sequence[Fields] | None, missed: int
) -> ToolResult:
    """Return a page.

    `open_comments` is None when Gofer may not read comments. `missed` is the number of blocks whose
    comments were not read.
    """
    comment_lines = ["", "Gofer may not read comments."] if open_comments is None else _comments(open_comments, missed)
    text = "\n".join([*_header(page, source), *_content(content), *comment_lines])
    summary = f"read a page with {len(content.lines)} blocks and {len(open_comments or ())} open comments"
    about = details(page, words(source.get("title")))
    if _in_trash(page):
        about["deleted"] = True
    return ToolResult(text, summary, about, files=content.files)


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
        "private": not (database or source or page.get("public_url")),
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


def properties(page: Fields) -> Mapping[str, Fields]:
    """Return the properties of a page by name, in the form of Notion's answer."""
    return {name: as_object(value) for name, value in as_object(page.get("properties")).items()}


def title(page: Fields) -> str:
    """Return the title of a page on one line."""
    found = [plain(value) for value in properties(page).values() if value.get("type") == "title"]
    if found and found[0]:
        return one_line(str(found[0]))
    return "Untitled"


def property_lines(page: Fields) -> list[str]:
    """Return the lines of a page's properties, without its title."""
    rest = {name: value for name, value in properties(page).items() if value.get("type") != "title"}
    return [f"    {one_line(name)}: {line(plain(value))}" for name, value in rest.items()]


async def _source(api: NotionApi, call: Call, source: str) -> Fields:
    try:
        if source:
            return await api.get(call, f"data_sources/{source}")
        return {}
    except NotionRefusal:
        # A row can be shared without its database.
        return {}


async def _read_comments(api: NotionApi, call: Call, places: Sequence[str]) -> list[Fields] | None:
    """Return the open comments; None if Gofer's connection may read the page but not its comments."""
    try:
        return await comments_of(api, call, places)
    except NotionRefusal as refused:
        if refused.code != "restricted_resource":
            raise
        return None


def _header(page: Fields, source: Fields) -> list[str]:
    gone = ["It is in the trash."] if _in_trash(page) else []
    rows = property_lines(page)
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


def _content(content: Content) -> list[str]:
    if not content.lines:
        return ["", "The page has no content."]
    rows, left = shown(content.lines, TEXT_BUDGET)
    cut = [f"({left} further blocks are left out here.)"] if left else []
    if not content.whole:
        cut += ["(The page has more blocks than can be read at once.)"]
    return ["", "Content, each block after its id in brackets:", *rows, *cut]


def _places(call: Call, page: str, content: Content, *, everywhere: bool) -> tuple[list[str], int]:
    """Return the page and the blocks whose comments are read, and the number of blocks that are left out."""
    here = call.place.get("block", "")
    blocks = [one.id for one in content.lines if everywhere or one.id == here]
    return [page, *blocks[:BLOCKS_ASKED]], max(0, len(blocks) - BLOCKS_ASKED)


def _comments(open_comments: Sequence[Fields], missed: int) -> list[str]:
    rows: list[str] = []
    budget = TEXT_BUDGET
    for row in lines(open_comments):
        budget -= len(row) + 1
        if budget < 0:
            rows.append("(Further comments are left out here.)")
            break
        rows.append(row)
    cut = [f"(Comments on the last {missed} blocks were not read.)"] if missed else []
    return ["", *(rows or ["No comment is open there."]), *cut]


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
