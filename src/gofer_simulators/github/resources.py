"""The resources of GitHub's REST API.

Each function reads a request and returns a status and a JSON value. It raises GitHubRefusal for a refusal.
"""

import math
from collections.abc import Callable, Sequence

from gofer_simulators.github.asked import TITLE_LIMIT, ApiRequest, too_long
from gofer_simulators.github.repositories import GitHubRefusal, Hub, Issue, Pull, iso
from gofer_simulators.github.shapes import (
    BREAKING,
    comment_shape,
    commit_shape,
    content_shape,
    file_shape,
    issue_shape,
    pull_shape,
    repository_shape,
    review_shape,
    team_shape,
    user_shape,
)
from gofer_simulators.http_server import Resource, resource
from gofer_simulators.json_values import texts

Answer = tuple[int, object]


def own_user(asked: ApiRequest) -> Answer:
    """Return the user of the token."""
    return 200, _full_user(asked.hub, asked.hub.own)


def a_user(asked: ApiRequest) -> Answer:
    """Return a user by login."""
    return 200, _full_user(asked.hub, asked.path["login"])


def a_repository(asked: ApiRequest) -> Answer:
    """Return a repository."""
    return 200, repository_shape(asked.hub, asked.hub.repository(asked.repository))


def list_issues(asked: ApiRequest) -> Answer:
    """Return issues and pull requests as issues, by default newest first."""
    since = int(asked.moment("since") or 0)
    found = [one for one in _listed(asked) if int(one.updated_at) >= since and _wanted(asked, one)]
    return 200, [issue_shape(asked.hub, issue, asked.version) for issue in found]


def create_issue(asked: ApiRequest) -> Answer:
    """Create an issue."""
    asked.permit("title", "body", "labels", "assignees", "milestone", "type")
    title = asked.text("Issue", "title")
    body = asked.body.get("body")
    text = asked.short("Issue", body if isinstance(body, str) else "")
    if len(title) > TITLE_LIMIT:
        raise too_long("Issue", "title", TITLE_LIMIT)
    labels = asked.names("labels", "name")
    assignees = asked.names("assignees", "login")
    for login in assignees:
        if login not in asked.hub.repository(asked.repository).collaborators:
            wrong = {"resource": "Issue", "code": "invalid", "field": "assignees", "value": login}
            raise GitHubRefusal(422, "Validation Failed", (wrong,))
    issue = asked.people.open_issue(asked.repository, asked.hub.own, title, text, labels)
    issue.assignees = assignees
    return 201, issue_shape(asked.hub, issue, asked.version)


def get_issue(asked: ApiRequest) -> Answer:
    """Return an issue, or a pull request as an issue."""
    return 200, issue_shape(asked.hub, asked.issue, asked.version)


def list_comments(asked: ApiRequest) -> Answer:
    """Return comments, oldest first; `since` compares the time of their last change."""
    issue = asked.issue
    since = int(asked.moment("since") or 0)
    found = [comment for comment in issue.comments if int(comment.updated_at) >= since]
    return 200, [comment_shape(asked.hub, issue, comment) for comment in found]


def create_comment(asked: ApiRequest) -> Answer:
    """Create a comment."""
    asked.permit("body")
    issue = asked.issue
    comment = asked.people.comment(issue, asked.hub.own, asked.text("IssueComment", "body"))
    return 201, comment_shape(asked.hub, issue, comment)


def list_pulls(asked: ApiRequest) -> Answer:
    """Return pull requests, in the short form of lists."""
    hub = asked.hub
    found = [(issue, pull) for issue in _listed(asked) if (pull := issue.pull) and _between(asked, pull)]
    return 200, [pull_shape(hub, issue, pull, asked.version, full=False) for issue, pull in found]


def get_pull(asked: ApiRequest) -> Answer:
    """Return a pull request."""
    issue, pull = asked.pull
    return 200, pull_shape(asked.hub, issue, pull, asked.version)


def list_files(asked: ApiRequest) -> Answer:
    """Return the files that a pull request changes."""
    _, pull = asked.pull
    return 200, [file_shape(path, pull) for path in sorted(pull.changes)]


def list_reviews(asked: ApiRequest) -> Answer:
    """Return reviews, oldest first."""
    issue, pull = asked.pull
    return 200, [review_shape(asked.hub, issue, review) for review in pull.reviews]


def is_merged(asked: ApiRequest) -> Answer:
    """Return 204 for a merged pull request. Raises GitHubRefusal(404) for another."""
    _, pull = asked.pull
    if pull.merged_at is None:
        raise GitHubRefusal(404, "Not Found")
    return 204, None


def requested(asked: ApiRequest) -> Answer:
    """Return the people and teams with an open request for a review."""
    _, pull = asked.pull
    users = [user_shape(asked.hub.users[login]) for login in pull.reviewers]
    return 200, {"users": users, "teams": [team_shape(slug) for slug in pull.teams]}


def request_reviewers(asked: ApiRequest) -> Answer:
    """Request reviews from people and teams; earlier requests stay."""
    asked.permit("reviewers", "team_reviewers")
    issue, pull = asked.pull
    repository = asked.hub.repository(asked.repository)
    logins = texts(asked.body.get("reviewers"))
    teams = texts(asked.body.get("team_reviewers"))
    known = {login.lower(): login for login in repository.collaborators}
    if issue.user.lower() in map(str.lower, logins):
        raise GitHubRefusal(422, "Review cannot be requested from pull request author.")
    if not {login.lower() for login in logins} <= known.keys() or not set(teams) <= repository.teams:
        raise GitHubRefusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not"
            f" a collaborator of the {repository.full_name} repository.",
        )
    asked.people.request(issue, asked.hub.own, [known[login.lower()] for login in logins], teams)
    return 201, pull_shape(asked.hub, issue, pull, asked.version, full=False)


def contents(asked: ApiRequest) -> Answer:
    """Return a file, or the entries of a folder."""
    repository = asked.hub.repository(asked.repository)
    path = asked.path.get("path", "").strip("/")
    files = repository.files(asked.query.get("ref", ""))
    if path in files:
        return 200, content_shape(repository, path, files[path])
    prefix = f"{path}/" if path else ""
    below = {**files, **dict.fromkeys(repository.submodules, b"")}
    names = sorted({one[len(prefix) :].partition("/")[0] for one in below if one.startswith(prefix)})
    if not names:
        raise GitHubRefusal(404, "Not Found")
    entries: list[object] = []
    for name in names:
        entry = content_shape(repository, prefix + name, below.get(prefix + name, b""), listed=True)
        if prefix + name in repository.submodules:
            # Before version 2026-03-10, GitHub listed a submodule as a file.
            entry["type"] = "submodule" if asked.version == BREAKING else "file"
        elif prefix + name not in files:
            entry["type"] = "dir"
        entries.append(entry)
    return 200, entries


def list_commits(asked: ApiRequest) -> Answer:
    """Return commits, newest first; with `path`, only those that change that path."""
    repository = asked.hub.repository(asked.repository)
    path = asked.query.get("path", "").strip("/")
    since = asked.moment("since") or 0.0
    until = asked.moment("until") or math.inf
    author = asked.query.get("author", "").lower()
    found = [
        commit
        for commit in reversed(repository.commits(asked.query.get("sha", "")))
        if since <= commit.date <= until
        and author in ("", commit.author.lower())
        and any(not path or one == path or one.startswith(f"{path}/") for one in commit.files)
    ]
    return 200, [commit_shape(asked.hub, repository, commit) for commit in found]


def _listed(asked: ApiRequest) -> list[Issue]:
    """Return the issues of a repository in the requested state and order."""
    state = asked.one_of("state", "open", "closed", "all")
    newest = asked.one_of("direction", "desc", "asc") == "desc"
    by_update = asked.one_of("sort", "created", "updated", "comments") == "updated"
    found = [one for one in asked.hub.repository(asked.repository).issues.values() if state in ("all", one.state)]
    return sorted(found, key=lambda one: (one.updated_at if by_update else one.created_at, one.number), reverse=newest)


def _wanted(asked: ApiRequest, issue: Issue) -> bool:
    """Return whether an issue has the labels, the assignee and the creator of the query."""
    labels = set(filter(None, asked.query.get("labels", "").split(",")))
    assignee = asked.query.get("assignee", "")
    creator = asked.query.get("creator", "").lower()
    match assignee:
        case "":
            right = True
        case "none":
            right = not issue.assignees
        case "*":
            right = bool(issue.assignees)
        case login:
            right = login.lower() in map(str.lower, issue.assignees)
    return right and labels <= set(issue.labels) and creator in ("", issue.user.lower())


def _between(asked: ApiRequest, pull: Pull) -> bool:
    """Return whether a pull request has the branches of the query, which names the head as `owner:branch`."""
    head = asked.query.get("head", "")
    own = f"{asked.path['owner']}:{pull.head}".lower()
    return asked.query.get("base", pull.base) == pull.base and head.lower() in ("", own)


def _resource(line: str, run: Callable[[ApiRequest], Answer]) -> Resource[Callable[[ApiRequest], Answer]]:
    path = line.replace("{repo}", r"/repos/{owner}/{name}").replace("{n}", r"(?P<number>[0-9]{1,9})")
    return resource(path, run)


RESOURCES: Sequence[Resource[Callable[[ApiRequest], Answer]]] = (
    _resource("GET /user", own_user),
    _resource("GET /users/{login}", a_user),
    _resource("GET {repo}", a_repository),
    _resource("GET {repo}/issues", list_issues),
    _resource("POST {repo}/issues", create_issue),
    _resource("GET {repo}/issues/{n}", get_issue),
    _resource("GET {repo}/issues/{n}/comments", list_comments),
    _resource("POST {repo}/issues/{n}/comments", create_comment),
    _resource("GET {repo}/pulls", list_pulls),
    _resource("GET {repo}/pulls/{n}", get_pull),
    _resource("GET {repo}/pulls/{n}/files", list_files),
    _resource("GET {repo}/pulls/{n}/reviews", list_reviews),
    _resource("GET {repo}/pulls/{n}/merge", is_merged),
    _resource("GET {repo}/pulls/{n}/requested_reviewers", requested),
    _resource("POST {repo}/pulls/{n}/requested_reviewers", request_reviewers),
    _resource(r"GET {repo}/contents(?:/(?P<path>.*))?", contents),
    _resource("GET {repo}/commits", list_commits),
)


def _full_user(hub: Hub, login: str) -> object:
    user = hub.user(login)
    return user_shape(user) | {"name": user.name, "company": None, "created_at": iso(hub.clock())}
