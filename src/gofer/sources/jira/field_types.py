"""The types of fields in Jira's forms: what a person or model writes for each, and how Jira wants it.

A value becomes the form that Jira expects, or is refused with a sentence before anything is sent.
"""

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator

from gofer.sources.jira.adf import document
from gofer.sources.jira.api import Fields, JiraApi
from gofer.sources.jira.issues import issue_name, one_line
from gofer.sources.jira.projects import account_id
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError


def _plain(value: object) -> object:
    """Return the words of a value that a model wrote in the form of Jira's requests; any other value as it is."""
    if isinstance(value, list):
        return [_plain(one) for one in as_list(value)]  # pyright: ignore[reportUnknownArgumentType]
    fields = as_object(value)
    words = [as_text(fields[key]) for key in ("value", "name", "key", "id") if key in fields]
    if not words:
        return value
    child = _plain(fields.get("child"))
    if isinstance(child, str):
        return f"{words[0]} > {child}"
    return words[0]


Given = Annotated[str | bool | float | list[str], BeforeValidator(_plain)]
"""A value as a model writes it."""
FIELDS = (
    'Other fields of the form by name, as {"Severity": "High", "Components": ["Web"]}. A refusal says what they take.'
)
"""The description of the argument with the values of a form."""
VALUES_LIMIT = 1_000
"""The most characters of a field's values in a text."""
ENTRIES = 100
"""The most entries of one field, and the most issues of which the values of a field are read."""
_LONGEST_TEXT = 255
_ADDRESS = re.compile(r"https?://[^\s<>\"]{1,2000}", re.IGNORECASE)
_ESTIMATE = re.compile(r"\d+(\.\d+)?[wdhm]( \d+(\.\d+)?[wdhm])*")


@dataclass(frozen=True, slots=True)
class Option:
    """One of the values that a field takes."""

    name: str
    sent: object
    """The value in a request."""
    also: frozenset[str] = frozenset()
    """Its other names in lower case: its id, and the key of a project."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form."""

    id: str
    name: str
    kind: str
    """The member of FIELD_TYPES that reads its value, or Jira's name of another type."""
    several: bool = False
    required: bool = False
    options: Sequence[Option] = ()
    """The values that Jira publishes for the field."""


@dataclass(frozen=True, slots=True)
class Site:
    """A call, and the project to which its form belongs."""

    api: JiraApi
    call: Call
    project: str


Reader: TypeAlias = Callable[[Site, FormField, str], Awaitable[object]]
"""A function that returns the value to send for one written value. Raises ToolError."""


def field_of(meta: Fields) -> FormField:
    """Return a field as Jira describes it in a form."""
    schema = as_object(meta.get("schema"))
    id_ = as_text(meta.get("fieldId")) or as_text(meta.get("key"))
    options = list(_options(as_list(meta.get("allowedValues"))))
    own = as_text(schema.get("custom")).rpartition(":")[2]
    names = [own, as_text(schema.get("system")), as_text(schema.get("items")), as_text(schema.get("type"))]
    kind = next((name for name in names if name in FIELD_TYPES.members), names[2] or names[3])
    if options and FIELD_TYPES.reader(kind) is None:
        kind = "option"
    return FormField(
        id=id_,
        name=one_line(as_text(meta.get("name")), 100) or id_,
        kind=kind,
        several=schema.get("type") == "array" and kind != "gh-sprint",
        required=meta.get("required") is True and meta.get("hasDefaultValue") is not True,
        options=options,
    )


def _options(values: Iterable[object]) -> Iterable[Option]:
    """Yield the values of a field that may be chosen, and below each the values of its second list."""
    for value in map(as_object, values):
        if value.get("disabled") is True or value.get("archived") is True:
            continue
        name = _name(value)
        known = [key for key in ("id", "value", "name") if value.get(key)]
        sent: Fields = {key: value[key] for key in known[:1]}
        also = {str(value.get("id") or ""), as_text(value.get("key")).casefold()}
        yield Option(name, sent, frozenset(also - {""}))
        for child in _options(as_list(value.get("children"))):
            yield Option(f"{name} > {child.name}", {**sent, "child": child.sent}, frozenset[str]())


def _name(value: Fields) -> str:
    names = (as_text(value.get(key)) for key in ("value", "name", "title", "key", "id"))
    return one_line(next(filter(None, names), ""), 200)


def takes(field: FormField, options: Sequence[Option] = (), like: str = "", limit: int = VALUES_LIMIT) -> str:
    """Return what a field takes: its values, those like a text first, or the words of its type.

    `limit` is the most characters of the values.
    """
    known = options or field.options
    if not settable(field):
        return FIELD_TYPES.named(field.kind)
    if not known:
        return FIELD_TYPES.members[field.kind].words
    count = Counter(option.name for option in known)
    names = [option.name + f" ({', '.join(option.also)})" * (count[option.name] > 1) for option in known]
    near: list[str] = []
    if like:
        near = [name for name in names if like.casefold() in name.casefold()]
        near = near or get_close_matches(like, names[:ENTRIES], n=3)
    shown: list[str] = []
    left = limit
    for name in dict.fromkeys([*near, *names]):
        left -= len(name) + 2
        if left < 0:
            break
        shown.append(name)
    more = f" and {len(names) - len(shown):,} others" * (len(shown) < len(names))
    return f"{'one or more' * field.several or 'one'} of: {', '.join(shown)}{more}"


def settable(field: FormField) -> bool:
    """Return whether Gofer can set a field."""
    return FIELD_TYPES.reader(field.kind) is not None


def in_use(field: FormField) -> bool:
    """Return whether the values of a field are those that other issues have."""
    return FIELD_TYPES.reader(field.kind) in (_in_use, _in_use_number)


async def wire(site: Site, field: FormField, given: Given) -> object:
    """Return a value in the form of Jira's requests. Raises ToolError with what the field takes."""
    reader = FIELD_TYPES.reader(field.kind)
    if reader is None:
        raise ToolError(f"{field.name} is {FIELD_TYPES.named(field.kind)}; Gofer cannot set it, only people in Jira.")
    values = _words(given)
    if field.several:
        if len(values) > ENTRIES:
            raise ToolError(f"{field.name} takes {ENTRIES} entries at most, and these are {len(values)}; write fewer.")
        return [await reader(site, field, value) for value in values if value]
    if len(values) != 1 or not values[0]:
        raise ToolError(f"{field.name} takes one value: {takes(field)}.")
    return await reader(site, field, values[0])


def _words(given: Given) -> list[str]:
    """Return a value as texts; several for a list."""
    match given:
        case list():
            return [one.strip() for one in given]
        case float() if given.is_integer():
            return [str(int(given))]
        case _:
            return [str(given).strip()]


def _refused(field: FormField, given: str) -> ToolError:
    return ToolError(f"{field.name} does not take {one_line(given, 80)!r}. It takes {takes(field)}.")


def _chosen(field: FormField, options: Sequence[Option], given: str) -> object:
    """Return the value with a name or id, ignoring case and white space. Raises ToolError, which lists the values."""
    sought = " ".join(given.split()).casefold()
    found = [option for option in options if sought == option.name.casefold()]
    found = found or [option for option in options if sought in option.also]
    if len(found) == 1:
        return found[0].sent
    if not options:
        raise ToolError(f"{field.name} has no values yet; an admin of the project adds them in Jira.")
    many = f"{len(found)} values of {field.name} are called" * bool(found) or f"{field.name} has no value"
    ids = f"; write the id of one: {', '.join(sorted(id_ for one in found for id_ in one.also))}" * bool(found)
    raise ToolError(f"{many} {one_line(given, 80)!r}{ids}. It takes {takes(field, options, given)}.")


async def _choice(site: Site, field: FormField, given: str) -> object:
    return _chosen(field, field.options, given)


async def used(site: Site, field: FormField) -> Sequence[Option]:
    """Return the values of a field that recently changed issues of the project have.

    Jira publishes the teams, sprints, organizations and request types of a form nowhere else under the same permission.
    """
    number = field.id.removeprefix("customfield_")
    query = f'project = "{site.project}" AND cf[{number}] IS NOT EMPTY ORDER BY updated DESC'
    page = await site.api.write(site.call, "/search/jql", {"jql": query, "fields": [field.id], "maxResults": ENTRIES})
    found: dict[str, Option] = {}
    for issue in map(as_object, as_list(page.get("issues"))):
        value = as_object(issue.get("fields")).get(field.id)
        for one in map(as_object, as_list(value) or [value]):
            inner = as_object(one.get("requestType")) or one
            if inner.get("id") and one.get("state") != "closed":
                id_ = str(inner["id"])
                found[id_] = Option(_name(inner), id_, frozenset({id_.casefold()}))
    return list(found.values())


async def _in_use(site: Site, field: FormField, given: str) -> str:
    """Return the id of a value that other issues of the project have. An id is taken as it is."""
    if given.isdecimal() or re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-\d+)?", given):
        return given
    return str(_chosen(field, await used(site, field), given))


async def _in_use_number(site: Site, field: FormField, given: str) -> int:
    id_ = await _in_use(site, field, given)
    if not id_.isdecimal():
        raise _refused(field, given)
    return int(id_)


async def _text(site: Site, field: FormField, given: str) -> str:
    text = one_line(given, len(given))
    if len(text) > _LONGEST_TEXT:
        raise ToolError(f"{field.name} takes {_LONGEST_TEXT} characters, and this has {len(text):,}; write fewer.")
    return text


async def _document(site: Site, field: FormField, given: str) -> object:
    return document(given, None)


async def _label(site: Site, field: FormField, given: str) -> str:
    return "-".join(given.split())


async def _address(site: Site, field: FormField, given: str) -> str:
    if not _ADDRESS.fullmatch(given):
        raise _refused(field, given)
    return given


async def _number(site: Site, field: FormField, given: str) -> float:
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refused(field, given)
    if value.is_integer():
        return int(value)
    return value


async def _date(site: Site, field: FormField, given: str) -> str:
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError as error:
        raise _refused(field, given) from error


async def _time(site: Site, field: FormField, given: str) -> str:
    try:
        moment = datetime.fromisoformat(given)
    except ValueError as error:
        raise _refused(field, given) from error
    if moment.tzinfo is None:
        raise _refused(field, given)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000{moment:%z}"


async def _person(site: Site, field: FormField, given: str) -> Fields:
    return {"accountId": await account_id(site.api, site.call, given)}


async def _group(site: Site, field: FormField, given: str) -> Fields:
    return {"name": given}


async def _issue(site: Site, field: FormField, given: str) -> Fields:
    name = issue_name(site.call, given)
    if name.isdecimal():
        return {"id": name}
    return {"key": name}


async def _issue_key(site: Site, field: FormField, given: str) -> str:
    return issue_name(site.call, given)


async def _estimate(site: Site, field: FormField, given: str) -> Fields:
    if not _ESTIMATE.fullmatch(given):
        raise _refused(field, given)
    return {"originalEstimate": given}


_ONE_OF = "one of its values, by name or id"
_MARKDOWN: Member[Reader] = Member("a text in Markdown", _document)
_TEAM: Member[Reader] = Member("a team that issues of the project have, by name, or any by its id", _in_use)
FIELD_TYPES: Vocabulary[Reader] = Vocabulary(
    "type of a field",
    "a type of field",
    {
        "string": Member("a text on one line", _text),
        "textarea": _MARKDOWN,
        "description": _MARKDOWN,
        "environment": _MARKDOWN,
        "labels": Member("labels, each one word", _label),
        "url": Member("an address that begins with https:// or http://", _address),
        "number": Member("a number", _number),
        "date": Member("a date, as 2026-11-21", _date),
        "datetime": Member("a time with its zone, as 2026-11-21T14:30+01:00", _time),
        "option": Member(_ONE_OF, _choice),
        "option-with-child": Member(f"{_ONE_OF}, as Hardware > Laptop", _choice),
        "component": Member(_ONE_OF, _choice),
        "version": Member(_ONE_OF, _choice),
        "priority": Member(_ONE_OF, _choice),
        "resolution": Member(_ONE_OF, _choice),
        "securitylevel": Member(_ONE_OF, _choice),
        "project": Member(f"{_ONE_OF} or key", _choice),
        "user": Member("a person, by full name or e-mail address", _person),
        "group": Member("the name of a group", _group),
        "issuelink": Member("the key of an issue, such as OPS-7", _issue),
        "gh-epic-link": Member("the key of an epic, such as OPS-7", _issue_key),
        "timetracking": Member("an estimate, as 2d 4h", _estimate),
        "gh-sprint": Member(
            "a sprint that issues of the project are in, by name, or any by its number", _in_use_number
        ),
        "team": _TEAM,
        "rm-teams-custom-field-team": _TEAM,
        "sd-customerorganization": Member("organizations that issues of the project have, or by id", _in_use_number),
        "sd-customerrequesttype": Member("a request type that issues of the project have, or by id", _in_use),
        "any": Member("a value of an app"),
        "json": Member("a value of an app"),
        "object": Member("a value of an app"),
        "atlas-project": Member("a project of Atlassian Home"),
        "attachment": Member("files"),
        "cmdb-object-field": Member("objects of Assets"),
        "comments-page": Member("comments, which jira_add_comment writes"),
        "gh-lexo-rank": Member("the order on boards"),
        "issuelinks": Member("links to issues"),
        "issuerestriction": Member("the roles that may see the issue"),
        "issuetype": Member("the type of the issue"),
        "progress": Member("a value that Jira computes"),
        "readonlyfield": Member("a text that only apps write"),
        "sd-approvals": Member("approvals of a request"),
        "sd-feedback": Member("the satisfaction of a customer"),
        "sd-request-lang": Member("the language of a request"),
        "sd-servicelevelagreement": Member("a goal of a service project"),
        "service-entity-field": Member("services"),
        "status": Member("the status of the issue"),
        "votes": Member("votes"),
        "watches": Member("people who watch the issue"),
        "worklog": Member("logged work"),
    },
)
"""What Gofer makes of each type of field: of the type itself, of its items for a list, or of its own or system name."""
