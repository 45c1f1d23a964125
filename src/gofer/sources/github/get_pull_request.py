"""The tool that reads a pull request: its state, files and reviews."""

from gofer.sources.github.api import PER_PAGE, GitHubApi
from gofer.sources.github.get_issue import MOCK_LOGIN, MOCK_QUESTION, mock_issue
from gofer.sources.github.references import Numbered, Target, target_of
from gofer.sources.github.shown_text import Fields, body_lines, login, names, number, one_line, statements
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import MOMENT
from gofer.values.canonical_json import as_list, as_object, as_text


class GetPullRequest(Numbered):
    """The pull request to read."""


@tool(
    effect="read",
    everyday="PR, merge request, diff, what changed, build green, checks, ci, approved, who reviewed",
)
async def github_get_pull_request(api: GitHubApi, call: Call, arguments: GetPullRequest) -> ToolResult:
    """Read a pull request: state, whether merged, author, description, changed files, reviews."""
    target = target_of(api, call, arguments)
    pull = await api.read_object(call, target.path("pulls"))
    files = await _first(api, call, target.path("pulls", "/files"))
    reviews = await _first(api, call, target.path("pulls", "/reviews"))
    return _result(target, pull, files, reviews)


@github_get_pull_request.mock
def _mock(api: GitHubApi, call: Call, arguments: GetPullRequest) -> ToolResult:
    """Return an open pull request that changes one file, with one review."""
    target = target_of(api, call, arguments)
    pull = mock_issue(api, target, "pull") | {
        "merged": False,
        "draft": False,
        "head": {"ref": "change"},
        "base": {"ref": "main"},
        "requested_reviewers": [{"login": MOCK_LOGIN}],
        "requested_teams": [],
        "changed_files": 1,
        "additions": 1,
        "deletions": 0,
    }
    file: Fields = {"filename": "README.md", "status": "modified", "additions": 1, "deletions": 0}
    review: Fields = {
        "user": {"login": MOCK_LOGIN},
        "state": "COMMENTED",
        "submitted_at": MOMENT,
        "body": MOCK_QUESTION,
    }
    return _result(target, pull, [file], [review])


def _result(target: Target, pull: Fields, files: list[Fields], reviews: list[Fields]) -> ToolResult:
    """Return a pull request.

    Details: repository, number, state, merged, draft, url, author, files, reviewers, private and facts.
    """
    details = _details(pull, files) | {"repository": target.repository, "number": target.number}
    details["facts"] = pull_facts(target.repository, pull)
    lines = [
        f"Pull request {target}: {details['title']}",
        f"State: {_state(pull)}",
        f"Author: {details['author']}",
        f"Branches: {_branch(pull, 'head')} into {_branch(pull, 'base')}",
        f"Link: {details['url']}",
        f"Labels: {', '.join(names(pull.get('labels'), 'name')) or 'none'}",
        f"Asked to review: {', '.join(_asked(pull)) or 'nobody'}",
        f"Created {one_line(as_text(pull.get('created_at')))}, changed {one_line(as_text(pull.get('updated_at')))}",
        "Description:",
        *body_lines(as_text(pull.get("body"))),
        *_files(pull, files),
        *_review_lines(reviews),
    ]
    return ToolResult("\n".join(lines), f"read {target}", details)


async def _first(api: GitHubApi, call: Call, path: str) -> list[Fields]:
    return [as_object(item) for item in as_list(await api.read(call, path, per_page=PER_PAGE))]


def _review_lines(reviews: list[Fields]) -> list[str]:
    if not reviews:
        return ["No reviews."]
    some = f"The first {PER_PAGE} reviews" if len(reviews) == PER_PAGE else "Reviews"
    return [f"{some}, oldest first:", *statements(reviews, "submitted_at")]


def merged(pull: Fields) -> bool:
    """Return whether a pull request is merged. Lists and older servers send only the time of the merge."""
    has_merge = pull.get("merged") is True or bool(as_text(pull.get("merged_at")))
    return pull.get("state") == "closed" and has_merge


def pull_facts(repository: str, pull: Fields) -> dict[str, object]:
    """Return the facts about a pull request that conditions of workflow files can refer to."""
    return {
        "repository": repository,
        "base": _branch(pull, "base"),
        "labels": names(pull.get("labels"), "name"),
        "draft": pull.get("draft") is True,
        "author": login(pull.get("user")),
    }


def _details(pull: Fields, files: list[Fields]) -> dict[str, object]:
    return {
        "title": one_line(as_text(pull.get("title"))),
        "state": as_text(pull.get("state")),
        "merged": merged(pull),
        "draft": pull.get("draft") is True,
        "url": one_line(as_text(pull.get("html_url")), 500),
        "author": login(pull.get("user")),
        "base": _branch(pull, "base"),
        "head": _branch(pull, "head"),
        "files": names(files, "filename"),
        "reviewers": names(pull.get("requested_reviewers"), "login"),
        "private": False,
    }


def _state(pull: Fields) -> str:
    if merged(pull):
        by = as_object(pull.get("merged_by"))
        return f"merged{f' by {login(by)}' if by else ''}"
    if pull.get("state") == "closed":
        return "closed without being merged"
    if pull.get("draft") is True:
        return "open, draft"
    return "open"


def _asked(pull: Fields) -> list[str]:
    teams = [f"the team {slug}" for slug in names(pull.get("requested_teams"), "slug")]
    return names(pull.get("requested_reviewers"), "login") + teams


def _branch(pull: Fields, end: str) -> str:
    return one_line(as_text(as_object(pull.get(end)).get("ref")))


def _files(pull: Fields, files: list[Fields]) -> list[str]:
    count = number(pull, "changed_files") or len(files)
    lines = [f"Changed files: {count} (+{number(pull, 'additions')} -{number(pull, 'deletions')})"]
    lines += [f"    {one_line(as_text(file.get('filename')), 500)} ({_counts(file)})" for file in files]
    left = count - len(files)
    if left > 0:
        return [*lines, f"({left} more files are left out here.)"]
    return lines


def _counts(file: Fields) -> str:
    return f"{one_line(as_text(file.get('status')))}, +{number(file, 'additions')} -{number(file, 'deletions')}"
