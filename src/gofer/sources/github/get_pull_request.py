"""The tool that reads a pull request: its state, branches, files, reviews and review comments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.sources.github.api import PER_PAGE, GitHubApi, GitHubRefusal
from gofer.sources.github.references import Numbered, Target, check_readable, target_of, with_readers
from gofer.sources.github.shown_text import Fields, body_lines, login, names, number, one_line, statements
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import MOMENT
from gofer.values.canonical_json import as_list, as_object, as_text

NOT_A_PART = frozenset({"rate_limited", "bad_credentials", "no_token"})
"""Codes of refusals that concern every request, not only one part of a pull request."""
MOCK_LOGIN = "somebody"
"""The login of every mocked person."""
MOCK_QUESTION = "Could somebody look at this?"
"""The text by every mocked person."""


class GetPullRequest(Numbered):
    """The pull request to read."""


@dataclass(frozen=True, slots=True)
class Part:
    """One list of a pull request, or the reason why GitHub refused it."""

    items: Sequence[Fields] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request with its first files and reviews, and its newest review comments."""

    target: Target
    fields: Fields
    files: Part
    reviews: Part
    comments: Part

    @property
    def details(self) -> dict[str, object]:
        """Return the details of a result about the pull request, for code."""
        target = self.target
        facts = pull_facts(target.repository, self.fields)
        details = _details(self.fields, self.files.items)
        return details | {"repository": target.repository, "number": target.number, "facts": facts}

    @property
    def lines(self) -> list[str]:
        """Return the text of the pull request for a model."""
        pull = self.fields
        details = _details(pull, self.files.items)
        return [
            f"Pull request {self.target}: {details['title']}",
            f"State: {_state(pull)}",
            f"Author: {details['author']}",
            *_branches(pull, self.target.number),
            f"Link: {details['url']}",
            f"Labels: {', '.join(names(pull.get('labels'), 'name')) or 'none'}",
            f"Asked to review: {', '.join(_asked(pull)) or 'nobody'}",
            f"Created {one_line(as_text(pull.get('created_at')))}, changed {one_line(as_text(pull.get('updated_at')))}",
            "Description:",
            *body_lines(as_text(pull.get("body"))),
            *_files(pull, self.files),
            *_review_lines(self.reviews),
            *_comment_lines(pull, self.comments),
        ]


@tool(
    effect="read",
    everyday="PR, merge request, diff, what changed, build green, checks, ci, approved, who reviewed",
)
async def github_get_pull_request(api: GitHubApi, call: Call, arguments: GetPullRequest) -> ToolResult:
    """Read a pull request: state, whether merged, author, description, changed files, reviews."""
    target = target_of(api, call, arguments)
    await check_readable(api, call, target.repository)
    return with_readers(_result(await read_pull(api, call, target)), call, target.repository)


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
    return with_readers(_result(Pull(target, pull, Part([file]), Part([review]), Part())), call, target.repository)


def _result(pull: Pull) -> ToolResult:
    """Return a pull request.

    Details: repository, number, state, merged, draft, url, author, base, head, head_repository, files, reviewers,
    private and facts.
    """
    return ToolResult("\n".join(pull.lines), f"read {pull.target}", pull.details)


async def read_pull(api: GitHubApi, call: Call, target: Target) -> Pull:
    """Return a pull request. A list that GitHub refuses costs that list. Raises GitHubRefusal, TemporaryError."""
    pull = await api.read_object(call, target.path("pulls"))
    files = await _part(api, call, target.path("pulls", "/files"))
    reviews = await _part(api, call, target.path("pulls", "/reviews"))
    comments = Part()
    if pull.get("review_comments") != 0:
        path = target.path("pulls", "/comments")
        newest = await _part(api, call, path, sort="created", direction="desc")
        comments = Part(list(reversed(newest.items)), newest.refused)
    return Pull(target, pull, files, reviews, comments)


async def _part(api: GitHubApi, call: Call, path: str, **query: str) -> Part:
    try:
        found = as_list(await api.read(call, path, per_page=PER_PAGE, **query))
    except GitHubRefusal as refusal:
        if refusal.code in NOT_A_PART:
            raise
        return Part(refused=refusal.message_to_model)
    return Part([as_object(item) for item in found])


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


def _review_lines(reviews: Part) -> list[str]:
    if reviews.refused:
        return [f"The reviews could not be read. {reviews.refused}"]
    if not reviews.items:
        return ["No reviews."]
    some = f"The first {PER_PAGE} reviews" if len(reviews.items) == PER_PAGE else "Reviews"
    return [f"{some}, oldest first:", *statements(reviews.items, "submitted_at")]


def _comment_lines(pull: Fields, comments: Part) -> list[str]:
    if comments.refused:
        return [f"The review comments could not be read. {comments.refused}"]
    if not comments.items:
        return []
    older = max(0, number(pull, "review_comments") - len(comments.items))
    return ["Review comments, oldest first:", *statements(comments.items, "created_at", older=older)]


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


def _details(pull: Fields, files: Sequence[Fields]) -> dict[str, object]:
    return {
        "title": one_line(as_text(pull.get("title"))),
        "state": as_text(pull.get("state")),
        "merged": merged(pull),
        "draft": pull.get("draft") is True,
        "url": one_line(as_text(pull.get("html_url")), 500),
        "author": login(pull.get("user")),
        "base": _branch(pull, "base"),
        "head": _branch(pull, "head"),
        "head_repository": _repository(pull, "head"),
        "files": names(list(files), "filename"),
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


def _repository(pull: Fields, end: str) -> str:
    return one_line(as_text(as_object(as_object(pull.get(end)).get("repo")).get("full_name")))


def _branches(pull: Fields, pull_number: int) -> list[str]:
    """Return the line with the branches. A branch of a fork has its owner, and a line says how to read its files."""
    head = as_object(pull.get("head"))
    fork = _repository(pull, "head")
    deleted = "repo" in head and head.get("repo") is None
    if fork == _repository(pull, "base") and not deleted:
        return [f"Branches: {_branch(pull, 'head')} into {_branch(pull, 'base')}"]
    owner = login(head.get("user")) if head.get("user") else fork.partition("/")[0]
    label = one_line(as_text(head.get("label"))) or f"{owner or 'ghost'}:{_branch(pull, 'head')}"
    place = "a fork that was deleted" if deleted else f"the fork {fork}"
    return [
        f"Branches: {label} into {_branch(pull, 'base')}. The change is in {place}.",
        f"Files of the change: github_read_file with the ref refs/pull/{pull_number}/head",
    ]


def _files(pull: Fields, part: Part) -> list[str]:
    if part.refused:
        return [f"The changed files could not be read. {part.refused}"]
    files = part.items
    count = number(pull, "changed_files") or len(files)
    lines = [f"Changed files: {count} (+{number(pull, 'additions')} -{number(pull, 'deletions')})"]
    lines += [f"    {one_line(as_text(file.get('filename')), 500)} ({_counts(file)})" for file in files]
    left = count - len(files)
    if left > 0:
        return [*lines, f"({left} more files are left out here.)"]
    return lines


def _counts(file: Fields) -> str:
    return f"{one_line(as_text(file.get('status')))}, +{number(file, 'additions')} -{number(file, 'deletions')}"
