"""The tool that creates an issue exactly once, although Jira has no idempotency keys and its search index lags.

The request that creates an issue also writes the key of the call into an entity property of the issue. Both are one
atomic write. People neither see nor change the property, and it stays with the issue when the issue moves. A label
would need its field on the screen, would be visible, and could be removed.

A later attempt finds the issue without relying on the search index. The numbers of a project only grow, so a search
only determines the number to begin with: the newest issues that are older than the run, which the index has long
contained. From there, the attempt reads each number directly until a hundred in a row have no issue. If the index lags,
the reading only begins earlier.
"""

import math
from dataclasses import replace

from pydantic import Field

from gofer.sources.jira.adf import document
from gofer.sources.jira.api import PROPERTY, Fields, JiraApi, JiraRefusal
from gofer.sources.jira.field_types import ENTRIES, FIELDS, Given, Site
from gofer.sources.jira.form import OFF_FORM, OWN, Form, explained, form_of_new, form_values
from gofer.sources.jira.issues import path_of
from gofer.sources.jira.projects import account_id
from gofer.sources.jira.search import quoted
from gofer.sources.jira.write import AddComment, find_comment, jira_add_comment
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import digits
from gofer.tools.places import Origin, Place
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import TemporaryError, ToolError

CHUNK = 100
"""Issues in one request."""
CHUNKS = 50
"""The most requests of this size."""
BEGINNINGS = 20
"""Issues older than the run that the search returns. Some may have moved here later and have a newer number."""
CLOCKS_APART = 300.0
"""The most seconds by which Jira's clock may be behind Gofer's."""
_NO_DESCRIPTION = "Its form has no description, so the text"


_ARGUMENTS = frozenset({"labels", "assignee", "priority"})
"""Further fields with an argument, which `fields` never sets: a workflow file may bound the argument."""


class CreateIssue(Arguments):
    """The new issue, and its project."""

    project: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,50}$", description="Key of the project, such as OPS.")
    type: str = Field(min_length=1, max_length=100, description="Name of the issue type, such as Bug or Task.")
    summary: str = Field(min_length=1, max_length=255, description="One line that tells what it is about.")
    description: str = Field(default="", max_length=30_000, description="What the reader must know, in Markdown.")
    labels: tuple[str, ...] = Field(default=(), max_length=20, description="Labels, each one word.")
    assignee: str = Field(default="", description="Full name of a person, only if the request names one.")
    priority: str = Field(default="", description="Name of a priority, only if the request names one.")
    fields: dict[str, Given] = Field(default_factory=dict[str, Given], max_length=ENTRIES, description=FIELDS)


def _place(origin: Origin, arguments: CreateIssue) -> Place:
    """Return the project that a call names."""
    return Place("jira", "project", arguments.project.upper())


def _destination(arguments: CreateIssue) -> str:
    return arguments.project.upper()


@tool(
    effect="lookup",
    shows="issue",
    # The look-up does not rely on the search index, so only the write itself can be delayed.
    settle=10.0,
    place=_place,
    destination=_destination,
    markdown=frozenset({"description"}),
    plain_text=frozenset({"summary", "labels", "fields"}),
    scopes=frozenset({"Browse Projects", "Create Issues", "Assign Issues", "Browse users and groups"}),
    everyday="file, open, raise, report, make, log or add a bug, ticket, task, story, incident, problem",
)
async def jira_create_issue(api: JiraApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """Create a Jira issue (ticket). Write what the person who works on it must know, and where the
    request comes from.
    """
    site = Site(api, call, arguments.project.upper())
    fields = await _usual_fields(site, arguments)
    form: Form | None = None
    if arguments.fields:
        form = await form_of_new(site, arguments.type)
        fields |= await form_values(site, form, arguments.fields, OWN | _ARGUMENTS)
    text: Fields = {}
    if arguments.description:
        text = {"description": document(arguments.description, call.provenance)}
    if form is None or form.has("description"):
        try:
            return _created(api, await api.write(call, "/issue", _body(call, {**fields, **text})))
        except JiraRefusal as refused:
            form = form or await _form(site, arguments, refused)
            if not (text and _lacks_description(form, refused)):
                raise await explained(site, form, refused) from refused
    mark = {"text": "comment"} if text else {}
    try:
        created = _created(api, await api.write(call, "/issue", _body(call, fields, **mark)))
    except JiraRefusal as refused:
        raise await explained(site, form, refused) from refused
    if text:
        return await _commented(api, call, arguments, created)
    return created


async def _usual_fields(site: Site, arguments: CreateIssue) -> dict[str, object]:
    """Return the fields that have arguments of their own, without the description."""
    fields: dict[str, object] = {
        "project": {"key": site.project},
        "issuetype": {"name": arguments.type},
        "summary": " ".join(arguments.summary.split()),
    }
    labels = ["-".join(label.split()) for label in arguments.labels if label.strip()]
    if labels:
        fields |= {"labels": labels}
    if arguments.priority:
        fields |= {"priority": {"name": arguments.priority}}
    if arguments.assignee:
        fields["assignee"] = {"accountId": await account_id(site.api, site.call, arguments.assignee)}
    return fields


def _body(call: Call, fields: Fields, **mark: str) -> Fields:
    """Return the request for an issue with the mark of its call. `text` says where its text is, if not in the issue."""
    return {"fields": fields, "properties": [{"key": PROPERTY, "value": {"key": call.key, **mark}}]}


async def _form(site: Site, arguments: CreateIssue, refused: JiraRefusal) -> Form | None:
    """Return the form of a refused issue; None if another project or type is needed, or if Gofer cannot read it."""
    if refused.status != 400 or refused.fields.keys() & {"project", "issuetype"}:
        return None
    try:
        return await form_of_new(site, arguments.type)
    except (ToolError, TemporaryError):
        return None


def _lacks_description(form: Form | None, refused: JiraRefusal) -> bool:
    """Return whether an issue was refused only because its form has no description."""
    if refused.fields.keys() != {"description"}:
        return False
    return OFF_FORM in refused.fields["description"] or bool(form and not form.has("description"))


async def _commented(api: JiraApi, call: Call, arguments: CreateIssue, created: ToolResult) -> ToolResult:
    """Add the text of an issue as a comment, because its form has no description. Return the created issue."""
    try:
        text = AddComment(text=arguments.description, issue=as_text(created.details["key"]))
        await jira_add_comment.act(api, call, text)
    except ToolError as refused:
        return replace(
            created, text=f"{created.text}\n{_NO_DESCRIPTION} cannot be a comment: {refused.message_to_model}"
        )
    return replace(created, text=f"{created.text}\n{_NO_DESCRIPTION} is its first comment.")


@jira_create_issue.look
async def _find(api: JiraApi, call: Call, arguments: CreateIssue) -> ToolResult | None:
    """Return the issue that an earlier attempt of the same call created, found by its property.

    Returns None when it certainly created none. Raises TemporaryError and JiraRefusal when that is unclear.
    """
    project = arguments.project.upper()
    number = await _before_the_run(api, call, project)
    for _ in range(CHUNKS):
        found = await _read(api, call, project, number)
        for issue in found:
            mark = as_object(as_object(issue.get("properties")).get(PROPERTY))
            if mark.get("key") == call.key:
                return await _completed(api, call, _created(api, issue), mark)
        if not found:
            return None
        number += CHUNK
    said = f"{project} has more than {CHUNK * CHUNKS} newer issues; that is too many to look through."
    raise ToolError(said, code="too_many")


async def _completed(api: JiraApi, call: Call, created: ToolResult, mark: Fields) -> ToolResult:
    """Return an issue of an earlier attempt. If its text should be a comment, the result says whether it is there."""
    if mark.get("text") != "comment":
        return created
    if await find_comment(api, call, path_of(as_text(created.details["key"]))):
        return replace(created, text=f"{created.text}\n{_NO_DESCRIPTION} is its first comment.")
    return replace(created, text=f"{created.text}\n{_NO_DESCRIPTION} is missing; write it with jira_add_comment.")


@jira_create_issue.mock
def _mock(api: JiraApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """Return an issue without creating it."""
    number = digits(arguments, 5)
    return _created(api, {"key": f"{arguments.project.upper()}-{number}", "id": number})


async def _before_the_run(api: JiraApi, call: Call, project: str) -> int:
    """Return an issue number that the project had assigned before the run began; 0 when it had assigned none."""
    ago = math.ceil((call.clock.now() - call.since + CLOCKS_APART) / 60)
    # The time is relative to now, because Jira reads absolute times in the time zone of the account.
    query = f"project = {quoted(project)} AND created <= -{ago}m ORDER BY created DESC"
    body = {"jql": query, "fields": ["summary"], "maxResults": BEGINNINGS}
    issues = as_list((await api.write(call, "/search/jql", body)).get("issues"))
    numbers = [as_text(as_object(issue).get("key")).rpartition("-")[2] for issue in issues]
    return min((int(number) for number in numbers if number.isascii() and number.isdecimal()), default=0)


async def _read(api: JiraApi, call: Call, project: str, after: int) -> list[Fields]:
    """Return the issues with the next CHUNK numbers after `after`."""
    keys = [f"{project}-{number}" for number in range(after + 1, after + 1 + CHUNK)]
    body = {"issueIdsOrKeys": keys, "fields": ["summary"], "properties": [PROPERTY]}
    answer = await api.write(call, "/issue/bulkfetch", body)
    if as_list(answer.get("issueErrors")):
        raise TemporaryError("Jira could not read every requested issue.")
    return [as_object(issue) for issue in as_list(answer.get("issues"))]


def _created(api: JiraApi, issue: Fields) -> ToolResult:
    """Return a created issue. Details: key, id and url."""
    key = as_text(issue.get("key"))
    details = {"key": key, "id": as_text(issue.get("id")), "url": api.browse(key)}
    return ToolResult(f"Created {key}. {api.browse(key)}".strip(), f"created {key}", details)
