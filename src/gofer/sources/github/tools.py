"""Which GitHub tools are there, and what does the model read about them?"""

from functools import partial
from typing import Any

from gofer.sources.github import mocks
from gofer.sources.github.add_comment import SETTLE, github_add_comment
from gofer.sources.github.api import GitHubApi
from gofer.sources.github.create_issue import CreateIssue, create_issue, find_issue
from gofer.sources.github.get_issue import GetIssue, get_issue
from gofer.sources.github.get_pull_request import GetPullRequest, get_pull_request
from gofer.sources.github.list_commits import ListCommits, list_commits
from gofer.sources.github.read_file import ReadFile, read_file
from gofer.sources.github.references import (
    is_number_at,
    is_repository_at,
    is_url_at,
    number_of,
    place_of,
    repository_place,
)
from gofer.sources.github.request_reviewers import RequestReviewers, request_reviewers
from gofer.tools.definition import Tool
from gofer.tools.places import Writes


def github_tools(api: GitHubApi) -> tuple[Tool[Any], ...]:
    """The tools of one GitHub."""
    return (*_reading(api), *_writing(api))


def _reading(api: GitHubApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="github_get_pull_request",
            description="Read a pull request: state, whether merged, author, description, changed files, reviews.",
            effect="read",
            arguments=GetPullRequest,
            act=partial(get_pull_request, api),
            everyday="PR, merge request, diff, what changed, build green, checks, ci, approved, who reviewed",
            mock=partial(mocks.get_pull_request, api),
        ),
        Tool(
            name="github_get_issue",
            description="Read an issue with its comments; also the comments of a pull request.",
            effect="read",
            arguments=GetIssue,
            act=partial(get_issue, api),
            everyday="bug report, ticket on github; what does it say, discussion",
            mock=partial(mocks.get_issue, api),
        ),
        Tool(
            name="github_read_file",
            description="Read a text file of a repository, or list a folder.",
            effect="read",
            arguments=ReadFile,
            act=partial(read_file, api),
            everyday="source code, repo, config, show me the code, readme, directory",
            mock=mocks.read_file,
        ),
        Tool(
            name="github_list_commits",
            description="List the commits of a file or folder: who changed it and when. Use it to choose reviewers.",
            effect="read",
            arguments=ListCommits,
            act=partial(list_commits, api),
            everyday="git history, log, blame, recent changes in the repository, who touched it last, author",
            mock=mocks.list_commits,
        ),
    )


def _writing(api: GitHubApi) -> tuple[Tool[Any], ...]:
    return (
        github_add_comment.bind(api),
        Tool(
            name="github_create_issue",
            description="Open an issue.",
            effect="lookup",
            arguments=CreateIssue,
            act=partial(create_issue, api),
            everyday="file a bug or ticket on github, report a problem in a repository",
            mock=partial(mocks.create_issue, api),
            look=partial(find_issue, api),
            settle=SETTLE,
            where=repository_place,
        ),
        Tool(
            name="github_request_reviewers",
            description="Ask people or teams to review a pull request. They are notified.",
            effect="keyed",
            arguments=RequestReviewers,
            act=partial(request_reviewers, api),
            everyday="reviewer, code review, look at my code, assign somebody to a PR or merge request",
            mock=partial(mocks.request_reviewers, api),
            destination=number_of,
            writes=_on_one(api, "reviewers"),
            where=partial(place_of, api),
        ),
    )


def _on_one(api: GitHubApi, *content: str) -> Writes:
    where = {"repository": is_repository_at, "number": is_number_at, "url": partial(is_url_at, api)}
    return Writes(where, frozenset(content))
