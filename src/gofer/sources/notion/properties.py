"""The properties of a page: as JSON for code, as text for a model, and complete where a page holds only a part."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gofer.sources.notion.api import PAGE, Fields, NotionApi, NotionRefusal
from gofer.sources.notion.get_file import Files
from gofer.sources.notion.ids import one_line
from gofer.sources.notion.inline import date_text, inline
from gofer.sources.notion.rich_text import words
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text

REQUESTS = 20
"""The most requests for the rest of properties, for one page or for the rows of one query."""
_REFERENCES = 25
"""The most pages and people of one property that Notion puts into a page."""
_SHOWN = 100
"""The most entries of one property that are shown."""
_LONGEST = 2_000
"""The most characters of one text in a property that are shown."""
_LISTS = frozenset({"people", "relation", "rich_text", "title"})
"""The kinds of properties whose rest Notion gives entry by entry."""
_COMPUTED = frozenset({"formula", "rollup"})
_CUT = dict.fromkeys(_COMPUTED, "Notion computed this from the first entries only")
"""What the text of a property says that stays incomplete, instead of that there are more entries."""
_BUDGET = 30_000
"""The most characters of the properties of one page that are shown."""

Rich = Callable[[object], str]
"""What makes a text of a rich text: plain for code, Markdown for a model."""
Reader = Callable[[object, Rich], object]


def properties(page: Fields) -> Mapping[str, Fields]:
    """Return the properties of a page by name, in the form of Notion's answer."""
    return {name: as_object(value) for name, value in as_object(page.get("properties")).items()}


def title(page: Fields) -> str:
    """Return the title of a page on one line."""
    found = [plain(value) for value in properties(page).values() if value.get("type") == "title"]
    if found and found[0]:
        return one_line(str(found[0]))
    return "Untitled"


def plain(value: Fields, rich: Rich = words) -> object:
    """Return a property as plain JSON: texts, numbers, lists of names, and people as `{id, name}`."""
    kind = as_text(value.get("type"))
    reader = PROPERTIES.reader(kind)
    if reader:
        return reader(value.get(kind), rich)
    return PROPERTIES.named(kind)


def property_lines(page: Fields, files: Files) -> list[str]:
    """Return the lines of a page's properties, without its title."""
    lines: list[str] = []
    left = _BUDGET
    rest = {name: value for name, value in properties(page).items() if value.get("type") != "title"}
    for name, value in rest.items():
        row = f"    {one_line(name)}: {_shown(page, value, files)}"
        left -= len(row) + 1
        if left < 0:
            lines.append(f"    ({len(rest) - len(lines)} further properties are left out here.)")
            break
        lines.append(row)
    return lines


def _shown(page: Fields, value: Fields, files: Files) -> str:
    """Return a property as text on one line."""
    kind = as_text(value.get("type"))
    if kind == "files" and as_list(value.get(kind)):
        entries = files.entries(as_text(page.get("id")), "property", as_text(value.get("id")), value.get(kind))
        return line(entries)
    text = line(plain(value, inline))
    function = as_text(as_object(value.get(kind)).get("function"))
    if kind == "rollup" and function not in ("", "show_original"):
        text = f"{text} ({function.replace('_', ' ')})"
    if value.get("has_more") is True:
        return f"{text} ({_CUT.get(kind, 'there are more, which Gofer has not read')})"
    return text


def line(value: object) -> str:
    """Return a value of `plain` as text on one line."""
    match value:
        case None | "" | []:
            return "(empty)"
        case bool():
            if value:
                return "yes"
            return "no"
        case list():
            entries = as_list(value)  # pyright: ignore[reportUnknownArgumentType]
            texts = [line(one) for one in entries[:_SHOWN]]
            if len(entries) > _SHOWN:
                texts.append(f"and {len(entries) - _SHOWN} more")
            return ", ".join(texts)
        case dict():
            person = as_object(value)  # pyright: ignore[reportUnknownArgumentType]
            return one_line(as_text(person.get("name"))) or f"person {as_text(person.get('id'))}"
        case _:
            text = one_line(str(value), _LONGEST + 1)
            if len(text) > _LONGEST:
                return f"{text[:_LONGEST]}… (cut here)"
            return text


def _rich(inner: object, rich: Rich) -> str:
    return rich(inner)


def _same(inner: object, _: Rich) -> object:
    return inner


def _name(inner: object, _: Rich) -> str | None:
    return as_text(as_object(inner).get("name")) or None


def _names(inner: object, _: Rich) -> list[str]:
    return [as_text(as_object(one).get("name")) for one in as_list(inner)]


def _person(inner: object, _: Rich) -> dict[str, object]:
    person = as_object(inner)
    return {"id": as_text(person.get("id")), "name": as_text(person.get("name"))}


def _people(inner: object, rich: Rich) -> list[object]:
    return [_person(one, rich) for one in as_list(inner)]


def _relation(inner: object, _: Rich) -> list[str]:
    return [as_text(as_object(one).get("id")) for one in as_list(inner)]


def _date(inner: object, _: Rich) -> str | None:
    return date_text(as_object(inner)) or None


def _unique_id(inner: object, _: Rich) -> str | None:
    prefix = as_text(as_object(inner).get("prefix"))
    number = as_object(inner).get("number")
    if number is None:
        return None
    if prefix:
        return f"{prefix}-{number}"
    return str(number)


def _verification(inner: object, rich: Rich) -> str | None:
    verification = as_object(inner)
    person = as_object(verification.get("verified_by"))
    parts = [as_text(verification.get("state")), _date(verification.get("date"), rich)]
    if person:
        parts.append(f"by {line(_person(person, rich))}")
    return " ".join(filter(None, parts)) or None


def _place(inner: object, _: Rich) -> str | None:
    place = as_object(inner)
    parts = [as_text(place.get(name)) for name in ("name", "address")]
    if place.get("lat") is not None:
        parts.append(f"({place.get('lat')}, {place.get('lon')})")
    return ", ".join(filter(None, parts)) or None


def _computed(inner: object, rich: Rich) -> object:
    result = as_object(inner)
    kind = as_text(result.get("type"))
    reader = RESULTS.reader(kind)
    if reader:
        return reader(result.get(kind), rich)
    return RESULTS.named(kind)


def _array(inner: object, rich: Rich) -> list[object]:
    return [plain(as_object(one), rich) for one in as_list(inner)]


_TEXT: Member[Reader] = Member("its text; for the model with links, mentions and marks", _rich)
_OPTION: Member[Reader] = Member("the name of the option", _name)
_VALUE: Member[Reader] = Member("its value", _same)
_PERSON: Member[Reader] = Member("the name, or the id; for code both", _person)
_DATE: Member[Reader] = Member("its start, end and time zone", _date)
PROPERTIES: Vocabulary[Reader] = Vocabulary(
    "property",
    "property",
    {
        "title": _TEXT,
        "rich_text": _TEXT,
        "number": _VALUE,
        "select": _OPTION,
        "status": _OPTION,
        "multi_select": Member("the names of the options", _names),
        "date": _DATE,
        "people": Member("the names of people and groups, or their ids; for code both", _people),
        "files": Member("the names; for the model as the table of files says", _names),
        "checkbox": _VALUE,
        "url": _VALUE,
        "email": _VALUE,
        "phone_number": _VALUE,
        "formula": Member("its result, see below", _computed),
        "relation": Member("the ids of the pages", _relation),
        "rollup": Member("its result, see below; for the model with its function", _computed),
        "created_time": _VALUE,
        "last_edited_time": _VALUE,
        "created_by": _PERSON,
        "last_edited_by": _PERSON,
        "unique_id": Member("its prefix and number", _unique_id),
        "verification": Member("its state, its date and the person", _verification),
        "place": Member("its name, address and coordinates", _place),
        "button": Member("a button"),
        "location": Member("a location, which Notion does not give"),
        "last_visited_time": Member("the time of the last visit, which Notion does not give"),
    },
)
RESULTS: Vocabulary[Reader] = Vocabulary(
    "result of a formula or rollup",
    "result",
    {
        "string": _VALUE,
        "number": _VALUE,
        "boolean": _VALUE,
        "date": _DATE,
        "array": Member("each entry as its own kind of property", _array),
        "unsupported": Member("a result that Notion's API does not give"),
        "incomplete": Member("a result that Notion has not finished computing"),
    },
)


@dataclass(slots=True)
class Completion:
    """The reading of properties of which a page holds only the first entries."""

    api: NotionApi
    call: Call
    left: int = REQUESTS
    """The requests that may still be made."""

    async def page(self, page: Fields) -> Fields:
        """Return a page with complete properties. One that stays incomplete has `has_more`. Raises TemporaryError."""
        values = properties(page)
        related = any(value.get("type") == "relation" and _is_short(value) for value in values.values())
        made: dict[str, object] = {}
        for name, value in values.items():
            # Notion computes from the first entries of a relation, too.
            if _is_short(value) or (related and value.get("type") in _COMPUTED):
                made[name] = await self._value(as_text(page.get("id")), value)
            else:
                made[name] = value
        return {**page, "properties": made}

    async def _value(self, page: str, value: Fields) -> Fields:
        entries: list[Fields] = []
        cursor: dict[str, str] = {}
        while self.left > 0:
            self.left -= 1
            try:
                path = f"pages/{page}/properties/{as_text(value.get('id'))}"
                found = await self.api.get(self.call, path, page_size=PAGE, **cursor)
            except NotionRefusal as refused:
                if refused.is_outage:
                    raise
                break
            entries += map(as_object, as_list(found.get("results")))
            following = as_text(found.get("next_cursor"))
            if not following:
                return _whole(value, found, entries)
            cursor = {"start_cursor": following}
        return _cut(value, entries)


def _is_short(value: Fields) -> bool:
    """Return whether Notion may have left out entries of a property."""
    kind = as_text(value.get("type"))
    inner = as_list(value.get(kind))
    if value.get("has_more") is True:
        return True
    if kind in ("people", "relation"):
        return value.get("has_more") is None and len(inner) >= _REFERENCES
    if kind in ("title", "rich_text"):
        return sum(as_object(part).get("type") == "mention" for part in inner) >= _REFERENCES
    result = as_object(value.get("rollup"))
    entries = [as_object(one) for one in as_list(result.get("array"))]
    return result.get("type") == "incomplete" or len(entries) >= _REFERENCES or any(map(_is_short, entries))


def _whole(value: Fields, found: Fields, entries: Sequence[Fields]) -> Fields:
    """Return a property with the entries of a list, or with the value that Notion gives alone."""
    kind = as_text(value.get("type"))
    if kind in _LISTS and found.get("object") == "list":
        return {**value, kind: [one.get(kind) for one in entries], "has_more": False}
    if kind == "rollup" and found.get("object") == "list":
        result = as_object(as_object(found.get("property_item")).get(kind))
        if result.get("type") == "array":
            result = {**result, "array": [_as_property(one) for one in entries]}
        return {**value, kind: result}
    if found.get("type") == kind and found.get(kind) is not None:
        return {**value, kind: found.get(kind)}
    return _cut(value, entries)


def _cut(value: Fields, entries: Sequence[Fields]) -> Fields:
    """Return a property of which Gofer has not read all entries."""
    kind = as_text(value.get("type"))
    if kind in _LISTS and len(entries) > len(as_list(value.get(kind))):
        value = {**value, kind: [one.get(kind) for one in entries]}
    return {**value, "has_more": True}


def _as_property(item: Fields) -> Fields:
    """Return an entry of a list in the form that a page has: a list of one for the kinds that are lists."""
    kind = as_text(item.get("type"))
    if kind in _LISTS:
        return {**item, kind: [item.get(kind)]}
    return item
