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

from pydantic import Field

from gofer.sources.jira.adf import document
from gofer.sources.jira.api import PROPERTY, Fields, JiraApi, JiraRefusal
from gofer.sources.jira.projects import account_id, with_existing_choices
from gofer.sources.jira.search import quoted
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


class CreateIssue(Arguments):
    """The new issue, and its project."""

    project: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,50}$", description="Key of the project, such as OPS.")
    type: str = Field(min_length=1, max_length=100, description="Name of the issue type, such as Bug or Task.")
    summary: str = Field(min_length=1, max_length=255, description="One line that tells what it is about.")
    description: str = Field(min_length=1, max_length=30_000, description="What the reader must know, in Markdown.")
    labels: tuple[str, ...] = Field(default=(), max_length=20, description="Labels, each one word.")
    assignee: str = Field(default="", description="Full name of a person, only if the request names one.")
    priority: str = Field(default="", description="Name of a priority, only if the request names one.")


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
    scopes=frozenset({"Browse Projects", "Create Issues", "Assign Issues", "Browse users and groups"}),
    everyday="file, open, raise, report, make, log or add a bug, ticket, task, story, incident, problem",
)
async def jira_create_issue(api: JiraApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """Create a Jira issue (ticket). Write what the person who works on it must know, and where the
    request comes from.
    """
    fields: dict[str, object] = {
        "project": {"key": arguments.project.upper()},
        "issuetype": {"name": arguments.type},
        "summary": " ".join(arguments.summary.split()),
        "description": document(arguments.description, call.provenance),
    }
    labels = ["-".join(label.split()) for label in arguments.labels if label.strip()]
    if labels:
        fields |= {"labels": labels}
    if arguments.priority:
        fields |= {"priority": {"name": arguments.priority}}
    if arguments.assignee:
        fields["assignee"] = {"accountId": await account_id(api, call, arguments.assignee)}
    body = {"fields": fields, "properties": [{"key": PROPERTY, "value": {"key": call.key}}]}
    try:
        return _created(api, await api.write(call, "/issue", body))
    except JiraRefusal as refused:
        if not refused.fields.keys() & {"project", "issuetype", "priority"}:
            raise
        raise await with_existing_choices(api, call, arguments.project.upper(), arguments.type, refused) from refused


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
                return _created(api, issue)
        if not found:
            return None
        number += CHUNK
    said = f"{project} has more than {CHUNK * CHUNKS} newer issues; that is too many to look through."
    raise ToolError(said, code="too_many")


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
