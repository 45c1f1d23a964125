"""The tools that write on GitHub: comments and new issues, each exactly once, and requests for reviews."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import Field

from gofer.sources.github.api import GitHubApi, GitHubRefusal
from gofer.sources.github.provenance import CLOCKS_APART, carries, signed
from gofer.sources.github.references import (
    InRepository,
    Numbered,
    Target,
    number_of,
    on_one,
    place_of,
    repository_of,
    repository_place,
    target_of,
)
from gofer.sources.github.shown_text import Fields, names, one_line
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import digits
from gofer.values.canonical_json import as_text
from gofer.values.errors import ToolError

_NO_THREAD = frozenset({"not_found", "gone", "validation_failed"})
"""Codes with which GitHub refuses a reply in a review thread that is no longer there."""
SETTLE = 10.0
"""The seconds after which GitHub's lists certainly contain a new comment or issue."""


class AddComment(Numbered):
    """The comment, and the issue or pull request."""

    text: str = Field(min_length=1, description="The comment in GitHub's Markdown.")
    review_comment: int = Field(
        default=0, ge=0, lt=10**15, description="Number of the review comment that began a thread, to reply there."
    )


@tool(
    effect="lookup",
    shows="comment",
    settle=SETTLE,
    # A call can name the repository in several ways or leave it out, so only the number is compared.
    destination=number_of,
    markdown=frozenset({"text"}),
    everyday="reply, respond or write on a PR, merge request or github ticket",
)
async def github_add_comment(api: GitHubApi, call: Call, arguments: AddComment) -> ToolResult:
    """Comment on an issue or a pull request."""
    target = _target(api, call, arguments)
    body = signed(call, arguments.text)
    if began := arguments.review_comment:
        if reply := await _reply(api, call, target, began, body):
            return _commented(target, reply)
        thread = f"{target.page(api, 'pull')}#discussion_r{began}"
        body = signed(call, f"About {thread}, where no reply is possible any more:\n\n{arguments.text}")
    return _commented(target, await api.write(call, target.path("issues", "/comments"), body=body))


async def _reply(api: GitHubApi, call: Call, target: Target, began: int, body: str) -> Fields | None:
    """Return the written reply in a review thread; None if GitHub refuses it, because the thread is gone.

    The second form also finds a thread whose first comment is no longer there. A refused form had no effect.
    """
    forms: Sequence[tuple[str, Fields]] = (
        (f"/comments/{began}/replies", {"body": body}),
        ("/comments", {"body": body, "in_reply_to": began}),
    )
    for path, fields in forms:
        try:
            return await api.write(call, target.path("pulls", path), **fields)
        except GitHubRefusal as refusal:
            if refusal.code not in _NO_THREAD:
                raise
    return None


github_add_comment.place(place_of)
github_add_comment.writes(on_one("text", "review_comment"))


@github_add_comment.look
async def _find_comment(api: GitHubApi, call: Call, arguments: AddComment) -> ToolResult | None:
    """Return the comment that an earlier attempt of the same call wrote; None when it certainly wrote none."""
    target = target_of(api, call, arguments)
    paths = [target.path("issues", "/comments")]
    if arguments.review_comment:
        paths.append(target.path("pulls", "/comments"))
    for path in paths:
        async for comment in api.read_list(call, path, since=since(call)):
            if carries(as_text(comment.get("body")), call):
                return _commented(target, comment)
    return None


@github_add_comment.mock
def _mock_comment(api: GitHubApi, call: Call, arguments: AddComment) -> ToolResult:
    """Return a comment without writing it."""
    target = _target(api, call, arguments)
    number = digits(arguments, 9)
    url = f"{target.page(api, 'issues')}#issuecomment-{number}"
    return _commented(target, {"id": int(number), "html_url": url})


def _target(api: GitHubApi, call: Call, arguments: AddComment) -> Target:
    """Return the issue or pull request to comment on. Raises ToolError."""
    if not arguments.text.strip():
        raise ToolError("That is empty; write something.")
    return target_of(api, call, arguments)


def since(call: Call) -> str:
    """Return the earliest time of any attempt of a call, by GitHub's clock and in GitHub's form."""
    begin = max(0.0, call.since - CLOCKS_APART)
    return datetime.fromtimestamp(begin, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _commented(target: Target, comment: Fields) -> ToolResult:
    """Return a written comment. Details: repository, number, comment id and url."""
    url = as_text(comment.get("html_url"))
    details = {"repository": target.repository, "number": target.number, "comment": comment.get("id"), "url": url}
    return ToolResult(f"Commented on {target}: {url}", f"commented on {target}", details)


class CreateIssue(InRepository):
    """The new issue, and its repository."""

    title: str = Field(min_length=1, max_length=256, description="One line.")
    body: str = Field(default="", description="The text in GitHub's Markdown.")
    labels: list[str] = Field(default_factory=list[str], max_length=20, description="Labels the repository has.")


@tool(
    effect="lookup",
    shows="issue",
    settle=SETTLE,
    place=repository_place,
    markdown=frozenset({"body"}),
    plain_text=frozenset({"title", "labels"}),
    everyday="file a bug or ticket on github, report a problem in a repository",
)
async def github_create_issue(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """Open an issue."""
    repository = repository_of(call, arguments)
    labels: dict[str, object] = {"labels": arguments.labels} if arguments.labels else {}
    title = one_line(arguments.title, 256)
    body = signed(call, arguments.body)
    return _opened(repository, await api.write(call, f"/repos/{repository}/issues", title=title, body=body, **labels))


@github_create_issue.look
async def _find_issue(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult | None:
    """Return the issue that an earlier attempt of the same call opened; None when it certainly opened none."""
    repository = repository_of(call, arguments)
    listed = api.read_list(call, f"/repos/{repository}/issues", state="all", since=since(call))
    async for issue in listed:
        if carries(as_text(issue.get("body")), call):
            return _opened(repository, issue)
    return None


@github_create_issue.mock
def _mock_issue(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """Return an issue without opening it."""
    target = Target(repository_of(call, arguments), int(digits(arguments, 5)))
    return _opened(target.repository, {"number": target.number, "html_url": target.page(api, "issues")})


def _opened(repository: str, issue: Fields) -> ToolResult:
    """Return an opened issue. Details: repository, number and url."""
    number = issue.get("number")
    url = as_text(issue.get("html_url"))
    details = {"repository": repository, "number": number, "url": url}
    return ToolResult(f"Opened {repository}#{number}: {url}", f"opened {repository}#{number}", details)


_LOGIN = re.compile(r"@?([A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}))")
_TEAM = re.compile(r"@?[A-Za-z0-9_.-]{1,100}/([A-Za-z0-9_.-]{1,100})")


class RequestReviewers(Numbered):
    """The reviewers, and the pull request."""

    reviewers: list[str] = Field(
        min_length=1, max_length=15, description="Logins such as ada; a team as owner/team. Never the author."
    )


@tool(
    effect="keyed",
    destination=number_of,
    everyday="reviewer, code review, look at my code, assign somebody to a PR or merge request",
)
async def github_request_reviewers(api: GitHubApi, call: Call, arguments: RequestReviewers) -> ToolResult:
    """Ask people or teams to review a pull request. They are notified."""
    people, teams = _sorted_out(arguments.reviewers)
    target = target_of(api, call, arguments)
    asked: dict[str, object] = {"reviewers": people, "team_reviewers": teams}
    requested = {name: value for name, value in asked.items() if value}
    pull = await api.write(call, target.path("pulls", "/requested_reviewers"), **requested)
    return _asked(target, pull)


github_request_reviewers.place(place_of)
github_request_reviewers.writes(on_one("reviewers"))


@github_request_reviewers.mock
def _mock_reviewers(api: GitHubApi, call: Call, arguments: RequestReviewers) -> ToolResult:
    """Return all named people and teams as requested reviewers."""
    people, teams = _sorted_out(arguments.reviewers)
    pull: Fields = {
        "requested_reviewers": [{"login": login} for login in people],
        "requested_teams": [{"slug": slug} for slug in teams],
    }
    return _asked(target_of(api, call, arguments), pull)


def _asked(target: Target, pull: Fields) -> ToolResult:
    """Return all requested reviewers, including earlier ones. Details: repository, number, reviewers and teams."""
    logins = names(pull.get("requested_reviewers"), "login")
    slugs = names(pull.get("requested_teams"), "slug")
    everyone = ", ".join([*logins, *(f"the team {slug}" for slug in slugs)]) or "nobody"
    details = {"repository": target.repository, "number": target.number, "reviewers": logins, "teams": slugs}
    return ToolResult(f"Asked. Now asked to review {target}: {everyone}.", f"asked for reviews of {target}", details)


def _sorted_out(reviewers: list[str]) -> tuple[list[str], list[str]]:
    """Return the logins, and the slugs of teams. Raises ToolError."""
    people: list[str] = []
    teams: list[str] = []
    for name in map(str.strip, reviewers):
        if team := _TEAM.fullmatch(name):
            teams.append(team[1])
        elif person := _LOGIN.fullmatch(name):
            people.append(person[1])
        else:
            raise ToolError(f"{name[:80]!r} is not a login of GitHub; write one such as ada, or a team as owner/team.")
    return people, teams
