"""The state of the simulated GitHub: people, repositories, commits, issues and pull requests.

A pull request is an `Issue` with a `Pull`, as on GitHub: issues and pull requests share one sequence of numbers.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

Files = Mapping[str, str | None]
"""Texts by path; None removes a file."""


class GitHubRefusal(Exception):
    """A refusal of GitHub: a status, a message and a list of errors, which may be empty."""

    def __init__(self, status: int, message: str, errors: tuple[Mapping[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors


@dataclass(frozen=True, slots=True)
class User:
    """An account of a person or a program."""

    id: int
    login: str
    name: str
    bot: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; `files` has the new content of each changed file, and None for a removed file."""

    sha: str
    author: str
    message: str
    date: float
    files: Mapping[str, bytes | None]


@dataclass(slots=True)
class Comment:
    """A comment on an issue or on a pull request."""

    id: int
    user: str
    body: str
    created_at: float
    updated_at: float


@dataclass(slots=True)
class ReviewComment(Comment):
    """A comment on a line that a pull request changes."""

    path: str
    line: int | None
    """The line in the new version; None for a comment whose lines changed since."""
    diff_hunk: str
    in_reply_to: int | None = None
    """The comment that began the thread; None for this comment itself."""


@dataclass(frozen=True, slots=True)
class Review:
    """One review; `state` is APPROVED, CHANGES_REQUESTED or COMMENTED."""

    id: int
    user: str
    state: str
    body: str
    submitted_at: float


@dataclass(slots=True)
class Pull:
    """The part of a pull request that an issue does not have."""

    id: int
    base: str
    head: str
    draft: bool = False
    fork: str | None = ""
    """The full name of the fork with the head branch; empty for the same repository, None for a deleted fork."""
    changes: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    """New content of each changed file, and None for a removed file."""
    before: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Content of the changed files on the base branch; without new files."""
    reviewers: list[str] = field(default_factory=list[str])
    teams: list[str] = field(default_factory=list[str])
    reviews: list[Review] = field(default_factory=list[Review])
    comments: list[ReviewComment] = field(default_factory=list[ReviewComment])
    merged_at: float | None = None
    merged_by: str = ""
    merge_commit_sha: str = ""


@dataclass(slots=True)
class Issue:
    """An issue, or a pull request if `pull` is set."""

    repository: str
    id: int
    number: int
    user: str
    title: str
    body: str
    created_at: float
    updated_at: float
    closed_at: float | None = None
    labels: list[str] = field(default_factory=list[str])
    assignees: list[str] = field(default_factory=list[str])
    comments: list[Comment] = field(default_factory=list[Comment])
    pull: Pull | None = None

    @property
    def state(self) -> str:
        """`open` or `closed`."""
        if self.closed_at is None:
            return "open"
        return "closed"


@dataclass(slots=True)
class Repository:
    """One repository; `branches` has the commits of each branch, oldest first."""

    id: int
    full_name: str
    private: bool = True
    hidden: bool = False
    """Whether the token has no access; GitHub then answers as if the repository did not exist."""
    default_branch: str = "main"
    collaborators: frozenset[str] = frozenset()
    teams: frozenset[str] = frozenset()
    submodules: frozenset[str] = frozenset()
    branches: dict[str, list[Commit]] = field(default_factory=dict[str, list[Commit]])
    issues: dict[int, Issue] = field(default_factory=dict[int, Issue])
    deleted: set[int] = field(default_factory=set[int])
    """The numbers of issues that were deleted."""

    def commits(self, ref: str = "") -> list[Commit]:
        """Return the commits of a branch, or those up to a commit, oldest first. Raises GitHubRefusal(404)."""
        if commits := self.branches.get(ref or self.default_branch):
            return commits
        for commits in self.branches.values():
            for index, commit in enumerate(commits):
                if len(ref) >= 7 and commit.sha.startswith(ref):
                    return commits[: index + 1]
        raise GitHubRefusal(404, f"No commit found for the ref {ref}")

    def files(self, ref: str = "") -> dict[str, bytes]:
        """Return the content of every file at a branch or commit, by path. Raises GitHubRefusal(404)."""
        found: dict[str, bytes] = {}
        for commit in self.commits(ref):
            changed = commit.files.items()
            found.update({path: content for path, content in changed if content is not None})
            for path in [path for path, content in changed if content is None]:
                found.pop(path, None)
        return found


class Hub:
    """All users and repositories, and the changes to them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.users: dict[str, User] = {}
        self.repositories: dict[str, Repository] = {}
        self.own_login = ""
        """The login of the token's account."""
        self._ids: Iterator[int] = itertools.count(1001)

    def new_id(self) -> int:
        """Return a new, unique id."""
        return next(self._ids)

    def user(self, login: str) -> User:
        """Return a user by login, ignoring case. Raises GitHubRefusal(404)."""
        for user in self.users.values():
            if user.login.lower() == login.lower():
                return user
        raise GitHubRefusal(404, "Not Found")

    def repository(self, full_name: str) -> Repository:
        """Return a repository that the token can see, ignoring case. Raises GitHubRefusal(404)."""
        for repository in self.repositories.values():
            if repository.full_name.lower() == full_name.lower() and not repository.hidden:
                return repository
        raise GitHubRefusal(404, "Not Found")

    def issue(self, full_name: str, number: int) -> Issue:
        """Return an issue or a pull request. Raises GitHubRefusal: 410 for a deleted issue, 404 for an unknown one."""
        repository = self.repository(full_name)
        if issue := repository.issues.get(number):
            return issue
        if number in repository.deleted:
            raise GitHubRefusal(410, "This issue was deleted")
        raise GitHubRefusal(404, "Not Found")

    def pull(self, full_name: str, number: int) -> tuple[Issue, Pull]:
        """Return the issue and the pull of a pull request. Raises GitHubRefusal(404)."""
        issue = self.issue(full_name, number)
        if issue.pull is None:
            raise GitHubRefusal(404, "Not Found")
        return issue, issue.pull

    def open_issue(self, repository: Repository, user: str, title: str, body: str, at: float | None = None) -> Issue:
        """Create an issue with the next number; `at` is its time, by default now."""
        number = max(repository.issues, default=0) + 1
        now = self.clock() if at is None else at
        issue = Issue(
            repository.full_name,
            self.new_id(),
            number,
            user=user,
            title=title,
            body=body,
            created_at=now,
            updated_at=now,
        )
        repository.issues[number] = issue
        return issue

    def make_pull(self, issue: Issue, pull: Pull, changes: Mapping[str, bytes | None]) -> None:
        """Turn an issue into a pull request, and commit its changes to its head branch, also in a fork."""
        issue.pull = pull
        self.change(issue, pull, changes)
        repository = self.repositories[issue.repository]
        ref = f"refs/pull/{issue.number}/head"
        branch = ref if pull.fork else pull.head
        self.commit(repository, branch, issue.user, issue.title, changes, issue.updated_at)
        repository.branches[ref] = repository.branches[branch]

    def change(self, issue: Issue, pull: Pull, changes: Mapping[str, bytes | None]) -> None:
        """Add changed files to a pull request."""
        old = self.repositories[issue.repository].files(pull.base)
        pull.before.update({path: old[path] for path in changes if path in old})
        pull.changes.update(changes)

    def merge(self, issue: Issue, pull: Pull, user: str) -> Commit:
        """Commit the changes of a pull request to its base branch, and close the pull request."""
        repository = self.repositories[issue.repository]
        message = f"{issue.title} (#{issue.number})"
        commit = self.commit(repository, pull.base, issue.user, message, dict(pull.changes), issue.updated_at)
        issue.closed_at = pull.merged_at = issue.updated_at
        pull.merged_by = user
        pull.merge_commit_sha = commit.sha
        return commit

    def comment(self, issue: Issue, user: str, body: str, at: float | None = None) -> Comment:
        """Create a comment; `at` is its time, by default now."""
        now = self.clock() if at is None else at
        comment = Comment(self.new_id(), user, body, now, now)
        issue.comments.append(comment)
        issue.updated_at = max(issue.updated_at, now)
        return comment

    def commit(
        self,
        repository: Repository,
        branch: str,
        author: str,
        message: str,
        files: Mapping[str, bytes | None],
        at: float,
    ) -> Commit:
        """Create a commit on a branch. A new branch starts with the commits of the default branch."""
        commits = repository.branches.setdefault(branch, list(repository.branches.get(repository.default_branch, [])))
        parent = ""
        if commits:
            parent = commits[-1].sha
        seed = "\0".join((repository.full_name, branch, parent, author, message, str(self.new_id())))
        sha = hashlib.sha1(seed.encode()).hexdigest()  # noqa: S324 - as git does
        commit = Commit(sha=sha, author=author, message=message, date=at, files=files)
        commits.append(commit)
        return commit

    def state(self) -> dict[str, object]:
        """Return files, issues and pull requests in plain JSON, without ids and times."""
        return {
            "repositories": {
                repository.full_name: {
                    "files": {
                        path: content.decode(errors="replace") for path, content in _files_of(repository).items()
                    },
                    "issues": {str(n): _issue_state(i) for n, i in repository.issues.items() if i.pull is None},
                    "pulls": {str(n): _issue_state(i) for n, i in repository.issues.items() if i.pull is not None},
                }
                for repository in self.repositories.values()
            }
        }


def encoded(files: Files) -> dict[str, bytes | None]:
    """Return the bytes of each file by path, and None for a removed file."""
    written: dict[str, bytes | None] = dict.fromkeys(files)
    for path, text in files.items():
        if text is not None:
            written[path] = text.encode()
    return written


def iso(at: float) -> str:
    """Return a time as GitHub writes it: in whole seconds, in UTC."""
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _files_of(repository: Repository) -> dict[str, bytes]:
    if repository.branches:
        return repository.files()
    return {}


def _issue_state(issue: Issue) -> dict[str, object]:
    shown: dict[str, object] = {
        "title": issue.title,
        "body": issue.body,
        "user": issue.user,
        "state": issue.state,
        "labels": list(issue.labels),
        "assignees": list(issue.assignees),
        "comments": [{"user": comment.user, "body": comment.body} for comment in issue.comments],
    }
    if pull := issue.pull:
        shown |= {
            "merged": pull.merged_at is not None,
            "draft": pull.draft,
            "reviewers": list(pull.reviewers),
            "teams": list(pull.teams),
            "reviews": [{"user": one.user, "state": one.state, "body": one.body} for one in pull.reviews],
        }
    return shown
