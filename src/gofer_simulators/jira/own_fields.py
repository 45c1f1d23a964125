"""The fields of the simulated Jira that a company added to its forms: as a form shows them, and what they refuse."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from gofer_simulators.jira.adf import mistake_in_document
from gofer_simulators.jira.site import OwnField, Site
from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects, text_of

NOT_A_DOCUMENT = "Operation value must be an Atlassian Document (see the Atlassian Document Format)"
OFF_SCREEN = "Field '{}' cannot be set. It is not on the appropriate screen, or unknown."
_CHOICES = frozenset({"option", "component", "version", "resolution", "priority", "securitylevel"})
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}")
_LONGEST = 255


def described(field: OwnField) -> dict[str, object]:
    """Return a field as a form shows it. Jira does not publish the values of apps, such as sprints and teams."""
    shown: dict[str, object] = {
        "required": field.required,
        "schema": field.schema,
        "name": field.name,
        "key": field.id,
        "fieldId": field.id,
        "hasDefaultValue": False,
        "operations": ["set"],
    }
    if _kind(field) in (*_CHOICES, "option-with-child"):
        shown["allowedValues"] = [_value(field, number) for number in range(len(field.options))]
    return shown


def mistakes(site: Site, fields: Iterable[OwnField], given: JsonObject, others: Collection[str]) -> dict[str, str]:
    """Return the mistakes of a request, by field. `others` are the fields that something else checks."""
    known = {field.id: field for field in fields}
    errors = {name: OFF_SCREEN.format(name) for name in given if name not in known and name not in others}
    for id_, field in known.items():
        value = given.get(id_)
        if value in (None, "", []):
            if field.required:
                errors[id_] = f"{field.name} is required."
        elif mistake := _mistake(site, field, value):
            errors[id_] = mistake
    return errors


def _mistake(site: Site, field: OwnField, value: object) -> str:
    if field.schema.get("type") != "array" or text_of(field.schema, "custom").endswith(":gh-sprint"):
        return _wrong(site, field, value)
    if not is_array(value):
        return "data was not an array"
    return next(filter(None, (_wrong(site, field, one) for one in value)), "")


def _wrong(site: Site, field: OwnField, value: object) -> str:
    """Return the mistake in one value of a field; empty for none."""
    kind = _kind(field)
    if kind in (*_CHOICES, "option-with-child"):
        return _wrong_choice(field, value)
    own = text_of(field.schema, "custom").rpartition(":")[2] or field.id
    fits, message = _SHAPES.get(own) or _SHAPES.get(kind) or (_is_line, "Operation value must be a string")
    if kind == "user" and is_object(value) and text_of(value, "accountId") not in site.users:
        return message
    if kind == "issuelink" and is_object(value) and site.find(text_of(value, "key")) is None:
        return message
    if fits(value):
        return ""
    return message


def _is_line(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST and "\n" not in value


def _is_document(value: object) -> bool:
    return is_object(value) and value.get("type") == "doc" and not mistake_in_document(value)


_SHAPES: Mapping[str, tuple[Callable[[object], object], str]] = {
    "textarea": (_is_document, NOT_A_DOCUMENT),
    "environment": (_is_document, NOT_A_DOCUMENT),
    "gh-sprint": (lambda value: isinstance(value, int), "Number value expected as the Sprint id."),
    "sd-customerorganization": (lambda value: isinstance(value, int), "Specify a valid organization."),
    "user": (is_object, "Specify a valid 'accountId' for this user."),
    "number": (lambda value: isinstance(value, int | float), "Operation value must be a number"),
    "date": (lambda value: _DATE.fullmatch(str(value)), "Error parsing date string."),
    "datetime": (lambda value: _TIME.fullmatch(str(value)), "Error parsing time string."),
    "issuelink": (is_object, "Could not find issue by id or key."),
    "group": (is_object, "data was not an object"),
    "timetracking": (is_object, "data was not an object"),
}
"""For a type, whether a value has its form, and Jira's refusal."""


def _wrong_choice(field: OwnField, value: object) -> str:
    if not is_object(value):
        return "data was not an object"
    for number in range(len(field.options)):
        known = _value(field, number)
        below = text_of(object_of(value, "child"), "id")
        children = [child["id"] for child in objects(known.get("children"))]
        if known["id"] == value.get("id") and (not below or below in children):
            return ""
    return f"Option id '{value.get('id')}' is not valid"


def _value(field: OwnField, number: int) -> dict[str, object]:
    """Return a published value; `Hardware > Laptop | Phone` has the values of a second list."""
    name, _, below = field.options[number].partition(" > ")
    shown: dict[str, object] = {"id": f"{number + 1}", "name": name}
    if _kind(field).startswith("option"):
        shown = {"id": f"{number + 1}", "value": name}
    if below:
        children = below.split(" | ")
        shown["children"] = [{"id": f"{number + 1}0{at}", "value": child} for at, child in enumerate(children)]
    return shown


def _kind(field: OwnField) -> str:
    return text_of(field.schema, "items") or text_of(field.schema, "type")
