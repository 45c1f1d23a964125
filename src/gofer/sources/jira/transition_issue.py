"""How does an issue get to another status? Its workflow decides which steps there are; the status is what counts."""

from pydantic import Field

from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.issues import issue_path, named, one_line
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError


class TransitionIssue(Arguments):
    """Which issue, and where to."""

    status: str = Field(min_length=1, max_length=100, description="Name of the status it is to have, such as Done.")
    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


async def transition_issue(api: JiraApi, call: Call, arguments: TransitionIssue) -> ToolResult:
    """Move an issue to a status; one that is there already is left alone. Details: the status as Jira writes it.

    Raises ToolError that names the statuses it can go to.
    """
    path, wanted = issue_path(call, arguments.issue), one_line(arguments.status).casefold()
    issue = await api.read(call, path, fields="status")
    key, now = as_text(issue.get("key")), named(as_object(issue.get("fields")).get("status"))
    if now.casefold() == wanted:
        return moved(key, now)
    steps = [as_object(one) for one in as_list((await api.read(call, f"{path}/transitions")).get("transitions"))]
    leading = [step for step in steps if wanted in (named(step.get("to")).casefold(), named(step).casefold())]
    if not leading:
        possible = ", ".join(dict.fromkeys(named(step.get("to")) for step in steps)) or "none"
        raise ToolError(f"{key} is in {now}; from there Gofer can move it to: {possible}.")
    await api.write(call, f"{path}/transitions", {"transition": {"id": as_text(leading[0].get("id"))}})
    return moved(key, named(leading[0].get("to")))


def moved(key: str, status: str) -> ToolResult:
    """Return an issue that has a status."""
    return ToolResult(f"{key} is in {status}.", f"moved {key}", {"status": status})
