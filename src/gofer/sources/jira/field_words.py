"""The other fields of an issue as words: those of every project and a company's own."""

from collections.abc import Callable, Mapping

from gofer.sources.jira.api import Fields
from gofer.sources.jira.issues import one_line
from gofer.values.canonical_json import as_list, as_object, as_text, encode_text, indented

FIELD_LIMIT = 1_500
"""The most characters of one field that are shown."""
FIELDS_BUDGET = 8_000
"""The most characters of all these fields that are shown."""
_LISTED = 20
"""The most values of one field that are shown."""
_OF_EVERY_PROJECT = {
    "components": "Components",
    "versions": "Affects versions",
    "fixVersions": "Fix versions",
    "duedate": "Due",
    "resolution": "Resolution",
    "parent": "Parent",
    "subtasks": "Subtasks",
    "issuelinks": "Linked issues",
    "environment": "Environment",
}
_NAMES = ("displayName", "name", "value", "key", "title")
_STATES = ("state", "finalDecision")
"""The fields that tell the state of a sprint and of an approval."""
_FOR_MACHINES = ("{", "0|", "1|", "2|")
"""The beginnings of values that Jira keeps for itself, such as the rank of an issue on a board."""


def field_lines(fields: Fields, names: Mapping[str, object], read: Callable[[object], str]) -> list[str]:
    """Return a line for each field with a value, or several for a long one.

    `names` are the names of the fields by id, and `read` returns the text of a document.
    """
    rows: list[str] = []
    left = FIELDS_BUDGET
    untold = 0
    for id_, name in _named(fields, names):
        value = fields.get(id_)
        text = words(value, read)
        if not text or (isinstance(value, str) and text.startswith(_FOR_MACHINES)):
            continue
        cut = text[:FIELD_LIMIT] + f" [{len(text) - FIELD_LIMIT} further characters]" * (len(text) > FIELD_LIMIT)
        left -= len(cut)
        if left < 0:
            untold += 1
            continue
        first, *more = indented(cut)
        rows += [f"{name}: {first.strip()}"] if not more else [f"{name}:", first, *more]
    return [*rows, *([f"({untold} further fields are left out here.)"] if untold else [])]


def _named(fields: Fields, names: Mapping[str, object]) -> list[tuple[str, str]]:
    own = [id_ for id_ in fields if id_.startswith("customfield_")]
    return [*_OF_EVERY_PROJECT.items(), *((id_, one_line(as_text(names.get(id_))) or id_) for id_ in own)]


def words(value: object, read: Callable[[object], str], depth: int = 3) -> str:
    """Return the words of a value; empty for no value. An object without a name is shown as Jira sends it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:.15g}"
        case str():
            return as_text(value).strip()
        case _:
            pass
    if listed := as_list(value):
        return _list_words(listed, read, depth)
    return _object_words(as_object(value), read, depth)


def _list_words(values: list[object], read: Callable[[object], str], depth: int) -> str:
    found = [words(one, read, depth - 1) for one in values[:_LISTED]] if depth else []
    more = [f"and {len(values) - len(found)} more"] if len(values) > len(found) else []
    return ", ".join(filter(None, [*found, *more]))


def _object_words(value: Fields, read: Callable[[object], str], depth: int) -> str:
    if value.get("type") == "doc":
        return read(value)
    linked = next((value[end] for end in ("outwardIssue", "inwardIssue") if value.get(end)), None)
    if linked is not None and depth:
        kind = as_object(value.get("type"))
        end = "outward" if value.get("outwardIssue") else "inward"
        relation = as_text(kind.get(end)) or as_text(kind.get("name"))
        return f"{relation} {words(linked, read, depth - 1)}".strip()
    if "ongoingCycle" in value or "completedCycles" in value:
        return _service_level(value)
    if "showField" in value:
        # Jira explains here to its own pages why a field is not shown.
        return ""
    # The type of a request of a service project stands within it.
    named = as_object(value.get("requestType")) or value
    name = next((as_text(named.get(name)) for name in _NAMES if as_text(named.get(name))), "")
    fields = as_object(value.get("fields"))
    if summary := as_text(fields.get("summary")):
        return f"{name} {summary}{_bracketed(as_text(as_object(fields.get('status')).get('name')))}".strip()
    if depth and value.get("child"):
        return f"{name} > {words(value.get('child'), read, depth - 1)}"
    state = next((as_text(value.get(name)) for name in _STATES if as_text(value.get(name))), "")
    if name or not value:
        return one_line(f"{name}{_bracketed(state)}")
    return one_line(encode_text(value))


def _bracketed(state: str) -> str:
    return f" ({state})" * bool(state)


def _service_level(value: Fields) -> str:
    """Return how an agreement on time of a service project stands: in time or not, and the time that is left."""
    ongoing = as_object(value.get("ongoingCycle"))
    cycles = [*map(as_object, as_list(value.get("completedCycles"))), *filter(None, [ongoing])]
    if not cycles:
        return ""
    missed = cycles[-1].get("breached") is True
    left = as_text(as_object(cycles[-1].get("remainingTime")).get("friendly"))
    told = ("running" * bool(ongoing), "missed" if missed else "in time", f"{left} left" * bool(left))
    return ", ".join(filter(None, told))
