"""The properties of a row: in world files, in requests and answers, and in filters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import gofer_simulators.notion.rich_text as rich_text
from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects, text_of, texts
from gofer_simulators.notion.api_request import Answer, invalid
from gofer_simulators.notion.forms import ENTRIES, URL, check_date, check_length

AS_GIVEN = (
    "formula", "rollup", "created_time", "last_edited_time", "created_by", "last_edited_by", "unique_id",
    "verification", "place", "button",
)  # fmt: skip
"""The kinds whose values a world file has in the form of Notion's answer. No request can set them."""
KINDS = (
    "title", "rich_text", "number", "checkbox", "select", "status", "multi_select", "people", "date", "url", "relation",
    "email", "phone_number", "files", *AS_GIVEN,
)  # fmt: skip
REFERENCES = 25
"""The most pages and people of one property that a page shows."""
_EMPTY: Mapping[str, object] = {
    "title": "", "rich_text": "", "number": None, "checkbox": False, "select": None, "status": None,
    "multi_select": [], "people": [], "date": None, "url": None, "relation": [], "email": None, "phone_number": None,
    "files": [],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Property:
    """One column of a database."""

    id: str
    """The id as pages and events show it, with URL encoding."""
    name: str
    kind: str
    options: Mapping[str, str]
    """The ids of the options by name, for select, status and multi_select."""

    def schema(self) -> Answer:
        """Return the column as the schema of a data source shows it."""
        options = [
            {"id": id_, "name": name, "color": "default", "description": None} for name, id_ in self.options.items()
        ]
        inner: Answer = {}
        if self.kind in ("select", "status", "multi_select"):
            inner["options"] = options
        return {"id": self.id, "name": self.name, "type": self.kind, "description": None, self.kind: inner}


def empty(kind: str) -> object:
    """Return the value of a property that is not set."""
    value = _EMPTY.get(kind)
    if is_array(value):
        return list(texts(value))
    return value


def property_shape(column: Property, value: object, user: Callable[[str], Answer]) -> Answer:
    """Return a value as a page object shows it, cut after 25 references; `user` returns the user object of an id."""
    whole = wire_value(column, value, user)
    shape: Answer = {"id": column.id, "type": column.kind, column.kind: whole}
    if column.kind in ("relation", "people") and is_array(whole):
        shape[column.kind] = whole[:REFERENCES]
    if column.kind == "relation" and is_array(whole):
        shape["has_more"] = len(whole) > REFERENCES
    return shape


def wire_value(column: Property, value: object, user: Callable[[str], Answer]) -> object:
    """Return the whole value of a property in the form of Notion's answer."""
    match column.kind:
        case "title" | "rich_text":
            if value:
                return [rich_text.text(str(value))]
            return []
        case "select" | "status":
            if value:
                return _option(column, str(value))
            return None
        case "multi_select":
            return [_option(column, name) for name in texts(value)]
        case "people":
            return [user(id_) for id_ in texts(value)]
        case "relation":
            return [{"id": id_} for id_ in texts(value)]
        case "files":
            return list(objects(value))
        case _:
            return value


def _option(column: Property, name: str) -> Answer:
    return {"id": column.options[name], "name": name, "color": "default"}


def read(column: Property, value: object, names: rich_text.Names) -> object:
    """Return a value of a request as a page stores it. Raises NotionRefusal for a value that Notion refuses."""
    given = _value_of(column, value)
    if column.kind in AS_GIVEN:
        raise invalid(f"{column.name} is a {column.kind}, which cannot be updated.")
    match column.kind:
        case "title" | "rich_text":
            return rich_text.plain(rich_text.read(given, names, f"{column.name}.{column.kind}"))
        case "select" | "status":
            if given is None:
                return None
            return _option_name(column, given)
        case "multi_select":
            return [_option_name(column, one) for one in _array(column, given)]
        case "people":
            people = [text_of(one, "id") for one in objects(_array(column, given))]
            _ = [names(id_) for id_ in people]
            return people
        case "relation":
            return [text_of(one, "id") for one in objects(_array(column, given))]
        case "checkbox":
            return _typed(column, given, bool)
        case "number":
            return _typed(column, given, int, float, type(None))
        case "date":
            if given is None:
                return None
            return _date(column, given)
        case _:
            _typed(column, given, str, type(None))
            check_length(len(str(given or "")), URL, f"{column.name}.{column.kind}")
            return given


def _value_of(column: Property, value: object) -> object:
    if not is_object(value) or set(value) - {column.kind, "type", "id"} or column.kind not in value:
        raise invalid(f"{column.name} is expected to be {column.kind}.")
    return value[column.kind]


def _array(column: Property, given: object) -> list[object]:
    if not is_array(given):
        raise invalid(f"{column.name}.{column.kind} should be an array.")
    check_length(len(given), ENTRIES, f"{column.name}.{column.kind}")
    return given


def _typed(column: Property, given: object, *types: type) -> object:
    if not isinstance(given, types) or (isinstance(given, bool) and bool not in types):
        raise invalid(f"{column.name}.{column.kind} should be a {types[0].__name__}.")
    return given


def _date(column: Property, given: object) -> Answer:
    if not is_object(given) or not text_of(given, "start") or set(given) - {"start", "end", "time_zone"}:
        raise invalid(f"{column.name}.date.start should be defined.")
    for name in ("start", "end"):
        if given.get(name) is not None:
            check_date(given[name], f"{column.name}.date.{name}")
    return {"start": given["start"], "end": given.get("end"), "time_zone": given.get("time_zone")}


def _option_name(column: Property, given: object) -> str:
    """Return the name of an option that a request gives by name or id. Raises NotionRefusal for an unknown option."""
    option = given if is_object(given) else {}
    name = text_of(option, "name")
    id_ = text_of(option, "id")
    by_id = next((known for known, known_id in column.options.items() if id_ and known_id == id_), "")
    wanted = by_id or name
    if wanted not in column.options:
        raise invalid(f"Invalid {column.kind} option. {column.kind.capitalize()} option {wanted!r} does not exist.")
    return wanted


def check_filter(filter_: JsonObject, columns: Mapping[str, Property]) -> None:
    """Raise NotionRefusal for a filter with an unknown property or option, or with a wrong date."""
    for one in (*objects(filter_.get("and")), *objects(filter_.get("or"))):
        check_filter(one, columns)
    if "and" in filter_ or "or" in filter_:
        return
    column, operator, wanted = _condition(filter_, columns)
    if operator in ("is_empty", "is_not_empty"):
        return
    if column.kind == "date":
        check_date(wanted, f"body.filter.date.{operator}")
    if column.kind in ("select", "status", "multi_select") and wanted not in column.options:
        raise invalid(f'{column.kind} option "{wanted}" not found for property "{column.name}".')


def matches(filter_: JsonObject, values: Mapping[str, object], columns: Mapping[str, Property]) -> bool:
    """Return whether a row passes a filter: a condition on one property, or `and` or `or` of several filters."""
    if "and" in filter_:
        return all(matches(one, values, columns) for one in objects(filter_["and"]))
    if "or" in filter_:
        return any(matches(one, values, columns) for one in objects(filter_["or"]))
    column, operator, wanted = _condition(filter_, columns)
    return _satisfies(operator, wanted, values.get(column.name), column)


def _condition(filter_: JsonObject, columns: Mapping[str, Property]) -> tuple[Property, str, object]:
    """Return the property, the operator and the value of one condition. Raises NotionRefusal."""
    name = text_of(filter_, "property")
    column = columns.get(name) or next((one for one in columns.values() if one.id == name), None)
    if column is None:
        raise invalid(f"Could not find property with name or id: {name}")
    condition = object_of(filter_, column.kind)
    if len(condition) != 1 or set(filter_) != {"property", column.kind}:
        raise invalid(f"body.filter: {name} is a {column.kind} and takes one condition under that name")
    ((operator, wanted),) = condition.items()
    return column, operator, wanted


def _contains(value: object, wanted: str) -> bool:
    if is_array(value):
        return wanted in texts(value)
    return wanted in str(value or "")


def _satisfies(operator: str, wanted: object, value: object, column: Property) -> bool:
    match operator:
        case "equals":
            return value == wanted
        case "does_not_equal":
            return value != wanted
        case "contains":
            return _contains(value, str(wanted))
        case "does_not_contain":
            return not _contains(value, str(wanted))
        case "is_empty":
            return not value
        case "is_not_empty":
            return bool(value)
        case _:
            raise invalid(f"body.filter.{column.kind}.{operator} should be not present")
