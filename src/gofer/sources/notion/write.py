"""The tools that set properties and add content, each exactly once however often a call is repeated."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from gofer.sources.notion.api import Fields, NotionApi
from gofer.sources.notion.find import column
from gofer.sources.notion.ids import READS, find_people, home, object_id, on_page, page_id, page_place
from gofer.sources.notion.markdown import blocks, paragraph
from gofer.sources.notion.properties import properties
from gofer.sources.notion.rich_text import footer, marked
from gofer.sources.notion.values import Column, Given, columns, written
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import uuid
from gofer.values.canonical_json import as_list, as_object, as_text, encode
from gofer.values.errors import ToolError

BLOCKS = 100
"""The most blocks in one list of a request."""
ELEMENTS = 1_000
"""The most blocks of a request at all depths, including rows of tables."""
BYTES = 490_000
"""The most bytes of the blocks in a request. Notion accepts 500 kB in all."""
PAGES = 50
"""The most pages of a hundred blocks that one search reads."""


class UpdateProperties(Arguments):
    """The values to set, and the page."""

    properties: dict[str, str | float | bool | list[str] | None] = Field(
        min_length=1,
        description='Values by property, as {"Status": "Done", "Reviewers": ["Ada"], "Due": "2026-11-21"}. People by '
        "name; a list replaces the whole list; an empty text or list clears.",
    )
    page: str = Field(default="", description="The page, as a link or an id. Left out: where the request came from.")


class AppendContent(Arguments):
    """The content, and its place."""

    text: str = Field(min_length=1, max_length=50_000, description="The content in Markdown.")
    page: str = Field(default="", description="The page, as a link or an id. Left out: where the request came from.")
    after: str = Field(default="", description="Id of the block of the page to add it after. Left out: at the end.")


@tool(
    effect="keyed",
    shows="page",
    timeout=40.0,
    place=page_place,
    writes=on_page("properties"),
    plain_text=frozenset({"properties"}),
    scopes=READS | {"update content", "read user information"},
    everyday="change, edit or set a field, due date, deadline, owner, assignee, status of a wiki doc or row",
)
async def notion_update_properties(api: NotionApi, call: Call, arguments: UpdateProperties) -> ToolResult:
    """Set properties of a Notion page: status, people, dates and others. If a value does not exist, the error
    lists the existing ones.
    """
    page = page_id(call, arguments.page)
    known = await _columns(api, call, await api.get(call, f"pages/{page}"))
    changes = [(column(known, name), value) for name, value in arguments.properties.items()]
    person = await find_people(api, call, _people(changes))
    values = {one.name: written(one, value, person) for one, value in changes}
    await api.patch(call, f"pages/{page}", properties=values)
    return _set_result(page, list(values))


@notion_update_properties.mock
def _mock_update(call: Call, arguments: UpdateProperties) -> ToolResult:
    """Return properties without setting them. Every name counts as an existing property."""
    return _set_result(page_id(call, arguments.page), list(arguments.properties))


def _set_result(page: str, names: list[str]) -> ToolResult:
    """Return the set properties. Details: page, and the names of the properties."""
    return ToolResult(f"Set {', '.join(names)}.", f"set {len(names)} properties", {"page": page, "set": names})


@tool(
    effect="lookup",
    shows="page",
    timeout=40.0,
    settle=5.0,
    place=page_place,
    writes=on_page("text", "after"),
    markdown=frozenset({"text"}),
    scopes=READS | {"insert content"},
    everyday="write down in the wiki or doc, add a section, paragraph, notes, minutes, document it",
)
async def notion_append_content(api: NotionApi, call: Call, arguments: AppendContent) -> ToolResult:
    """Add content to a Notion page, at its end or after one block; what is there stays."""
    page = page_id(call, arguments.page)
    children = _content(call, arguments.text)
    position: dict[str, object] = {"type": "end"}
    if arguments.after:
        position = {"type": "after_block", "after_block": {"id": object_id(arguments.after, "block")}}
    done = await api.patch(call, f"blocks/{page}/children", children=children, position=position)
    ids = [as_text(as_object(one).get("id")) for one in as_list(done.get("results"))]
    return _appended(page, ids)


@notion_append_content.look
async def _find_content(api: NotionApi, call: Call, arguments: AppendContent) -> ToolResult | None:
    """Return the content that an earlier attempt of the call added, found by the mark in the last block."""
    page = page_id(call, arguments.page)
    async for block in api.listed(call, f"blocks/{page}/children", PAGES):
        if block.get("type") == "paragraph" and marked(call, as_object(block.get("paragraph"))):
            return _appended(page, [as_text(block.get("id"))])
    return None


@notion_append_content.mock
def _mock_append(call: Call, arguments: AppendContent) -> ToolResult:
    """Return content without adding it."""
    page = page_id(call, arguments.page)
    children = _content(call, arguments.text)
    if arguments.after:
        object_id(arguments.after, "block")
    return _appended(page, [uuid(f"{number} of {page}: {arguments.text}") for number in range(len(children))])


def _appended(page: str, ids: list[str]) -> ToolResult:
    """Return added content. Details: page, and the ids of the blocks."""
    return ToolResult("Added the content.", "added content to a page", {"page": page, "blocks": ids})


def _content(call: Call, text: str) -> list[dict[str, object]]:
    """Return the blocks of a text, with the footer at the end. Raises ToolError for more than Notion accepts.

    All blocks must fit into one request. After a crash between several requests, a part without the mark of the call
    would be left, and a later attempt could not find it.
    """
    children = [*blocks(text), paragraph(footer(call))]
    if len(children) > BLOCKS:
        raise ToolError(f"That is {len(children)} blocks, and {BLOCKS - 1} fit into one call; add it in several.")
    everything = list(_walk(children))
    if any(len(_below(one)) > BLOCKS for one in everything):
        raise ToolError(f"One list item has more than {BLOCKS} blocks below it; write it with fewer levels.")
    if len(everything) > ELEMENTS:
        raise ToolError(f"That has more than {ELEMENTS} rows and blocks in all; add it in several calls.")
    if len(encode(children)) > BYTES:
        raise ToolError("That is more than the 500 kB that Notion takes at once; add it in several calls.")
    return children


def _walk(blocks: Iterable[Fields]) -> Iterator[Fields]:
    for block in blocks:
        yield block
        yield from _walk(_below(block))


def _below(block: Fields) -> Sequence[Fields]:
    return [as_object(one) for one in as_list(as_object(block.get(as_text(block.get("type")))).get("children"))]


async def _columns(api: NotionApi, call: Call, page: Fields) -> Mapping[str, Column]:
    """Return the properties of a page. Only a row's properties have options, which come from its data source."""
    _, source = home(page)
    if source:
        return columns(await api.get(call, f"data_sources/{source}"))
    return {
        name: Column(name=name, id=as_text(value.get("id")), kind=as_text(value.get("type")))
        for name, value in properties(page).items()
    }


def _people(changes: list[tuple[Column, Given]]) -> list[str]:
    values = [value for one, value in changes if one.kind == "people" and value]
    return [str(name) for value in values for name in (value if isinstance(value, list) else [value])]
