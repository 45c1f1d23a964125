"""The places of Jira: which issue a call names, and to which project an issue belongs."""

from typing import Protocol

from pydantic import Field

from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.issues import is_at, issue_name, path_of
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.places import Origin, Place, Writes
from gofer.values.canonical_json import as_object, as_text

SEES = frozenset({"Browse Projects"})
"""What a tool that reads issues needs to be allowed."""


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


def on_issue(*content: str, narrow: bool = False) -> Writes:
    """Return what a tool writes that acts on one issue; `content` are its other arguments."""
    return Writes({"issue": is_at}, frozenset(content), narrow)


@tool(effect="read", internal=True, scopes=SEES)
async def jira_find_place(api: JiraApi, call: Call, arguments: FindPlace) -> ToolResult:
    """Look up to which project an issue belongs."""
    # The key as it is now: an issue keeps its old keys when it moves.
    issue = await api.read(call, path_of(arguments.issue), fields="project")
    project = as_text(as_object(as_object(issue.get("fields")).get("project")).get("key"))
    return _place_result(as_text(issue.get("key")), project)


@jira_find_place.mock
def _mock(arguments: FindPlace) -> ToolResult:
    """Return an issue that never moved."""
    return _place_result(arguments.issue, arguments.issue.rpartition("-")[0])


def _place_result(issue: str, project: str) -> ToolResult:
    """Return an issue that was looked up; details: `id`, its key, and `within`, the key of its project."""
    return ToolResult("Found.", "looked up a place", {"id": issue, "within": [project.upper()]})
