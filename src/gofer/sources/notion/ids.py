"""The ids of pages, blocks, databases and people that a call names, and the parent of a page."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import Field

from gofer.sources.notion.api import Fields, NotionApi
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?![0-9a-f])", re.IGNORECASE)


def find_id(text: str) -> str | None:
    """Return the id in a text that is an id or a link, with dashes; None if it has none."""
    # Notion writes links within a workspace without their beginning.
    is_link = text.startswith(("http://", "https://", "/"))
    try:
        where = urlsplit(text).path if is_link else text.strip()
    except ValueError:
        return None
    found = _ID.findall(where)
    if not found or (not is_link and len(found) == 1 and found[0] != where):
        return None
    return str(UUID(found[-1]))


def object_id(text: str, what: str) -> str:
    """Return the id in a text. `what` names the kind of object, such as `page` or `block`. Raises ToolError."""
    if found := find_id(text):
        return found
    raise ToolError(f"That is not the id of a {what}; write the id as it was shown, or a link to it.")


def page_id(call: Origin, page: str) -> str:
    """Return the id of the page that a model names, or else of the run's own page. Raises ToolError."""
    if page:
        return object_id(page, "page")
    if here := call.place.get("page"):
        return here
    raise ToolError("Say which page, as a link or an id: the request did not come from a page.")


def is_at(page: str, place: Mapping[str, str]) -> bool:
    """Return whether an id or link names the page of an event."""
    found = find_id(page)
    return found is not None and found == find_id(place.get("page", ""))


def home(page: Fields) -> tuple[str, str]:
    """Return the ids of the database and the data source of a row; both are empty for any other page."""
    parent = as_object(page.get("parent"))
    return as_text(parent.get("database_id")), as_text(parent.get("data_source_id"))


def is_private(page: Fields) -> bool:
    """Return whether the readers of a page are unknown: it is neither public nor a row, and Notion tells no readers."""
    return not (any(home(page)) or page.get("public_url"))


def may_read(call: Call, found: Fields) -> bool:
    """Return whether a run may read a page or database: the page it is about, or one that its `reads` allows."""
    if is_at(as_text(found.get("id")), call.place):
        return True
    parent = as_object(found.get("parent"))
    ids = [find_id(as_text(one)) for one in (found.get("id"), *(parent.get(name) for name in _PARENTS))]
    private = found.get("object") == "page" and is_private(found)
    return call.readable.holds(*(one for one in ids if one), private=private)


def one_line(text: str, limit: int = 200) -> str:
    """Return text on one line and cut, so that it is safe in a line by Gofer."""
    return " ".join(text.split())[:limit]


_PAGES = 20
"""The most pages of a hundred people that are read."""


async def find_people(api: NotionApi, call: Call, names: Iterable[str]) -> Callable[[str], str]:
    """Return a function from a name, email address or id to the person's id.

    Raises ToolError for a name that no person or several people have.
    """
    sought = list(names)
    known: list[Fields] = []
    if any(find_id(name) is None for name in sought):
        known = [user async for user in api.listed(call, "users", _PAGES)]
    ids = {name: _id(name, known) for name in sought}
    return lambda name: ids[name]


def _id(name: str, known: Iterable[Fields]) -> str:
    if by_id := find_id(name):
        return by_id
    spelled = " ".join(name.split()).lstrip("@").casefold()
    found = [user for user in known if spelled in _names(user)]
    if len(found) == 1:
        return as_text(found[0].get("id"))
    if not found:
        raise ToolError(
            f"No person in this Notion is called {one_line(name)!r}; guests are not listed. Ask who is meant."
        )
    people = "; ".join(f"{one_line(as_text(user.get('name')))} ({_mail(user) or user.get('id')})" for user in found)
    raise ToolError(f"{len(found)} people are called {one_line(name)!r}: {people}. Ask who is meant, and write the "
                    "text in brackets.")  # fmt: skip


def _names(user: Fields) -> set[str]:
    return {name.casefold() for name in (as_text(user.get("name")), _mail(user)) if name}


def _mail(user: Fields) -> str:
    return as_text(as_object(user.get("person")).get("email"))


READS = frozenset({"read content"})
"""The capabilities of a tool that reads pages."""
_PARENTS = ("database_id", "data_source_id", "page_id")


class OnPage(Protocol):
    """Arguments that name a page."""

    @property
    def page(self) -> str:
        """Return the id of the page or a link to it; empty for the page of the request."""
        ...


class FindPlace(Arguments):
    """The page to look up."""

    page: str = Field(description="Id of the page.")


def page_place(origin: Origin, arguments: OnPage) -> Place:
    """Return the page that a call names. Raises ToolError."""
    return Place("notion", "page", page_id(origin, arguments.page), "page")


def on_page(*content: str) -> Writes:
    """Return the writes of a tool that acts on one page. `content` names its other arguments."""
    # The tools refuse a block or discussion that is not on the page, so the page alone is the destination.
    return Writes({"page": is_at}, frozenset(content))


@tool(effect="read", internal=True, scopes=READS)
async def notion_find_place(api: NotionApi, call: Call, arguments: FindPlace) -> ToolResult:
    """Look up the parent of a page."""
    page = await api.get(call, f"pages/{arguments.page}")
    parent = as_object(page.get("parent"))
    above = [found for name in _PARENTS if (found := find_id(as_text(parent.get(name))))]
    return _place_result(find_id(as_text(page.get("id"))) or "", above)


@notion_find_place.mock
def _mock_place(arguments: FindPlace) -> ToolResult:
    """Return a page without a parent."""
    return _place_result(arguments.page, [])


def _place_result(page: str, above: Sequence[str]) -> ToolResult:
    """Return a page.

    Details: `id`, and `within`: the ids of the page itself and of its database, data source or parent page.
    """
    return ToolResult("Found.", "looked up a place", {"id": page, "within": [page, *above]})
