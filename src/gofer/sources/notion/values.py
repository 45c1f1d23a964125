"""The values of properties in the form of Notion's requests, and the schema that they follow."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gofer.sources.notion.api import Fields
from gofer.sources.notion.ids import object_id, one_line
from gofer.sources.notion.rich_text import Span, rich_text
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

Given = str | float | bool | list[str] | None
"""A value in the form that a model writes."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[0-9:.]+(?:Z|[+-]\d{2}:\d{2})?)?")
_LONGEST = {"url": 2_000, "email": 200, "phone_number": 200}
"""The most characters that Notion accepts, by kind of property."""
_ENTRIES = 100
"""The most people, options or relations that Notion accepts for one property."""
_OPTIONS = ("status", "select", "multi_select")


@dataclass(frozen=True, slots=True)
class Column:
    """A property in the schema of a data source."""

    name: str
    id: str
    kind: str
    options: Sequence[str] = ()
    """The names of the property's options."""


def columns(source: Fields) -> Mapping[str, Column]:
    """Return the properties of a data source by name."""
    found: dict[str, Column] = {}
    for name, value in as_object(source.get("properties")).items():
        kind = as_text(as_object(value).get("type"))
        options = as_list(as_object(as_object(value).get(kind)).get("options"))
        names = [as_text(as_object(option).get("name")) for option in options]
        found[name] = Column(name=name, id=as_text(as_object(value).get("id")), kind=kind, options=names)
    return found


def written(column: Column, given: Given, person: Callable[[str], str]) -> dict[str, object]:
    """Return a value in the form of Notion's requests. `person` returns a person's id by name. Raises ToolError."""
    return {column.kind: _written(column, given, person)}


def _written(column: Column, given: Given, person: Callable[[str], str]) -> object:
    match column.kind:
        case "title" | "rich_text":
            if given:
                return rich_text([Span(_text(column, given))])
            return []
        case "status" | "select":
            if given:
                return {"name": option(column, _text(column, given))}
            return None
        case "multi_select":
            return [{"name": option(column, one)} for one in _texts(column, given)]
        case "people":
            return [{"object": "user", "id": person(one)} for one in _texts(column, given)]
        case "relation":
            return [{"id": object_id(one, "page")} for one in _texts(column, given)]
        case "checkbox":
            return flag(column, given)
        case "number":
            if given in (None, ""):
                return None
            return number(column, given)
        case "date":
            if given:
                return _date(column, _text(column, given))
            return None
        case "url" | "email" | "phone_number":
            if given:
                return _short(column, _text(column, given))
            return None
        case _:
            raise ToolError(f"{column.name} is a {column.kind}; Gofer cannot set properties of that kind.")


def option(column: Column, given: str) -> str:
    """Return the option with a name, ignoring case, in its own spelling. Raises ToolError, which lists all options."""
    found = [name for name in column.options if name == given]
    found = found or [name for name in column.options if name.casefold() == given.strip().casefold()]
    if len(found) == 1:
        return found[0]
    known = ", ".join(column.options) or "no options"
    raise ToolError(f"{column.name} has no option {one_line(given)!r}; it has {known}.")


def flag(column: Column, given: Given) -> bool:
    """Return the boolean for a value. Raises ToolError."""
    if isinstance(given, bool):
        return given
    if isinstance(given, str) and given.casefold() in ("true", "false", "yes", "no"):
        return given.casefold() in ("true", "yes")
    raise ToolError(f"{column.name} is a checkbox; write true or false.")


def number(column: Column, given: Given) -> float:
    """Return the number for a value. Raises ToolError."""
    try:
        value = math.nan if isinstance(given, bool | list | None) else float(given)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ToolError(f"{column.name} is a number; write one such as 3 or 2.5.")
    if value.is_integer():
        return int(value)
    return value


def _text(column: Column, given: Given) -> str:
    if isinstance(given, str):
        return given
    raise ToolError(f"{column.name} is a {column.kind}; write its value as one text.")


def _texts(column: Column, given: Given) -> list[str]:
    values: list[Given] = []
    if isinstance(given, list):
        values = [*given]
    elif given:
        values = [given]
    if not all(isinstance(value, str) for value in values):
        raise ToolError(f"{column.name} is a {column.kind}; write its value as a list of texts.")
    if len(values) > _ENTRIES:
        raise ToolError(f"{column.name} takes {_ENTRIES} entries, and these are {len(values)}; write fewer.")
    return [str(value) for value in values]


def _short(column: Column, text: str) -> str:
    most = _LONGEST[column.kind]
    if len(text) > most:
        raise ToolError(f"{column.name} takes {most:,} characters, and this has {len(text):,}; write a shorter one.")
    return text


def _date(column: Column, given: str) -> dict[str, object]:
    start, _, end = given.partition("/")
    if not _is_date(start) or (end and not _is_date(end)):
        raise ToolError(f"{column.name} is a date; write it as 2026-11-21, or as 2026-11-21/2026-11-24.")
    return {"start": start, "end": end or None}


def day(column: Column, given: str) -> str:
    """Return a date for a comparison. Raises ToolError for any other text."""
    if not _is_date(given):
        raise ToolError(f"{column.name} is a date; write it as 2026-11-21.")
    return given


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text)) and bool(datetime.fromisoformat(text))
    except ValueError:
        return False
