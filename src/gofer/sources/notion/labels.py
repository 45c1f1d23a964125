"""The names of people and the titles of pages that Notion gives by their ids alone."""

from collections.abc import Iterator, Mapping

from gofer.sources.notion.api import Fields, NotionApi, NotionRefusal
from gofer.sources.notion.properties import title
from gofer.sources.notion.rich_text import words
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text

LOOKUPS = 10
"""The most people and pages that are looked up for one reading."""
_NAMELESS = ("", "@Anonymous")
"""The plain texts of mentions that name no one."""
_LINKS = {"page_id": "pages", "database_id": "databases"}


class Labels:
    """The look-ups of one reading, at most one for each person or page."""

    def __init__(self, api: NotionApi, call: Call) -> None:
        self._api = api
        self._call = call
        self._known: dict[str, str] = {}
        self._refused: set[str] = set()

    async def add(self, value: Fields) -> Fields:
        """Return a part of an answer with the name of each person and the title of each link to a page.

        What cannot be looked up stays as it is. Raises TemporaryError.
        """
        for path in _unlabelled(value):
            if path not in self._known and len(self._known) < LOOKUPS:
                self._known[path] = await self._look_up(path)
        return as_object(_labelled(value, self._known))

    async def _look_up(self, path: str) -> str:
        kind = path.partition("/")[0]
        if kind in self._refused:
            return ""
        try:
            found = await self._api.get(self._call, path)
        except NotionRefusal as refused:
            if refused.is_outage:
                raise
            if refused.access:
                # Without the capability, Notion refuses every person.
                self._refused.add(kind)
            return ""
        match kind:
            case "users":
                return as_text(found.get("name"))
            case "databases":
                return words(found.get("title"))
            case _:
                return title(found)


def _path(value: Mapping[str, object]) -> str:
    """Return the path at which a person or a link to a page can be looked up; empty for anything else."""
    kind = as_text(value.get("type"))
    if value.get("object") == "user" and value.get("id") and not value.get("name"):
        return f"users/{as_text(value.get('id'))}"
    if kind in _LINKS and value.get(kind):
        return f"{_LINKS[kind]}/{as_text(value.get(kind))}"
    return ""


def _unlabelled(value: object) -> Iterator[str]:
    match value:
        case dict():
            fields = as_object(value)  # pyright: ignore[reportUnknownArgumentType]
            if as_text(fields.get("plain_text")) not in _NAMELESS:
                return
            if path := _path(fields):
                yield path
            for one in fields.values():
                yield from _unlabelled(one)
        case list():
            for one in as_list(value):  # pyright: ignore[reportUnknownArgumentType]
                yield from _unlabelled(one)
        case _:
            return


def _labelled(value: object, known: Mapping[str, str]) -> object:
    match value:
        case dict():
            fields = as_object(value)  # pyright: ignore[reportUnknownArgumentType]
            made = {name: _labelled(one, known) for name, one in fields.items()}
            if label := known.get(_path(fields)):
                made["name"] = label
            return made
        case list():
            return [_labelled(one, known) for one in as_list(value)]  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return value
