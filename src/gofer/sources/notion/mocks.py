"""What does each tool of Notion give where no Notion is there? Its own form, made of the arguments alone."""

from gofer.sources.notion import write
from gofer.sources.notion.api import Fields
from gofer.sources.notion.comments import AddComment, commented, where
from gofer.sources.notion.content import Content, Line
from gofer.sources.notion.find import QueryDatabase, Search, rows_result, search_result
from gofer.sources.notion.get_file import GetFile
from gofer.sources.notion.get_page import GetPage, page_result
from gofer.sources.notion.ids import find_id, object_id, page_id
from gofer.sources.notion.places import FindPlace, place_result
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import MOMENT, NAME, fetched, uuid

_ASKED = "Could somebody look at this?"


def get_file(call: Call, arguments: GetFile) -> ToolResult:
    """A file of one line."""
    return fetched("Notion")


def find_place(call: Call, arguments: FindPlace) -> ToolResult:
    """A page that stands in no other."""
    return place_result(arguments.page, [])


def get_page(call: Call, arguments: GetPage) -> ToolResult:
    """A row of a database with one paragraph and one open comment."""
    page = page_id(call, arguments.page)
    block = call.place.get("block") or uuid(f"block of {page}")
    said: Fields = {
        "discussion_id": uuid(f"discussion of {page}"),
        "parent": {"page_id": page},
        "display_name": {"resolved_name": NAME},
        "created_time": MOMENT,
        "rich_text": _words(_ASKED),
    }
    content = Content(page, [Line(block, 0, "What this is about stands here.")])
    return page_result(_page(page, "Something to read", "Pages"), _source("Pages"), content, [said], 0)


def search(call: Call, arguments: Search) -> ToolResult:
    """One page, or one database, of the title that was asked for."""
    title = arguments.query or "Something to read"
    database: Fields = {"object": "data_source", **_source(title)}
    found = database if arguments.kind == "database" else _page(uuid(title), title, "Pages")
    return search_result({"results": [found], "has_more": False})


def query_database(call: Call, arguments: QueryDatabase) -> ToolResult:
    """One row of the database, without the values that were asked for."""
    name = "Pages" if find_id(arguments.database) else arguments.database
    row = _page(uuid(arguments.database), "Something to read", arguments.database)
    return rows_result(_source(name), {"results": [row], "has_more": False})


def add_comment(call: Call, arguments: AddComment) -> ToolResult:
    """A comment that nobody reads."""
    page, _ = where(call, arguments)
    replied = object_id(arguments.discussion, "discussion") if arguments.discussion else ""
    discussion = replied or uuid(f"discussion: {arguments.text}")
    return commented({"id": uuid(arguments), "discussion_id": discussion}, page)


def update_properties(call: Call, arguments: write.UpdateProperties) -> ToolResult:
    """Properties that were set nowhere; whatever they are called, they are there."""
    return write.set_result(page_id(call, arguments.page), list(arguments.properties))


def append_content(call: Call, arguments: write.AppendContent) -> ToolResult:
    """Content that was added nowhere."""
    page, made = page_id(call, arguments.page), write.content(call, arguments.text)
    if arguments.after:
        object_id(arguments.after, "block")
    return write.appended(page, [uuid(f"{number} of {page}: {arguments.text}") for number in range(len(made))])


def _page(id_: str, title: str, database: str) -> Fields:
    return {
        "object": "page",
        "id": id_,
        "parent": {"database_id": uuid(f"database {database}"), "data_source_id": uuid(database)},
        "url": f"https://www.notion.so/{id_.replace('-', '')}",
        "last_edited_time": MOMENT,
        "properties": {
            "Name": {"id": "title", "type": "title", "title": _words(title)},
            "Status": {"id": "stat", "type": "status", "status": {"name": "In progress"}},
        },
    }


def _source(name: str) -> Fields:
    return {"id": uuid(name), "title": _words(name)}


def _words(text: str) -> list[Fields]:
    return [{"type": "text", "plain_text": text, "text": {"content": text}}]
