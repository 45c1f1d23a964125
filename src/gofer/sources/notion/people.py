"""The person that a name in Notion means, never guessed."""

from collections.abc import Callable, Iterable

from gofer.sources.notion.api import Fields, NotionApi
from gofer.sources.notion.ids import find_id, one_line
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import ToolError

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
