"""The issues and pull requests of a list: the filters and the order that its query asks for."""

from gofer.simulators.github.asked import Asked
from gofer.simulators.github.repositories import Issue, Pull


def listed(asked: Asked) -> list[Issue]:
    """The issues of a repository in the state and the order asked for."""
    state = asked.one_of("state", "open", "closed", "all")
    newest = asked.one_of("direction", "desc", "asc") == "desc"
    by_update = asked.one_of("sort", "created", "updated", "comments") == "updated"
    found = [one for one in asked.hub.repository(asked.repository).issues.values() if state in ("all", one.state)]
    return sorted(found, key=lambda one: (one.updated_at if by_update else one.created_at, one.number), reverse=newest)


def wanted(asked: Asked, issue: Issue) -> bool:
    """Return whether an issue has all labels, the assignee and the creator that the query names."""
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


def between(asked: Asked, pull: Pull) -> bool:
    """Return whether a pull request has the branches that the query names; a head is written `owner:branch`."""
    head = asked.query.get("head", "")
    own = f"{asked.path['owner']}:{pull.head}".lower()
    return asked.query.get("base", pull.base) == pull.base and head.lower() in ("", own)
