"""The tool that searches issues. Gofer builds the query from the model's criteria, so the query is always bounded."""

import re

from pydantic import Field

from gofer.sources.jira.api import Fields, JiraApi, JiraRefusal
from gofer.sources.jira.get_issue import mock_issue
from gofer.sources.jira.issues import SEES, is_readable, named, one_line, person, shown
from gofer.sources.jira.projects import project_keys
from gofer.tools.declare import tool
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.tools.mock_ids import digits
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

FIELDS = ("summary", "status", "issuetype", "assignee", "updated", "security")


class Search(Arguments):
    """The criteria, at least one of text, project, label, status and type."""

    text: str = Field(default="", description="Words that an issue or its comments contain, all of them.")
    project: str = Field(default="", description="Key of a project, such as OPS.")
    label: str = Field(default="", description="A label.")
    status: str = Field(default="", description="Name of a status, such as In Progress.")
    type: str = Field(default="", description="Name of an issue type, such as Bug.")
    limit: int = Field(default=20, ge=1, le=50, description="Issues shown at most; the ones changed last come first.")


@tool(
    effect="read",
    scopes=SEES,
    everyday="tickets, bugs, tasks, backlog, sprint, board; what is open, already reported, duplicate, look up",
)
async def jira_search(api: JiraApi, call: Call, arguments: Search) -> ToolResult:
    """Find Jira issues by words, project, label, status or type. Use it before creating one, to see whether there is
    one already.
    """
    body = {"jql": jql(arguments), "fields": list(FIELDS), "maxResults": arguments.limit}
    try:
        page = await api.write(call, "/search/jql", body)
    except JiraRefusal as refused:
        raise await _with_what_exists(api, call, arguments, refused) from refused
    return _found_result(call, page)


@jira_search.mock
def _mock(call: Call, arguments: Search) -> ToolResult:
    """Return one issue that matches all criteria."""
    jql(arguments)
    key = f"{arguments.project.upper() or 'MOCK'}-{digits(arguments, 3)}"
    found = mock_issue(key, arguments.text or "Something like it", arguments.status, arguments.type)
    return _found_result(call, {"issues": [found], "isLast": True})


def _found_result(call: Call, page: Fields) -> ToolResult:
    """Return one line per issue, last changed first, without issues that only some people may see.

    Details: `issues`, each with key, summary, status and type, and `more`, whether there are further issues.
    """
    issues = [as_object(one) for one in as_list(page.get("issues"))]
    seen = [one for one in issues if is_readable(call, one)]
    more = page.get("isLast") is False
    lines = [_line(one) for one in seen] or ["No issue was found."]
    if more:
        lines.append("(There are more; ask for something narrower.)")
    lines.append("(Changes of the last minute may be missing: Jira's search learns of them later.)")
    return ToolResult(
        text="\n".join(lines),
        summary=f"found {len(seen)} issue{'' if len(seen) == 1 else 's'}",
        details={"issues": [_details(one) for one in seen], "more": more},
    )


def jql(arguments: Search) -> str:
    """Return the query. Raises ToolError when there are no criteria."""
    # Jira would interpret operators in the text and words such as AND, so keep only words in lower case.
    words = " ".join(re.findall(r"\w+", arguments.text)).lower()
    exact = {
        "project": arguments.project,
        "labels": arguments.label,
        "status": arguments.status,
        "issuetype": arguments.type,
    }
    clauses = [f"{field} = {quoted(value)}" for field, value in exact.items() if value.strip()]
    if words:
        clauses += [f"text ~ {quoted(words)}"]
    if not clauses:
        raise ToolError("Say what to look for: words, a project, a label, a status or a type.")
    return " AND ".join(clauses) + " ORDER BY updated DESC"


def quoted(value: str) -> str:
    """Return a text as a quoted value of a query."""
    text = one_line(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


async def _with_what_exists(api: JiraApi, call: Call, arguments: Search, refused: JiraRefusal) -> ToolError:
    if refused.status != 400 or not arguments.project or "project" not in refused.message_to_model:
        return refused
    keys = ", ".join(await project_keys(api, call))
    return ToolError(f"{refused.message_to_model} The projects are: {keys}.", code=refused.code)


def _line(issue: Fields) -> str:
    fields = as_object(issue.get("fields"))
    how = f"{named(fields.get('issuetype'))}, {named(fields.get('status'))}"
    who = person(fields.get("assignee")) or "nobody"
    summary = one_line(as_text(fields.get("summary")))
    return f"- {as_text(issue.get('key'))} ({how}; {who}; {shown(fields.get('updated'))}): {summary}"


def _details(issue: Fields) -> dict[str, str]:
    fields = as_object(issue.get("fields"))
    return {
        "key": as_text(issue.get("key")),
        "summary": as_text(fields.get("summary")),
        "status": named(fields.get("status")),
        "type": named(fields.get("issuetype")),
    }
