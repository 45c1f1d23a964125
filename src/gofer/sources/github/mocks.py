"""What does each tool of GitHub give where no GitHub is there? Its own form, made of the arguments alone."""

import base64

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.create_issue import CreateIssue, opened
from gofer.sources.github.get_issue import GetIssue, issue_result
from gofer.sources.github.get_pull_request import GetPullRequest, pull_result
from gofer.sources.github.list_commits import ListCommits, commits_result
from gofer.sources.github.read_file import ReadFile, file_result, path_of
from gofer.sources.github.references import Target, repository_of, target_of
from gofer.sources.github.request_reviewers import RequestReviewers, asked_result, sorted_out
from gofer.sources.github.shown_text import Fields
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import MOMENT, code, digits

_LOGIN = "somebody"
_ASKED = "Could somebody look at this?"


def get_pull_request(api: GitHubApi, call: Call, arguments: GetPullRequest) -> ToolResult:
    """An open pull request that changes one file, with one review."""
    target = target_of(api, call, arguments)
    pull = _numbered(api, target, "pull") | {
        "merged": False,
        "draft": False,
        "head": {"ref": "change"},
        "base": {"ref": "main"},
        "requested_reviewers": [{"login": _LOGIN}],
        "requested_teams": [],
        "changed_files": 1,
        "additions": 1,
        "deletions": 0,
    }
    file: Fields = {"filename": "README.md", "status": "modified", "additions": 1, "deletions": 0}
    review: Fields = {"user": {"login": _LOGIN}, "state": "COMMENTED", "submitted_at": MOMENT, "body": _ASKED}
    return pull_result(target, pull, [file], [review])


def get_issue(api: GitHubApi, call: Call, arguments: GetIssue) -> ToolResult:
    """An open issue with one comment."""
    target = target_of(api, call, arguments)
    said: Fields = {"user": {"login": _LOGIN}, "created_at": MOMENT, "body": _ASKED}
    return issue_result(target, _numbered(api, target, "issues") | {"comments": 1}, [said], older=0)


def read_file(call: Call, arguments: ReadFile) -> ToolResult:
    """A file of one line, or a folder with one file."""
    repository, path = repository_of(call, arguments), path_of(arguments.path)
    if not path:
        return file_result(repository, path, arguments.ref, [{"path": "README.md", "type": "file"}])
    url = f"https://github.com/{repository}/blob/main/{path}"
    content = base64.b64encode(b"Something to read.\n").decode()
    file: Fields = {"type": "file", "encoding": "base64", "content": content, "html_url": url}
    return file_result(repository, path, arguments.ref, file)


def list_commits(call: Call, arguments: ListCommits) -> ToolResult:
    """One commit."""
    repository, path = repository_of(call, arguments), path_of(arguments.path)
    written: Fields = {"author": {"name": _LOGIN, "date": MOMENT}, "message": "Change something"}
    commit: Fields = {"sha": code(arguments, 40).lower(), "author": {"login": _LOGIN}, "commit": written}
    return commits_result(repository, path, [commit])


def create_issue(api: GitHubApi, call: Call, arguments: CreateIssue) -> ToolResult:
    """An issue that was opened nowhere."""
    target = Target(repository_of(call, arguments), int(digits(arguments, 5)))
    return opened(target.repository, {"number": target.number, "html_url": _address(api, target, "issues")})


def request_reviewers(api: GitHubApi, call: Call, arguments: RequestReviewers) -> ToolResult:
    """Everybody who was named is asked."""
    people, teams = sorted_out(arguments.reviewers)
    asked: Fields = {
        "requested_reviewers": [{"login": login} for login in people],
        "requested_teams": [{"slug": slug} for slug in teams],
    }
    return asked_result(target_of(api, call, arguments), asked)


def _numbered(api: GitHubApi, target: Target, kind: str) -> dict[str, object]:
    return {
        "title": "Something to look at",
        "state": "open",
        "html_url": _address(api, target, kind),
        "user": {"login": _LOGIN},
        "labels": [{"name": "later"}],
        "assignees": [],
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "body": _ASKED,
    }


def _address(api: GitHubApi, target: Target, kind: str) -> str:
    return f"https://{api.web_host}/{target.repository}/{kind}/{target.number}"
