"""The tool that reads an issue with its comments."""

from collections.abc import Sequence

from gofer.sources.github.api import PER_PAGE, GitHubApi, GitHubRefusal
from gofer.sources.github.get_pull_request import MOCK_LOGIN, MOCK_QUESTION, NOT_A_PART, Pull, mock_issue, read_pull
from gofer.sources.github.references import Numbered, Target, check_readable, target_of, with_readers
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
    """Read an issue with its comments; also a pull request with the comments on it."""
    target = target_of(api, call, arguments)
    await check_readable(api, call, target.repository)
    issue = await api.read_object(call, target.path("issues"))
    pull: Pull | str = ""
    if issue.get("pull_request"):
        pull = await _pull(api, call, target)
    count = number(issue, "comments")
    first = max(1, -(-count // PER_PAGE) - PAGES_SHOWN + 1)
    comments = [one async for one in api.read_list(call, target.path("issues", "/comments"), page=first)]
    result = _result(target, issue, comments, older=(first - 1) * PER_PAGE, pull=pull)
    return with_readers(result, call, target.repository)


async def _pull(api: GitHubApi, call: Call, target: Target) -> Pull | str:
    """Return the pull request, or the reason why GitHub refuses it. Raises GitHubRefusal, TemporaryError."""
    try:
        return await read_pull(api, call, target)
    except GitHubRefusal as refusal:
        if refusal.code in NOT_A_PART:
            raise
        return refusal.message_to_model


@github_get_issue.mock
def _mock(api: GitHubApi, call: Call, arguments: GetIssue) -> ToolResult:
    """Return an open issue with one comment."""
    target = target_of(api, call, arguments)
    comment: Fields = {"user": {"login": MOCK_LOGIN}, "created_at": MOMENT, "body": MOCK_QUESTION}
    result = _result(target, mock_issue(api, target, "issues") | {"comments": 1}, [comment], older=0)
    return with_readers(result, call, target.repository)


def _result(
    target: Target, issue: Fields, comments: Sequence[Fields], *, older: int, pull: Pull | str = ""
) -> ToolResult:
    """Return an issue or a pull request. `older` is the number of earlier comments that were not read.

    Details: repository, number, state, title, url, author, comments, private and facts; for a pull request also those
    of github_get_pull_request.
    """
    said = statements(comments, "created_at", older=older)
    details = _details(target, issue)
    if isinstance(pull, Pull):
        lines = pull.lines
        details |= pull.details
    else:
        lines = _lines(target, issue)
        lines += [f"Branches, files and reviews could not be read. {pull}"] if pull else []
    lines += ["Comments, oldest first:", *said] if said else ["No comments."]
    return ToolResult("\n".join(lines), f"read {target}", details)


def _lines(target: Target, issue: Fields) -> list[str]:
    details = _details(target, issue)
    kind = "Pull request" if issue.get("pull_request") else "Issue"
    return [
        f"{kind} {target}: {details['title']}",
        f"State: {_state(issue)}",
        f"Author: {login(issue.get('user'))}",
        f"Link: {details['url']}",
        f"Labels: {', '.join(names(issue.get('labels'), 'name')) or 'none'}",
        f"Assigned to: {', '.join(names(issue.get('assignees'), 'login')) or 'nobody'}",
        f"Created {one_line(as_text(issue.get('created_at')))}, changed {one_line(as_text(issue.get('updated_at')))}",
        "Description:",
        *body_lines(as_text(issue.get("body"))),
    ]


def _details(target: Target, issue: Fields) -> dict[str, object]:
    return {
        "repository": target.repository,
        "number": target.number,
        "title": one_line(as_text(issue.get("title"))),
        "state": as_text(issue.get("state")),
        "url": one_line(as_text(issue.get("html_url")), 500),
        "author": login(issue.get("user")),
        "comments": number(issue, "comments"),
        "private": False,
        "facts": {
            "repository": target.repository,
            "labels": names(issue.get("labels"), "name"),
            "author": login(issue.get("user")),
        },
    }


def _state(issue: Fields) -> str:
    reason = as_text(issue.get("state_reason")).replace("_", " ")
    state = one_line(as_text(issue.get("state")))
    if reason:
        return f"{state} ({one_line(reason)})"
    return state
