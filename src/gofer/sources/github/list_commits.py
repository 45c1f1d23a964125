"""The tool that lists the commits of a path in a repository."""

from collections import Counter

from pydantic import Field

from gofer.sources.github.api import GitHubApi
from gofer.sources.github.get_pull_request import MOCK_LOGIN
from gofer.sources.github.read_file import path_of
from gofer.sources.github.references import InRepository, check_readable, repository_of, with_readers
from gofer.sources.github.shown_text import Fields, login, one_line
from gofer.tools.declare import tool
from gofer.tools.definition import Call, ToolResult
from gofer.tools.mock_ids import MOMENT, code
from gofer.values.canonical_json import as_list, as_object, as_text


class ListCommits(InRepository):
    """The path, and the commits to list."""

    path: str = Field(default="", description="File or folder whose commits are meant. Left out: all.")
    ref: str = Field(default="", max_length=300, description="Branch or commit to begin at. Left out: the default one.")
    limit: int = Field(default=30, ge=1, le=100, description="How many, newest first.")


@tool(
    effect="read",
    everyday="git history, log, blame, recent changes in the repository, who touched it last, author",
)
async def github_list_commits(api: GitHubApi, call: Call, arguments: ListCommits) -> ToolResult:
    """List the commits (the Git history) of a file or folder: who changed it and when. Use it to choose reviewers."""
    repository = repository_of(call, arguments)
    path = path_of(arguments.path)
    await check_readable(api, call, repository)
    query = {"path": path, "sha": arguments.ref}
    asked = {name: value for name, value in query.items() if value}
    found = await api.read(call, f"/repos/{repository}/commits", per_page=arguments.limit, **asked)
    return with_readers(_result(repository, path, [as_object(item) for item in as_list(found)]), call, repository)


@github_list_commits.mock
def _mock(call: Call, arguments: ListCommits) -> ToolResult:
    """Return one commit."""
    written: Fields = {"author": {"name": MOCK_LOGIN, "date": MOMENT}, "message": "Change something"}
    commit: Fields = {"sha": code(arguments, 40).lower(), "author": {"login": MOCK_LOGIN}, "commit": written}
    repository = repository_of(call, arguments)
    return with_readers(_result(repository, path_of(arguments.path), [commit]), call, repository)


def _result(repository: str, path: str, commits: list[Fields]) -> ToolResult:
    """Return commits, newest first.

    Details: repository, path, commits with sha, author and date, and the number of commits per author.
    """
    authors = Counter(map(_author, commits))
    lines = [f"{len(commits)} commits of {repository}{f'/{path}' if path else ''}, newest first:"]
    lines += [f"    {_sha(one)[:7]} {_date(one)} {_author(one)}: {_subject(one)}" for one in commits]
    lines.append(f"By author: {', '.join(f'{name} {count}' for name, count in authors.most_common()) or 'nobody'}")
    details = {
        "repository": repository,
        "path": path,
        "commits": [{"sha": _sha(one), "author": _author(one), "date": _date(one)} for one in commits],
        "authors": dict(authors.most_common()),
        "private": False,
    }
    return ToolResult("\n".join(lines), f"read {len(commits)} commits", details)


def _author(commit: Fields) -> str:
    """Return the login of a commit's author, or the name in the commit if GitHub knows no account for it."""
    if as_object(commit.get("author")):
        return login(commit.get("author"))
    git = as_object(as_object(commit.get("commit")).get("author"))
    return f"{one_line(as_text(git.get('name'))) or 'somebody'} (no account)"


def _sha(commit: Fields) -> str:
    return one_line(as_text(commit.get("sha")))


def _date(commit: Fields) -> str:
    return one_line(as_text(as_object(as_object(commit.get("commit")).get("author")).get("date")))[:10]


def _subject(commit: Fields) -> str:
    message = as_text(as_object(commit.get("commit")).get("message"))
    return one_line(message.partition("\n")[0])
