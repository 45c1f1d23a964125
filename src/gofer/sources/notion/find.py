"""The tools that search pages by title and query one database."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from gofer.sources.notion.api import Fields, NotionApi, NotionRefusal
from gofer.sources.notion.get_file import Files
from gofer.sources.notion.get_page import mock_page, mock_source
from gofer.sources.notion.ids import READS, find_id, find_people, home, may_read, one_line
from gofer.sources.notion.labels import Labels
from gofer.sources.notion.properties import Completion, property_lines, title
from gofer.sources.notion.refusals import MISSING, NOT_THERE
from gofer.sources.notion.rich_text import words
from gofer.sources.notion.values import Column, columns, day, flag, number, option
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import uuid
from gofer.tools.readable import hidden
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError


class Search(Arguments):
    """The criteria of a search."""

    query: str = Field(default="", max_length=200, description="Words of the title. Left out: what changed last.")
    kind: Literal["page", "database"] | None = Field(default=None, description="Only pages, or only databases.")
    limit: int = Field(default=20, ge=1, le=100, description="How many at most.")


class QueryDatabase(Arguments):
    """The database, and the criteria for its rows."""

    database: str = Field(min_length=1, max_length=500, description="The database, as its name, a link or an id.")
    where: dict[str, str | float | bool] = Field(
        default_factory=dict,
        description='Values that rows must have, by property, as {"Status": "Done", "Owner": "Ada"}; an empty text '
        "means that nothing is set.",
    )
    limit: int = Field(default=25, ge=1, le=100, description="How many rows at most.")
    cursor: str = Field(default="", max_length=200, description="From an earlier answer, for the rows after it.")


@tool(
    effect="read",
    scopes=READS,
    everyday="wiki, handbook, docs, documentation, knowledge base, design doc, article, note; look up, find, "
    "where is it written",
)
async def notion_search(api: NotionApi, call: Call, arguments: Search) -> ToolResult:
    """Search Notion, the wiki, by title for pages and databases that are shared with Gofer."""
    kinds = {"page": "page", "database": "data_source"}
    sort = {"timestamp": "last_edited_time", "direction": "descending"}
    body: dict[str, object] = {"query": arguments.query, "page_size": arguments.limit, "sort": sort}
    if arguments.kind:
        body["filter"] = {"property": "object", "value": kinds[arguments.kind]}
    found = await api.post(call, "search", **body)
    seen = [one for one in map(as_object, as_list(found.get("results"))) if may_read(call, one)]
    return _search_result({**found, "results": seen})


@notion_search.mock
def _mock_search(arguments: Search) -> ToolResult:
    """Return one page or database with the requested title."""
    title = arguments.query or "Something to read"
    found = mock_page(uuid(title), title, "Pages")
    if arguments.kind == "database":
        found = {"object": "data_source", **mock_source(title)}
    return _search_result({"results": [found], "has_more": False})


def _search_result(found: Fields) -> ToolResult:
    """Return titles with ids, last changed first. Details: the number found, and the pages as `{id, title}`."""
    results = [as_object(one) for one in as_list(found.get("results"))]
    rows = [_result(one) for one in results]
    more: list[str] = []
    if found.get("has_more") is True:
        more.append("(There are more; search for other words.)")
    pages = [{"id": as_text(one.get("id")), "title": title(one)} for one in results if one.get("object") == "page"]
    text = "\n".join([f"{len(rows)} found that are shared with Gofer:", *rows, *more])
    return ToolResult(text, f"found {len(rows)} in Notion", {"found": len(rows), "pages": pages})


@tool(
    effect="read",
    timeout=40.0,
    scopes=READS | {"read user information"},
    everyday="table, roadmap, tracker, board, entries, records, overdue, list all, filter",
)
async def notion_query_database(api: NotionApi, call: Call, arguments: QueryDatabase) -> ToolResult:
    """List rows of a Notion database (a table) with their properties, all or those with given values."""
    source = await find_source(api, call, arguments.database)
    if not may_read(call, source):
        raise hidden(MISSING)
    body: dict[str, object] = {"page_size": arguments.limit}
    if conditions := await _conditions(api, call, columns(source), arguments.where):
        body["filter"] = {"and": conditions}
    if arguments.cursor:
        body["start_cursor"] = arguments.cursor
    found = await api.post(call, f"data_sources/{as_text(source.get('id'))}/query", **body)
    return _rows_result(source, {**found, "results": await _whole_rows(api, call, as_list(found.get("results")))})


@notion_query_database.mock
def _mock_query(arguments: QueryDatabase) -> ToolResult:
    """Return one row of the database. Its values do not match the request."""
    name = arguments.database
    if find_id(name):
        name = "Pages"
    row = mock_page(uuid(arguments.database), "Something to read", arguments.database)
    return _rows_result(mock_source(name), {"results": [row], "has_more": False})


async def _whole_rows(api: NotionApi, call: Call, found: Sequence[object]) -> Sequence[Fields]:
    """Return rows with complete properties, in which people have names."""
    completion = Completion(api, call)
    labels = Labels(api, call)
    rows: list[Fields] = []
    for row in map(as_object, found):
        values: Fields = {}
        # A row of a wiki can be a database, which has a schema in place of values.
        if row.get("object") == "page":
            whole = await completion.page(row)
            values = await labels.add(as_object(whole.get("properties")))
        rows.append({**row, "properties": values})
    return rows


def _rows_result(source: Fields, found: Fields) -> ToolResult:
    """Return rows with their properties. Details: the number found, and the rows as `{id, title}`."""
    rows = [as_object(one) for one in as_list(found.get("results"))]
    files = Files()
    shown = [line for row in rows for line in (_result(row), *property_lines(row, files))]
    more: list[str] = []
    if found.get("has_more") is True:
        more.append(f"(There are more; cursor {as_text(found.get('next_cursor'))}.)")
    cut = as_object(found.get("request_status")).get("type") == "incomplete"
    if cut:
        more.append("(Notion stops after 10,000 rows; ask for fewer.)")
    header = f"{len(rows)} rows of the database “{one_line(words(source.get('title'))) or 'Untitled'}”:"
    pages = [{"id": as_text(row.get("id")), "title": title(row)} for row in rows]
    text = "\n".join([header, *shown, *more])
    return ToolResult(text, f"read {len(rows)} rows", {"found": len(rows), "rows": pages}, files=files.listed)


async def find_source(api: NotionApi, call: Call, database: str) -> Fields:
    """Return the data source of a database, given by id, link or name. Raises ToolError unless there is exactly one."""
    if id_ := find_id(database):
        return await _by_id(api, call, id_)
    found = await api.post(
        call, "search", query=database, filter={"property": "object", "value": "data_source"}, page_size=100
    )
    known = [one for one in map(as_object, as_list(found.get("results"))) if may_read(call, one)]
    spelled = " ".join(database.split()).casefold()
    same = [one for one in known if " ".join(words(one.get("title")).split()).casefold() == spelled]
    if len(same) == 1:
        return same[0]
    names = [f"“{one_line(words(one.get('title')))}” ({as_text(one.get('id'))})" for one in same or known[:8]]
    hint = ""
    if names:
        hint = f" There are {', '.join(names)}."
    raise ToolError(f"{len(same) or 'No'} databases of that name are shared with Gofer; use an id or a link.{hint}")


async def _by_id(api: NotionApi, call: Call, id_: str) -> Fields:
    try:
        sources = as_list((await api.get(call, f"databases/{id_}")).get("data_sources"))
    except NotionRefusal as refused:
        if refused.code not in NOT_THERE:
            raise
        sources = [{"id": id_}]
    if len(sources) == 1:
        return await api.get(call, f"data_sources/{as_text(as_object(sources[0]).get('id'))}")
    if not sources:
        raise ToolError("Notion gives Gofer no data source of that database. If it is a view of another database, "
                        "share that one with Gofer's connection and use its id.")  # fmt: skip
    names = ", ".join(
        f"{one_line(as_text(as_object(one).get('name')))} ({as_object(one).get('id')})" for one in sources
    )
    raise ToolError(f"That database has {len(sources)} data sources; use the id of one of them: {names}.")


async def _conditions(
    api: NotionApi, call: Call, known: Mapping[str, Column], where: Mapping[str, str | float | bool]
) -> Sequence[dict[str, object]]:
    required = [(column(known, name), value) for name, value in where.items()]
    names = [str(value) for one, value in required if one.kind == "people" and value != ""]
    person_id = await find_people(api, call, names)
    conditions: list[dict[str, object]] = []
    for one, value in required:
        if value == "":
            condition: dict[str, object] = {"is_empty": True}
        elif one.kind == "people":
            condition = {"contains": person_id(str(value))}
        else:
            condition = _condition(one, value)
        conditions.append({"property": one.name, one.kind: condition})
    return conditions


def column(known: Mapping[str, Column], name: str) -> Column:
    """Return the property with a name. Raises ToolError, which lists all properties."""
    found = [one for one in known.values() if one.name == name]
    found = found or [one for one in known.values() if one.name.casefold() == name.strip().casefold()]
    if len(found) == 1:
        return found[0]
    raise ToolError(f"There is no property {one_line(name)!r}; there are {', '.join(known) or 'none'}.")


def _condition(one: Column, value: str | float | bool) -> dict[str, object]:
    match one.kind:
        case "status" | "select":
            return {"equals": option(one, str(value))}
        case "multi_select":
            return {"contains": option(one, str(value))}
        case "title" | "rich_text" | "url" | "email" | "phone_number":
            return {"contains": str(value)}
        case "number":
            return {"equals": number(one, value)}
        case "checkbox":
            return {"equals": flag(one, value)}
        case "date":
            return {"equals": day(one, str(value))}
        case "relation":
            return {"contains": find_id(str(value)) or str(value)}
        case _:
            raise ToolError(f"{one.name} is a {one.kind}; Gofer cannot select rows by it.")


def _result(one: Fields) -> str:
    id_ = as_text(one.get("id"))
    if one.get("object") == "page":
        kind = "row" if home(one)[1] else "page"
        return f"- {kind} “{title(one)}” (id {id_}), last edited {as_text(one.get('last_edited_time'))[:10]}"
    return f"- database “{one_line(words(one.get('title')))}” (id {id_})"
