"""The tool that reads an issue with its comments."""

from collections.abc import Sequence
from typing import Literal

from gofer.sources.github.api import PER_PAGE, GitHubApi
from gofer.sources.github.references import Numbered, Target, target_of
from gofer.sources.github.shown_text import Fields, body_lines, login, names, number, one_line, statements
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import MOMENT
from gofer.values.canonical_json import as_text

PAGES_SHOWN = 3
"""The most pages of comments that are read; the newest ones."""


class GetIssue(Numbered):
    """The issue to read."""


@tool(effect="read", everyday="bug report, ticket on github; what does it say, discussion")
async def github_get_issue(api: GitHubApi, call: Call, arguments: GetIssue) -> ToolResult:
    """Read an issue with its comments; also the comments of a pull request."""
    target = target_of(api, call, arguments)
    issue = await api.read_object(call, target.path("issues"))
    count = number(issue, "comments")
    first = max(1, -(-count // PER_PAGE) - PAGES_SHOWN + 1)
    comments = [one async for one in api.read_list(call, target.path("issues", "/comments"), page=first)]
    return _result(target, issue, comments, older=(first - 1) * PER_PAGE)


@github_get_issue.mock
def _mock(api: GitHubApi, call: Call, arguments: GetIssue) -> ToolResult:
    """Return an open issue with one comment."""
    target = target_of(api, call, arguments)
    comment: Fields = {"user": {"login": MOCK_LOGIN}, "created_at": MOMENT, "body": MOCK_QUESTION}
    return _result(target, mock_issue(api, target, "issues") | {"comments": 1}, [comment], older=0)


def _result(target: Target, issue: Fields, comments: Sequence[Fields], *, older: int) -> ToolResult:
    """Return an issue. `older` is the number of earlier comments that were not read.

    Details: repository, number, state, title, url, author, comments, private and facts.
    """
    said = statements(comments, "created_at", older=older)
    title = one_line(as_text(issue.get("title")))
    url = one_line(as_text(issue.get("html_url")), 500)
    kind = "Pull request" if issue.get("pull_request") else "Issue"
    lines = [
        f"{kind} {target}: {title}",
        f"State: {_state(issue)}",
        f"Author: {login(issue.get('user'))}",
        f"Link: {url}",
        f"Labels: {', '.join(names(issue.get('labels'), 'name')) or 'none'}",
        f"Assigned to: {', '.join(names(issue.get('assignees'), 'login')) or 'nobody'}",
        f"Created {one_line(as_text(issue.get('created_at')))}, changed {one_line(as_text(issue.get('updated_at')))}",
        "Description:",
        *body_lines(as_text(issue.get("body"))),
        *(["Comments, oldest first:", *said] if said else ["No comments."]),
    ]
    details = {
        "repository": target.repository,
        "number": target.number,
        "title": title,
        "state": as_text(issue.get("state")),
        "url": url,
        "author": login(issue.get("user")),
        "comments": number(issue, "comments"),
        "private": False,
        "facts": {
            "repository": target.repository,
            "labels": names(issue.get("labels"), "name"),
            "author": login(issue.get("user")),
        },
    }
    return ToolResult("\n".join(lines), f"read {target}", details)


def _state(issue: Fields) -> str:
    reason = as_text(issue.get("state_reason")).replace("_", " ")
    state = one_line(as_text(issue.get("state")))
    if reason:
        return f"{state} ({one_line(reason)})"
    return state


MOCK_LOGIN = "somebody"
"""The login of every mocked person."""
MOCK_QUESTION = "Could somebody look at this?"
"""The text by every mocked person."""


def mock_issue(api: GitHubApi, target: Target, kind: Literal["issues", "pull"]) -> dict[str, object]:
    """Return the fields of an open issue in the API, which a pull request has too."""
    return {
        "title": "Something to look at",
        "state": "open",
        "html_url": target.page(api, kind),
        "user": {"login": MOCK_LOGIN},
        "labels": [{"name": "later"}],
        "assignees": [],
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "body": MOCK_QUESTION,
    }
