"""The places of Jira: which project or issue a call names, and to which project an issue belongs."""

from typing import Protocol

from pydantic import Field

from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.create_issue import CreateIssue
from gofer.sources.jira.issues import issue_name, path_of
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place
from gofer.values.canonical_json import as_object, as_text


class OnIssue(Protocol):
    """Arguments that name an issue."""

    @property
    def issue(self) -> str:
        """Return its key, its id or a link to it; empty for the issue that the request came from."""
        ...


class FindPlace(Arguments):
    """Which issue."""

    issue: str = Field(description="Key or id of the issue.")


def issue_place(origin: Origin, arguments: OnIssue) -> Place:
    """Return the issue that a call names. Raises ToolError."""
    return Place("jira", "issue", issue_name(origin, arguments.issue), "issue")


def project_place(origin: Origin, arguments: CreateIssue) -> Place:
    """Return the project that a call names."""
    return Place("jira", "project", arguments.project.upper())


async def find_place(api: JiraApi, call: Call, arguments: FindPlace) -> ToolResult:
    """Look up the key and the project of an issue as they are now: an issue keeps its old keys when it moves.

    Details: `id`, its key, and `within`, the key of its project.
    """
    issue = await api.read(call, path_of(arguments.issue), fields="project")
    project = as_text(as_object(as_object(issue.get("fields")).get("project")).get("key"))
    return place_result(as_text(issue.get("key")), project)


def place_result(issue: str, project: str) -> ToolResult:
    """Return an issue that was looked up."""
    return ToolResult("Found.", "looked up a place", {"id": issue, "within": [project.upper()]})
