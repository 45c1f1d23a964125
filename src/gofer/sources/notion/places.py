"""The places of Notion: which page a call names, and what that page stands in."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import Field

from gofer.sources.notion.api import NotionApi
from gofer.sources.notion.ids import find_id, is_at, page_id
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.canonical_json import as_object, as_text

READS = frozenset({"read content"})
"""What a tool that reads pages needs to be allowed."""
_PARENTS = ("database_id", "data_source_id", "page_id")


class OnPage(Protocol):
    """Arguments that name a page."""

    @property
    def page(self) -> str:
        """Return its id or a link to it; empty for the page that the request came from."""
        ...


class FindPlace(Arguments):
    """Which page."""

    page: str = Field(description="Id of the page.")


def page_place(origin: Origin, arguments: OnPage) -> Place:
    """Return the page that a call names. Raises ToolError."""
    return Place("notion", "page", page_id(origin, arguments.page), "page")


def on_page(*content: str) -> Writes:
    """Return what a tool writes that acts on one page; `content` are its other arguments."""
    # A block and a discussion are refused unless they are on the page.
    return Writes({"page": is_at}, frozenset(content))


@tool(effect="read", internal=True, scopes=READS)
async def notion_find_place(api: NotionApi, call: Call, arguments: FindPlace) -> ToolResult:
    """Look up what a page stands in."""
    page = await api.get(call, f"pages/{arguments.page}")
    parent = as_object(page.get("parent"))
    above = [found for name in _PARENTS if (found := find_id(as_text(parent.get(name))))]
    return _place_result(find_id(as_text(page.get("id"))) or "", above)


@notion_find_place.mock
def _mock(arguments: FindPlace) -> ToolResult:
    """Return a page that stands in no other."""
    return _place_result(arguments.page, [])


def _place_result(page: str, above: Sequence[str]) -> ToolResult:
    """Return a page that was looked up.

    Details: `id`, and `within`: its id and those of its database, its data source or the page above it.
    """
    return ToolResult("Found.", "looked up a place", {"id": page, "within": [page, *above]})
