"""GitHub's objects as JSON, for answers of the REST API and for webhooks.

`full` shapes are for single objects and webhooks. Lists leave some fields out, as the vendor does.
"""

import base64
import difflib
import hashlib
from collections.abc import Mapping

from gofer_simulators.github.repositories import (
    Comment,
    Commit,
    Hub,
    Issue,
    Pull,
    Repository,
    Review,
    ReviewComment,
    User,
    iso,
)

WEB = "https://github.com"
API = "https://api.github.com"
BREAKING = "2026-03-10"
"""The version of the REST API that dropped fields."""

Shape = dict[str, object]


def user_shape(user: User) -> Shape:
    """Return a user as a part of other objects."""
    login = user.login.removesuffix("[bot]")
    html_url = f"{WEB}/{login}"
    kind = "User"
    if user.bot:
        html_url = f"{WEB}/apps/{login}"
        kind = "Bot"
    return {
        "login": user.login,
        "id": user.id,
        "node_id": _node("U", user.id),
        "url": f"{API}/users/{user.login}",
        "html_url": html_url,
        "type": kind,
        "site_admin": False,
    }


def repository_shape(hub: Hub, repository: Repository) -> Shape:
    """Return a repository as a part of other objects."""
    owner, _, name = repository.full_name.partition("/")
    return {
        "id": repository.id,
        "node_id": _node("R", repository.id),
        "name": name,
        "full_name": repository.full_name,
        "private": repository.private,
        "visibility": "private" if repository.private else "public",
        "owner": {"login": owner, "id": repository.id + 500_000, "type": "Organization"},
        "html_url": f"{WEB}/{repository.full_name}",
        "url": f"{API}/repos/{repository.full_name}",
        "default_branch": repository.default_branch,
    }


def issue_shape(hub: Hub, issue: Issue, version: str = "") -> Shape:
    """Return an issue, or a pull request as an issue with the key `pull_request`."""
    repository = hub.repositories[issue.repository]
    shape = _common(hub, issue) | {
        "html_url": html_url(issue),
        "url": f"{API}/repos/{issue.repository}/issues/{issue.number}",
        "repository_url": f"{API}/repos/{repository.full_name}",
        "comments": len(issue.comments),
        "assignee": next(iter(_assignees(hub, issue)), None),
    }
    if pull := issue.pull:
        shape["pull_request"] = {
            "url": f"{API}/repos/{issue.repository}/pulls/{issue.number}",
            "html_url": html_url(issue),
            "merged_at": _iso_or_none(pull.merged_at),
        }
        shape["draft"] = pull.draft
    if version == BREAKING:
        return _without(shape, {"assignee"})
    return shape


def pull_shape(hub: Hub, issue: Issue, pull: Pull, version: str = "", *, full: bool = True) -> Shape:
    """Return a pull request; in lists it has neither `merged` nor counts."""
    repository = hub.repositories[issue.repository]
    shape = _common(hub, issue) | {
        "id": pull.id,
        "node_id": _node("PR", pull.id),
        "html_url": html_url(issue),
        "url": f"{API}/repos/{issue.repository}/pulls/{issue.number}",
        "draft": pull.draft,
        "merged_at": _iso_or_none(pull.merged_at),
        "merge_commit_sha": pull.merge_commit_sha or None,
        "assignee": next(iter(_assignees(hub, issue)), None),
        "requested_reviewers": [user_shape(hub.users[login]) for login in pull.reviewers],
        "requested_teams": [team_shape(slug) for slug in pull.teams],
        "head": _head_shape(hub, issue, pull),
        "base": _branch_shape(hub, repository, pull.base),
    }
    if full:
        files = [file_shape(path, pull) for path in sorted(pull.changes)]
        merged_by = None
        if pull.merged_by:
            merged_by = user_shape(hub.users[pull.merged_by])
        shape |= {
            "merged": pull.merged_at is not None,
            "merged_by": merged_by,
            "comments": len(issue.comments),
            "review_comments": len(pull.comments),
            "changed_files": len(files),
            "additions": sum(_count(file, "additions") for file in files),
            "deletions": sum(_count(file, "deletions") for file in files),
        }
    if version == BREAKING:
        return _without(shape, {"assignee", "merge_commit_sha"})
    return shape


def comment_shape(hub: Hub, issue: Issue, comment: Comment) -> Shape:
    """Return a comment on an issue or pull request."""
    return {
        "id": comment.id,
        "node_id": _node("IC", comment.id),
        "html_url": f"{html_url(issue)}#issuecomment-{comment.id}",
        "issue_url": f"{API}/repos/{issue.repository}/issues/{issue.number}",
        "user": user_shape(hub.users[comment.user]),
        "author_association": _association(hub, issue, comment.user),
        "created_at": iso(comment.created_at),
        "updated_at": iso(comment.updated_at),
        "body": comment.body,
    }


def review_comment_shape(hub: Hub, issue: Issue, comment: ReviewComment) -> Shape:
    """Return a comment on a line of a pull request; `in_reply_to_id` stands only in replies."""
    reply: Shape = {"in_reply_to_id": comment.in_reply_to} if comment.in_reply_to else {}
    return {
        "id": comment.id,
        "node_id": _node("PRRC", comment.id),
        "html_url": f"{html_url(issue)}#discussion_r{comment.id}",
        "pull_request_url": f"{API}/repos/{issue.repository}/pulls/{issue.number}",
        "user": user_shape(hub.users[comment.user]),
        "path": comment.path,
        "line": comment.line,
        "original_line": comment.line or 1,
        "start_line": None,
        "original_start_line": None,
        "side": "RIGHT",
        "subject_type": "line",
        "author_association": _association(hub, issue, comment.user),
        "diff_hunk": comment.diff_hunk,
        "created_at": iso(comment.created_at),
        "updated_at": iso(comment.updated_at),
        "body": comment.body,
        **reply,
    }


def review_shape(hub: Hub, issue: Issue, review: Review, *, webhook: bool = False) -> Shape:
    """Return a review; webhooks write its state in lower case."""
    state = review.state
    if webhook:
        state = state.lower()
    return {
        "id": review.id,
        "node_id": _node("PRR", review.id),
        "user": user_shape(hub.users[review.user]),
        "body": review.body or None,
        "state": state,
        "html_url": f"{html_url(issue)}#pullrequestreview-{review.id}",
        "author_association": _association(hub, issue, review.user),
        "submitted_at": iso(review.submitted_at),
    }


def commit_shape(hub: Hub, repository: Repository, commit: Commit) -> Shape:
    """Return a commit as a list of commits shows it."""
    user = hub.users[commit.author]
    git = {"name": user.name, "email": f"{user.id}@users.noreply.github.com", "date": iso(commit.date)}
    return {
        "sha": commit.sha,
        "html_url": f"{WEB}/{repository.full_name}/commit/{commit.sha}",
        "commit": {"author": git, "committer": git, "message": commit.message, "comment_count": 0},
        "author": user_shape(user),
        "committer": user_shape(user),
    }


def file_shape(path: str, pull: Pull) -> Shape:
    """Return a changed file of a pull request, with its patch and its counts of lines."""
    old = pull.before.get(path)
    new = pull.changes[path]
    before = (old or b"").decode(errors="replace")
    after = (new or b"").decode(errors="replace")
    patch = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3))[2:]
    added = sum(line.startswith("+") for line in patch)
    removed = sum(line.startswith("-") for line in patch)
    return {
        "sha": git_sha(new or b""),
        "filename": path,
        "status": _status(old, new),
        "additions": added,
        "deletions": removed,
        "changes": added + removed,
        "patch": "\n".join(patch),
    }


def _status(old: bytes | None, new: bytes | None) -> str:
    if new is None:
        return "removed"
    if old is None:
        return "added"
    return "modified"


def content_shape(repository: Repository, path: str, content: bytes, *, listed: bool = False) -> Shape:
    """Return a file; above 1 MB and in listings without its content."""
    shape: Shape = {
        "type": "file",
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": git_sha(content),
        "size": len(content),
        "html_url": f"{WEB}/{repository.full_name}/blob/{repository.default_branch}/{path}",
    }
    if listed:
        return shape
    if len(content) > 1_000_000:
        return shape | {"encoding": "none", "content": ""}
    return shape | {"encoding": "base64", "content": base64.encodebytes(content).decode()}


def team_shape(slug: str) -> Shape:
    """Return a team."""
    return {"id": int(hashlib.sha256(slug.encode()).hexdigest()[:6], 16), "slug": slug, "name": slug}


def html_url(issue: Issue) -> str:
    """Return the address at which people open an issue or pull request."""
    return f"{WEB}/{issue.repository}/{'pull' if issue.pull else 'issues'}/{issue.number}"


def label_shape(name: str) -> Shape:
    """Return a label."""
    return {"id": int(hashlib.sha256(name.encode()).hexdigest()[:6], 16), "name": name, "color": "ededed"}


def git_sha(content: bytes) -> str:
    """Return the git object id of a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324 - as git does


def _common(hub: Hub, issue: Issue) -> Shape:
    return {
        "id": issue.id,
        "node_id": _node("I", issue.id),
        "number": issue.number,
        "state": issue.state,
        "locked": False,
        "title": issue.title,
        "body": issue.body or None,
        "user": user_shape(hub.users[issue.user]),
        "labels": [label_shape(name) for name in issue.labels],
        "assignees": _assignees(hub, issue),
        "milestone": None,
        "author_association": _association(hub, issue, issue.user),
        "created_at": iso(issue.created_at),
        "updated_at": iso(issue.updated_at),
        "closed_at": _iso_or_none(issue.closed_at),
    }


def _association(hub: Hub, issue: Issue, login: str) -> str:
    """Return GitHub's word for how a person belongs to the repository of an issue."""
    repository = hub.repositories[issue.repository]
    if login in repository.collaborators:
        return "MEMBER"
    if any(commit.author == login for commit in repository.commits()):
        return "CONTRIBUTOR"
    return "NONE"


def _assignees(hub: Hub, issue: Issue) -> list[Shape]:
    return [user_shape(hub.users[login]) for login in issue.assignees]


def _head_shape(hub: Hub, issue: Issue, pull: Pull) -> Shape:
    """Return the head of a pull request; of a fork without the repository if the fork was deleted."""
    repository = hub.repositories[issue.repository]
    if pull.fork == "":
        return _branch_shape(hub, repository, pull.head)
    shape = _branch_shape(hub, repository, f"refs/pull/{issue.number}/head")
    if pull.fork is None:
        return shape | {"label": pull.head, "ref": pull.head, "user": None, "repo": None}
    owner, _, name = pull.fork.partition("/")
    fork = repository_shape(hub, repository) | {"name": name, "full_name": pull.fork, "fork": True}
    return shape | {"label": f"{owner}:{pull.head}", "ref": pull.head, "user": {"login": owner}, "repo": fork}


def _branch_shape(hub: Hub, repository: Repository, branch: str) -> Shape:
    owner = repository.full_name.partition("/")[0]
    commits = repository.branches.get(branch, [])
    sha = ""
    if commits:
        sha = commits[-1].sha
    return {
        "label": f"{owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": {"login": owner, "type": "Organization"},
        "repo": repository_shape(hub, repository),
    }


def _without(shape: Shape, names: set[str]) -> Shape:
    return {key: value for key, value in shape.items() if key not in names}


def _count(shape: Mapping[str, object], key: str) -> int:
    value = shape[key]
    if isinstance(value, int):
        return value
    return 0


def _iso_or_none(at: float | None) -> str | None:
    if at is None:
        return None
    return iso(at)


def _node(kind: str, number: int) -> str:
    return f"{kind}_{base64.urlsafe_b64encode(str(number).encode()).decode().rstrip('=')}"
