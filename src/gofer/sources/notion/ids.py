"""The page, block, database or person that is meant, and what a page stands in."""

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
    """Return the id in an id or in a link to a page, with dashes; None where there is none."""
    try:
        where = urlsplit(text).path if text.startswith(("http://", "https://")) else text.strip()
    except ValueError:
        return None
    found = _ID.findall(where)
    whole = where == text.strip() and len(found) == 1 and found[0] != where
    if not found or whole:
        return None
    return str(UUID(found[-1]))


def object_id(text: str, what: str) -> str:
    """Return the id of a `page`, a `block`, a `discussion`. Raises ToolError."""
    if found := find_id(text):
        return found
    raise ToolError(f"That is not the id of a {what}; write the id as it was shown, or a link to it.")


def page_id(call: Origin, page: str) -> str:
    """Return the id of the page a model names, or of the one the run began with. Raises ToolError."""
    if page:
        return object_id(page, "page")
    if here := call.place.get("page"):
        return here
    raise ToolError("Say which page, as a link or an id: the request did not come from a page.")


def is_at(page: str, place: Mapping[str, str]) -> bool:
    """Return whether an id or a link means the page of an event's place."""
    found = find_id(page)
    return found is not None and found == find_id(place.get("page", ""))


def home(page: Fields) -> tuple[str, str]:
    """Return ids of the database and of the data source a page is a row of; empty for any other page."""
    parent = as_object(page.get("parent"))
    return as_text(parent.get("database_id")), as_text(parent.get("data_source_id"))


def one_line(text: str, limit: int = 200) -> str:
    """Return text as it may stand in one of our own lines."""
    return " ".join(text.split())[:limit]


_PAGES = 20
"""Pages of a hundred people that are read at most."""


async def find_people(api: NotionApi, call: Call, names: Iterable[str]) -> Callable[[str], str]:
    """Return the ids of people by name, e-mail address or id. Raises ToolError for a name of none or of several."""
    wanted = list(names)
    known: list[Fields] = []
    if any(find_id(name) is None for name in wanted):
        known = [user async for user in api.listed(call, "users", _PAGES)]
    ids = {name: _id(name, known) for name in wanted}
    return lambda name: ids[name]


def _id(name: str, known: Iterable[Fields]) -> str:
    if by_id := find_id(name):
        return by_id
    spelled = " ".join(name.split()).lstrip("@").casefold()
    found = [user for user in known if spelled in _names(user)]
    if len(found) == 1:
        return as_text(found[0].get("id"))
    if not found:
        raise ToolError(f"Nobody in this Notion is called {one_line(name)!r}; guests are not listed. Ask who is meant.")
    people = "; ".join(f"{one_line(as_text(user.get('name')))} ({_mail(user) or user.get('id')})" for user in found)
    raise ToolError(f"{len(found)} people are called {one_line(name)!r}: {people}. Ask who is meant, and write what is "
                    "in brackets.")  # fmt: skip


def _names(user: Fields) -> set[str]:
    return {name.casefold() for name in (as_text(user.get("name")), _mail(user)) if name}


def _mail(user: Fields) -> str:
    return as_text(as_object(user.get("person")).get("email"))


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
def _mock_place(arguments: FindPlace) -> ToolResult:
    """Return a page that stands in no other."""
    return _place_result(arguments.page, [])


def _place_result(page: str, above: Sequence[str]) -> ToolResult:
    """Return a page that was looked up.

    Details: `id`, and `within`: its id and those of its database, its data source or the page above it.
    """
    return ToolResult("Found.", "looked up a place", {"id": page, "within": [page, *above]})
