"""How does an issue look to a model: what it is about, how it stands, who said what?"""

from collections.abc import Sequence

from pydantic import Field

from gofer.canonical import as_list, as_object, as_text
from gofer.errors import ToolError
from gofer.tools.jira.adf_text import adf_text
from gofer.tools.jira.api import Fields, JiraApi
from gofer.tools.jira.get_attachment import attached, lines
from gofer.tools.jira.issues import is_home, issue_name, named, one_line, path_of, person, shown
from gofer.tools.tool import Arguments, Call, ToolResult

FIELDS = "summary,status,issuetype,project,priority,labels,assignee,reporter,created,updated,description,security"
COMMENTS = 100
"""The newest comments, which are all that is read."""
DESCRIPTION_LIMIT, COMMENT_LIMIT, COMMENTS_BUDGET = 20_000, 8_000, 30_000
"""Characters shown of a description, of one comment, and of all comments; the newest comments are kept."""


class GetIssue(Arguments):
    """Which issue."""

    issue: str = Field(
        default="", description="Key such as OPS-7, or a link to it. Left out: where the request came from."
    )


async def get_issue(api: JiraApi, call: Call, arguments: GetIssue) -> ToolResult:
    """The issue as text. Details: key, id, url, `private` (it has a security level), comments (how many) and facts."""
    name = issue_name(call, arguments.issue)
    issue = await api.read(call, path_of(name), fields=f"{FIELDS},attachment")
    key, number, fields = as_text(issue.get("key")), as_text(issue.get("id")), as_object(issue.get("fields"))
    private = fields.get("security") is not None
    at_home = is_home(call, key) or is_home(call, number)
    if private and not at_home:
        raise ToolError("That issue is for some people only; it can be read only by a run that started there.")
    path = f"{path_of(name)}/comment"
    page = await api.read(call, path, orderBy="-created", maxResults=COMMENTS, startAt=0)
    return issue_result(api, issue, page, at_home=at_home)


def issue_result(api: JiraApi, issue: Fields, page: Fields, *, at_home: bool) -> ToolResult:
    """An issue and a page of its comments, newest first, for each reader; `at_home` when the run began there."""
    key, number, fields = as_text(issue.get("key")), as_text(issue.get("id")), as_object(issue.get("fields"))
    private = fields.get("security") is not None
    comments = [as_object(one) for one in reversed(as_list(page.get("comments")))]
    total = page.get("total")
    older = max(0, total - len(comments)) if isinstance(total, int) else 0
    open_ones = [one for one in comments if one.get("visibility") is None or (private and at_home)]
    files = attached(fields)
    about = [*_header(api, key, fields), *_description(fields), *lines(files, len(as_list(fields.get("attachment"))))]
    text = "\n".join([*about, *_comments(open_ones, older)])
    if hidden := len(comments) - len(open_ones):
        text += f"\n\n({_counted(hidden)} for some people only {'is' if hidden == 1 else 'are'} left out.)"
    return ToolResult(
        text=text,
        summary=f"read {key} with {_counted(len(open_ones))}",
        details={
            "key": key,
            "id": number,
            "url": api.browse(key),
            "private": private,
            "comments": len(open_ones),
            "facts": facts_of(fields),
        },
        files=files,
    )


def facts_of(fields: Fields) -> dict[str, object]:
    """What conditions of workflow files ask of an issue, under the names of the trigger's facts."""
    return {
        "project": as_text(as_object(fields.get("project")).get("key")),
        "type": named(fields.get("issuetype")),
        "status": named(fields.get("status")),
        "labels": [as_text(label) for label in as_list(fields.get("labels"))],
    }


def _header(api: JiraApi, key: str, fields: Fields) -> list[str]:
    project = as_object(fields.get("project"))
    rows = {
        "Type": named(fields.get("issuetype")),
        "Status": named(fields.get("status")),
        "Project": f"{named(project)} ({as_text(project.get('key'))})",
        "Priority": named(fields.get("priority")),
        "Labels": ", ".join(one_line(as_text(label)) for label in as_list(fields.get("labels"))),
        "Assignee": person(fields.get("assignee")) or "nobody",
        "Reporter": person(fields.get("reporter")) or "nobody",
        "Created": shown(fields.get("created")),
        "Updated": shown(fields.get("updated")),
        "Link": api.browse(key),
    }
    summary = one_line(as_text(fields.get("summary")))
    return [f"{key}: {summary}", *(f"{name}: {value}" for name, value in rows.items() if value)]


def _description(fields: Fields) -> list[str]:
    text = adf_text(fields.get("description"))
    return ["", "Description:", *_indented(text or "(none)", DESCRIPTION_LIMIT)]


def _comments(comments: Sequence[Fields], older: int) -> list[str]:
    """The newest that fit, oldest first, one header line each."""
    lines: list[list[str]] = []
    left = COMMENTS_BUDGET
    for comment in reversed(comments):
        text = adf_text(comment.get("body")) or "(no text)"
        left -= min(len(text), COMMENT_LIMIT)
        if left < 0 and lines:
            break
        author = person(comment.get("author")) or "Somebody"
        lines.append(["", f"{author} at {shown(comment.get('created'))}:", *_indented(text, COMMENT_LIMIT)])
    older += len(comments) - len(lines)
    begin = ["", "Comments, oldest first:" if lines else "No comments."]
    begin += ["", f"({_counted(older, 'older ')} left out here.)"] if older else []
    return begin + [line for block in reversed(lines) for line in block]


def _indented(text: str, limit: int) -> list[str]:
    """So that nothing people wrote can pose as a line of ours."""
    cut = f"\n[{len(text) - limit} further characters are left out.]"
    whole = text if len(text) <= limit else text[:limit] + cut
    return [f"    {line}" for line in whole.splitlines()]


def _counted(number: int, what: str = "") -> str:
    return f"{number} {what}comment{'' if number == 1 else 's'}"
