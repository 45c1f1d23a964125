"""Jira's forms: the fields that a project asks for when an issue is created or moved, as text and as values."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import quote

from gofer.sources.jira.api import Fields, JiraApi, JiraRefusal, ended
from gofer.sources.jira.field_types import (
    VALUES_LIMIT,
    FormField,
    Given,
    Option,
    Site,
    field_of,
    in_use,
    settable,
    takes,
    used,
    wire,
)
from gofer.sources.jira.issues import named, one_line
from gofer.sources.jira.projects import project_keys
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import TooLarge

PAGE = 50
"""The types or fields in one request."""
PAGES = 20
"""The most requests for the types of a project, or for the fields of a form."""
TEXT_LIMIT = 12_000
"""The most characters of a form, or of the fields in a refusal."""
LOOKED_UP = 3
"""The most fields in a text whose values are read from other issues."""
OFF_FORM = "cannot be set"
"""The words of Jira about a field that is not on the form."""
PLACE = frozenset({"project", "issuetype"})
"""The fields that no call sets in `fields`: they say where the issue is."""
OWN = PLACE | {"summary", "description"}
"""The fields of a new issue that are arguments of the tool."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form for a new issue, or for a step to another status."""

    title: str
    """What the form is for, such as "Bug in PAY"."""
    fields: Sequence[FormField]

    def has(self, id_: str) -> bool:
        """Return whether the form has the field with an id."""
        return any(field.id == id_ for field in self.fields)

    def required(self) -> Sequence[str]:
        """Return the names of the required fields that have no argument of their own."""
        return [field.name for field in self.fields if field.required and field.id not in OWN]

    def find(self, name: str) -> FormField:
        """Return the field with a name, ignoring case, or with an id. Raises ToolError, which lists the fields."""
        sought = " ".join(name.split()).casefold()
        found = [field for field in self.fields if field.id.casefold() == sought]
        found = found or [field for field in self.fields if field.name.casefold() == sought]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(field.id for field in found)
            raise ToolError(f"{len(found)} fields are called {one_line(name, 80)!r}; write the id of one: {ids}.")
        names = [field.name for field in self.fields if settable(field) and field.id not in OWN]
        near = get_close_matches(name, names, n=3)
        listed = _within([f"{one}, " for one in dict.fromkeys([*near, *names])], "fields").rstrip(", ") or "none"
        raise ToolError(f"The form of {self.title} has no field {one_line(name, 80)!r}. Its fields are: {listed}.")


async def issue_types(site: Site) -> Sequence[Fields]:
    """Return the types for new issues of a project. Raises ToolError, which lists the projects, or TemporaryError."""
    try:
        return [kind async for kind in _listed(site, _types(site), "issueTypes")]
    except JiraRefusal as refused:
        if refused.status not in (400, 404):
            raise
        keys = await _projects(site)
        raise ToolError(
            f"Gofer may create no issues in a project {site.project}. {keys}", code=refused.code
        ) from refused


async def _projects(site: Site) -> str:
    return f"The projects are: {', '.join(await project_keys(site.api, site.call)) or 'none that Gofer can see'}."


async def form_of_new(site: Site, kind: str) -> Form:
    """Return the form for new issues of a type. Raises ToolError, TemporaryError."""
    known = await issue_types(site)
    for one in known:
        if named(one).casefold() == one_line(kind).casefold():
            path = f"{_types(site)}/{quote(as_text(one.get('id')), safe='')}"
            fields = [field_of(meta) async for meta in _listed(site, path, "fields")]
            return Form(f"{named(one)} in {site.project}", fields)
    names = ", ".join(named(one) for one in known) or "none that Gofer may create"
    raise ToolError(f"{site.project} has no type {one_line(kind, 80)!r}. The types of {site.project} are: {names}.")


def form_of_step(step: Fields, key: str) -> Form:
    """Return the form of a step that was read with its fields."""
    fields = as_object(step.get("fields")).items()
    return Form(
        f"{key} on its way to {named(step.get('to'))}",
        [field_of({"fieldId": id_, **as_object(meta)}) for id_, meta in fields],
    )


def _types(site: Site) -> str:
    return f"/issue/createmeta/{quote(site.project, safe='')}/issuetypes"


async def _listed(site: Site, path: str, name: str) -> AsyncIterator[Fields]:
    """Yield the objects of all pages of a list."""
    begin = 0
    for _ in range(PAGES):
        try:
            page = await site.api.read(site.call, path, startAt=begin, maxResults=PAGE)
        except TooLarge as error:
            raise ToolError(
                f"The form in {site.project} is larger than Gofer reads; only people can fill it."
            ) from error
        found = as_list(page.get(name))
        for one in found:
            yield as_object(one)
        begin += len(found)
        total = page.get("total")
        last = len(found) < PAGE
        if isinstance(total, int):
            last = begin >= total
        if last or not found:
            return


async def form_values(
    site: Site, form: Form, given: Mapping[str, Given], own: Collection[str] = ()
) -> dict[str, object]:
    """Return values by the ids of their fields, in the form of Jira's requests. `own` are ids with other arguments.

    Raises ToolError with a sentence for each wrong value.
    """
    found: dict[str, object] = {}
    wrong: list[str] = []
    for name, value in given.items():
        try:
            field = form.find(name)
            if field.id in own or field.id in found:
                raise ToolError(
                    f"{field.name} is given twice, or has an argument of its own; leave it out of `fields`."
                )
            found[field.id] = await wire(site, field, value)
        except JiraRefusal as refused:
            if refused.status not in (400, 403, 404):
                raise
            hint = "leave it out, or write the id of a team or sprint"
            wrong.append(f"Jira does not let Gofer look up a value of {one_line(name, 80)}; {hint}.\n")
        except ToolError as error:
            wrong.append(f"{error.message_to_model}\n")
    if wrong:
        raise ToolError(f"Nothing was sent to Jira. {_within(wrong, 'values')}".strip())
    return found


async def explained(site: Site, form: Form | None, refused: JiraRefusal) -> ToolError:
    """Return a refusal in the words of the form, with the values that each wrong field takes."""
    if refused.status != 400:
        return refused
    lines = [f"{one_line(one, 600)}\n" for one in refused.general]
    wrong = {id_: ended(one_line(said, 300)) for id_, said in refused.fields.items()}
    try:
        if "project" in wrong:
            lines.append(f"project: {wrong.pop('project')} {await _projects(site)}\n")
        if "issuetype" in wrong:
            names = ", ".join(map(named, await issue_types(site)))
            lines.append(f"issuetype: {wrong.pop('issuetype')} The types of {site.project} are: {names}.\n")
    except (ToolError, TemporaryError):
        return refused
    if form is None and wrong:
        return refused
    known: dict[str, FormField] = {}
    if form:
        known = {field.id: field for field in form.fields}
    if not wrong:
        # Rules of a workflow name no field. The fields that may be meant have to be enough.
        words = "".join(lines).casefold()
        meant = [one for one in known.values() if one.required or one.name.casefold() in words]
        wrong = {field.id: "" for field in meant if field.id not in OWN}
    looked = await _used(site, [known[id_] for id_ in wrong if id_ in known])
    limit = min(VALUES_LIMIT, _share(len(wrong)))
    lines += [_line(known.get(id_), id_, said, looked.get(id_, ()), limit) for id_, said in wrong.items()]
    hint = "Set what is missing in `fields`, by these names." * any(id_ in known for id_ in wrong.keys() - OWN)
    return ToolError(f"Jira refused that (400): {_within(lines, 'fields')}{hint}".strip(), code=refused.code)


def _line(field: FormField | None, id_: str, said: str, used_values: Sequence[Option], limit: int) -> str:
    """Return the line about one field of a refusal, with up to `limit` characters of its values."""
    if field is None and id_ == "description":
        return "The form has no description: Gofer leaves it out, and the text follows as a comment.\n"
    if field is None:
        return f"{id_}: {said}{' It is not on the form; leave it out.' * (OFF_FORM in said)}\n"
    if id_ in OWN:
        return f"{field.name}: {said} It has the argument `{id_}`.\n"
    begin = field.name
    if said:
        begin = f"{field.name}: {said} It"
    if not settable(field):
        return f"{begin} is {takes(field)}, which only people can set, in Jira.\n"
    return f"{begin} takes {takes(field, used_values, limit=limit)}.\n"


async def _used(site: Site, fields: Iterable[FormField]) -> Mapping[str, Sequence[Option]]:
    """Return the values that other issues have, for the first fields with values that Jira does not publish."""
    found: dict[str, Sequence[Option]] = {}
    for field in [field for field in fields if in_use(field)][:LOOKED_UP]:
        try:
            found[field.id] = await used(site, field)
        except (ToolError, TemporaryError):
            continue
    return found


async def form_text(site: Site, form: Form, words: str) -> str:
    """Return a form as text, required fields first: those with certain words in their names, or all."""
    fields = [field for field in form.fields if field.id not in OWN and words.casefold() in field.name.casefold()]
    if not fields:
        return f"The form of {form.title} has no such fields."
    names = Counter(field.name for field in fields)
    looked = await _used(site, [field for field in fields if words or field.required])
    lines: list[str] = []
    for field in sorted(fields, key=lambda one: not one.required):
        name = field.name + f" ({field.id})" * (names[field.name] > 1) + " (required)" * field.required
        lines.append(f"- {name}: {takes(field, looked.get(field.id, ()), limit=_share(len(fields)))}\n")
    return f"The form of {form.title}:\n{_within(lines, 'fields')}"


async def steps_to(
    api: JiraApi, call: Call, path: str, status: str, *, fields: bool
) -> tuple[str, str, Sequence[Fields]]:
    """Return an issue's key, its status, and the steps to another status: none if the issue is in it.

    `fields` says whether each step has its form. Raises ToolError, which lists the possible statuses.
    """
    wanted = one_line(status).casefold()
    issue = await api.read(call, path, fields="status")
    key = as_text(issue.get("key"))
    now = named(as_object(issue.get("fields")).get("status"))
    if now.casefold() == wanted:
        return key, now, []
    query = {"expand": "transitions.fields"} if fields else {}
    answer = await api.read(call, f"{path}/transitions", **query)
    steps = [as_object(one) for one in as_list(answer.get("transitions"))]
    leading = [step for step in steps if wanted in (named(step.get("to")).casefold(), named(step).casefold())]
    if not leading:
        possible = ", ".join(dict.fromkeys(named(step.get("to")) for step in steps)) or "none"
        raise ToolError(f"{key} is in {now}; from there Gofer can move it to: {possible}.")
    return key, now, leading


def _share(fields: int) -> int:
    """Return the most characters of the values of one field in a text about several."""
    return max(60, TEXT_LIMIT // 2 // max(1, fields))


def _within(lines: Sequence[str], what: str) -> str:
    """Return lines up to TEXT_LIMIT, and the number of the others."""
    shown: list[str] = []
    left = TEXT_LIMIT
    for line in lines:
        left -= len(line)
        if left < 0 and shown:
            return "".join([*shown, f"({len(lines) - len(shown):,} more {what} are left out here.)"])
        shown.append(line)
    return "".join(shown)
