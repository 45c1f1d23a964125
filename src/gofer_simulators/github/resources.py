"""The resources of GitHub's REST API.

Each function reads a request and returns a status and a JSON value. It raises GitHubRefusal for a refusal.
"""

import math
from collections.abc import Callable, Sequence

from gofer_simulators.github.api_request import TITLE_LIMIT, ApiRequest, too_long
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
    review_comment_shape,
    review_shape,
    team_shape,
    user_shape,
)
from gofer_simulators.http_server import Resource, resource
from gofer_simulators.json_values import text_of, texts

Answer = tuple[int, object]


def get_own_user(request: ApiRequest) -> Answer:
    """Return the user of the token."""
    return 200, _full_user(request.hub, request.hub.own_login)


def get_user(request: ApiRequest) -> Answer:
    """Return a user by login."""
    return 200, _full_user(request.hub, request.path["login"])


def get_repository(request: ApiRequest) -> Answer:
    """Return a repository."""
    return 200, repository_shape(request.hub, request.hub.repository(request.repository))


def list_issues(request: ApiRequest) -> Answer:
    """Return issues and pull requests as issues, by default newest first."""
    since = int(request.moment("since") or 0)
    found = [one for one in _sorted_issues(request) if int(one.updated_at) >= since and _matches_query(request, one)]
    return 200, [issue_shape(request.hub, issue, request.version) for issue in found]


def create_issue(request: ApiRequest) -> Answer:
    """Create an issue."""
    request.permit("title", "body", "labels", "assignees", "milestone", "type")
    title = request.text("Issue", "title")
    text = request.short("Issue", text_of(request.body, "body"))
    if len(title) > TITLE_LIMIT:
        raise too_long("Issue", "title", TITLE_LIMIT)
    labels = request.names("labels", "name")
    assignees = request.names("assignees", "login")
    for login in assignees:
        if login not in request.hub.repository(request.repository).collaborators:
            wrong = {"resource": "Issue", "code": "invalid", "field": "assignees", "value": login}
            raise GitHubRefusal(422, "Validation Failed", (wrong,))
    issue = request.people.open_issue(request.repository, request.hub.own_login, title, text, labels)
    issue.assignees = assignees
    return 201, issue_shape(request.hub, issue, request.version)


def get_issue(request: ApiRequest) -> Answer:
    """Return an issue, or a pull request as an issue."""
    return 200, issue_shape(request.hub, request.issue, request.version)


def list_comments(request: ApiRequest) -> Answer:
    """Return comments, oldest first; `since` compares the time of their last change."""
    issue = request.issue
    since = int(request.moment("since") or 0)
    found = [comment for comment in issue.comments if int(comment.updated_at) >= since]
    return 200, [comment_shape(request.hub, issue, comment) for comment in found]


def create_comment(request: ApiRequest) -> Answer:
    """Create a comment."""
    request.permit("body")
    issue = request.issue
    comment = request.people.comment(issue, request.hub.own_login, request.text("IssueComment", "body"))
    return 201, comment_shape(request.hub, issue, comment)


def list_pulls(request: ApiRequest) -> Answer:
    """Return pull requests, in the short form of lists."""
    hub = request.hub
    found = [
        (issue, pull) for issue in _sorted_issues(request) if (pull := issue.pull) and _matches_branches(request, pull)
    ]
    return 200, [pull_shape(hub, issue, pull, request.version, full=False) for issue, pull in found]


def get_pull(request: ApiRequest) -> Answer:
    """Return a pull request."""
    issue, pull = request.pull
    return 200, pull_shape(request.hub, issue, pull, request.version)


def list_files(request: ApiRequest) -> Answer:
    """Return the files that a pull request changes."""
    _, pull = request.pull
    return 200, [file_shape(path, pull) for path in sorted(pull.changes)]


def list_reviews(request: ApiRequest) -> Answer:
    """Return reviews, oldest first."""
    issue, pull = request.pull
    return 200, [review_shape(request.hub, issue, review) for review in pull.reviews]


def list_review_comments(request: ApiRequest) -> Answer:
    """Return the comments on lines of a pull request; `since` compares the time of their last change."""
    issue, pull = request.pull
    since = int(request.moment("since") or 0)
    newest = request.one_of("direction", "asc", "desc") == "desc"
    by_update = request.one_of("sort", "created", "updated") == "updated"
    found = [comment for comment in pull.comments if int(comment.updated_at) >= since]
    found.sort(key=lambda one: (one.updated_at if by_update else one.created_at, one.id), reverse=newest)
    return 200, [review_comment_shape(request.hub, issue, comment) for comment in found]


def reply_in_thread(request: ApiRequest) -> Answer:
    """Reply to the comment that began a review thread. Raises GitHubRefusal(404) for a deleted one, and for a reply."""
    request.permit("body")
    issue, _ = request.pull
    text = request.text("PullRequestReviewComment", "body")
    began = int(request.path["comment"])
    comment = request.people.comment_on_line(issue, request.hub.own_login, text, reply_to=began)
    return 201, review_comment_shape(request.hub, issue, comment)


def create_review_comment(request: ApiRequest) -> Answer:
    """Reply in a review thread with `in_reply_to`; the simulator begins no thread. Raises GitHubRefusal."""
    request.permit("body", "in_reply_to")
    issue, _ = request.pull
    text = request.text("PullRequestReviewComment", "body")
    began = request.body.get("in_reply_to")
    if not isinstance(began, int):
        raise GitHubRefusal(422, "Validation Failed")
    comment = request.people.comment_on_line(issue, request.hub.own_login, text, reply_to=began)
    return 201, review_comment_shape(request.hub, issue, comment)


def is_merged(request: ApiRequest) -> Answer:
    """Return 204 for a merged pull request. Raises GitHubRefusal(404) for another."""
    _, pull = request.pull
    if pull.merged_at is None:
        raise GitHubRefusal(404, "Not Found")
    return 204, None


def list_requested_reviewers(request: ApiRequest) -> Answer:
    """Return the people and teams with an open request for a review."""
    _, pull = request.pull
    users = [user_shape(request.hub.users[login]) for login in pull.reviewers]
    return 200, {"users": users, "teams": [team_shape(slug) for slug in pull.teams]}


def request_reviewers(request: ApiRequest) -> Answer:
    """Request reviews from people and teams; earlier requests stay."""
    request.permit("reviewers", "team_reviewers")
    issue, pull = request.pull
    repository = request.hub.repository(request.repository)
    logins = texts(request.body.get("reviewers"))
    teams = texts(request.body.get("team_reviewers"))
    known = {login.lower(): login for login in repository.collaborators}
    if issue.user.lower() in map(str.lower, logins):
        raise GitHubRefusal(422, "Review cannot be requested from pull request author.")
    if not {login.lower() for login in logins} <= known.keys() or not set(teams) <= repository.teams:
        raise GitHubRefusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not"
            f" a collaborator of the {repository.full_name} repository.",
        )
    request.people.request_reviews(issue, request.hub.own_login, [known[login.lower()] for login in logins], teams)
    return 201, pull_shape(request.hub, issue, pull, request.version, full=False)


def get_contents(request: ApiRequest) -> Answer:
    """Return a file, or the entries of a folder."""
    repository = request.hub.repository(request.repository)
    path = request.path.get("path", "").strip("/")
    files = repository.files(request.query.get("ref", ""))
    if path in files:
        return 200, content_shape(repository, path, files[path])
    prefix = ""
    if path:
        prefix = f"{path}/"
    below = {**files, **dict.fromkeys(repository.submodules, b"")}
    names = sorted({one[len(prefix) :].partition("/")[0] for one in below if one.startswith(prefix)})
    if not names:
        raise GitHubRefusal(404, "Not Found")
    entries: list[object] = []
    for name in names:
        entry = content_shape(repository, prefix + name, below.get(prefix + name, b""), listed=True)
        if prefix + name in repository.submodules:
            # Before version 2026-03-10, GitHub listed a submodule as a file.
            if request.version == BREAKING:
                entry["type"] = "submodule"
        elif prefix + name not in files:
            entry["type"] = "dir"
        entries.append(entry)
    return 200, entries


def list_commits(request: ApiRequest) -> Answer:
    """Return commits, newest first; with `path`, only those that change that path."""
    repository = request.hub.repository(request.repository)
    path = request.query.get("path", "").strip("/")
    since = request.moment("since") or 0.0
    until = request.moment("until") or math.inf
    author = request.query.get("author", "").lower()
    found = [
        commit
        for commit in reversed(repository.commits(request.query.get("sha", "")))
        if since <= commit.date <= until
        and author in ("", commit.author.lower())
        and any(not path or one == path or one.startswith(f"{path}/") for one in commit.files)
    ]
    return 200, [commit_shape(request.hub, repository, commit) for commit in found]


def _sorted_issues(request: ApiRequest) -> list[Issue]:
    """Return the issues of a repository in the requested state and order."""
    state = request.one_of("state", "open", "closed", "all")
    newest = request.one_of("direction", "desc", "asc") == "desc"
    by_update = request.one_of("sort", "created", "updated", "comments") == "updated"
    found = [one for one in request.hub.repository(request.repository).issues.values() if state in ("all", one.state)]
    if by_update:
        return sorted(found, key=lambda issue: (issue.updated_at, issue.number), reverse=newest)
    return sorted(found, key=lambda issue: (issue.created_at, issue.number), reverse=newest)


def _matches_query(request: ApiRequest, issue: Issue) -> bool:
    """Return whether an issue has the labels, the assignee and the creator of the query."""
    labels = set(filter(None, request.query.get("labels", "").split(",")))
    assignee = request.query.get("assignee", "")
    creator = request.query.get("creator", "").lower()
    match assignee:
        case "":
            assignee_matches = True
        case "none":
            assignee_matches = not issue.assignees
        case "*":
            assignee_matches = bool(issue.assignees)
        case login:
            assignee_matches = login.lower() in map(str.lower, issue.assignees)
    return assignee_matches and labels <= set(issue.labels) and creator in ("", issue.user.lower())


def _matches_branches(request: ApiRequest, pull: Pull) -> bool:
    """Return whether a pull request has the branches of the query, which names the head as `owner:branch`."""
    head = request.query.get("head", "")
    own_login = f"{request.path['owner']}:{pull.head}".lower()
    return request.query.get("base", pull.base) == pull.base and head.lower() in ("", own_login)


def _resource(line: str, run: Callable[[ApiRequest], Answer]) -> Resource[Callable[[ApiRequest], Answer]]:
    path = line.replace("{repo}", r"/repos/{owner}/{name}").replace("{n}", r"(?P<number>[0-9]{1,9})")
    return resource(path, run)


RESOURCES: Sequence[Resource[Callable[[ApiRequest], Answer]]] = (
    _resource("GET /user", get_own_user),
    _resource("GET /users/{login}", get_user),
    _resource("GET {repo}", get_repository),
    _resource("GET {repo}/issues", list_issues),
    _resource("POST {repo}/issues", create_issue),
    _resource("GET {repo}/issues/{n}", get_issue),
    _resource("GET {repo}/issues/{n}/comments", list_comments),
    _resource("POST {repo}/issues/{n}/comments", create_comment),
    _resource("GET {repo}/pulls", list_pulls),
    _resource("GET {repo}/pulls/{n}", get_pull),
    _resource("GET {repo}/pulls/{n}/files", list_files),
    _resource("GET {repo}/pulls/{n}/reviews", list_reviews),
    _resource("GET {repo}/pulls/{n}/comments", list_review_comments),
    _resource("POST {repo}/pulls/{n}/comments", create_review_comment),
    _resource(r"POST {repo}/pulls/{n}/comments/(?P<comment>[0-9]{1,15})/replies", reply_in_thread),
    _resource("GET {repo}/pulls/{n}/merge", is_merged),
    _resource("GET {repo}/pulls/{n}/requested_reviewers", list_requested_reviewers),
    _resource("POST {repo}/pulls/{n}/requested_reviewers", request_reviewers),
    _resource(r"GET {repo}/contents(?:/(?P<path>.*))?", get_contents),
    _resource("GET {repo}/commits", list_commits),
)


def _full_user(hub: Hub, login: str) -> object:
    user = hub.user(login)
    return user_shape(user) | {"name": user.name, "company": None, "created_at": iso(hub.clock())}
