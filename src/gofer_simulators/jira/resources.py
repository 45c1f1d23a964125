"""The resources of Jira's REST API for one issue, and the table of all resources."""

from collections.abc import Callable, Mapping

import gofer_simulators.jira.searching as searching
import gofer_simulators.jira.shapes as shapes
import gofer_simulators.jira.writing as writing
from gofer_simulators.http_server import resource
from gofer_simulators.jira.api_request import INVALID, ApiRequest
from gofer_simulators.jira.own_fields import described, mistakes
from gofer_simulators.jira.searching import Answer
from gofer_simulators.jira.site import Comment, Issue, IssueType, JiraRefusal
from gofer_simulators.json_values import is_array, object_of, text_of

PAGE_OF_COMMENTS = 5000
_SYSTEM: Mapping[str, dict[str, object]] = {
    "project": {"type": "project"},
    "issuetype": {"type": "issuetype"},
    "summary": {"type": "string"},
    "description": {"type": "string"},
    "labels": {"type": "array", "items": "string"},
    "assignee": {"type": "user"},
    "priority": {"type": "priority"},
}
"""The fields that each form has, with their types."""


def get_issue(request: ApiRequest) -> Answer:
    """Answer GET /issue/{issue}."""
    issue = request.site.issue(request.path["issue"])
    wanted = request.listed("fields") or ["*all"]
    shown = shapes.issue_json(request.site, issue, wanted, request.listed("properties"))
    if "names" in request.listed("expand"):
        project = request.site.projects[issue.project]
        forms = [*(one.fields for one in project.types), *project.screens.values()]
        shown["names"] = {field.id: field.name for form in forms for field in form}
    return 200, shown


def get_attachment(request: ApiRequest) -> Answer:
    """Answer GET /attachment/{attachment} with the description of a file, without its bytes."""
    return 200, shapes.attachment(request.site, request.site.attachment(request.path["attachment"]))


def get_transitions(request: ApiRequest) -> Answer:
    """Answer GET /issue/{issue}/transitions with the transitions from the issue's status."""
    issue = request.site.issue(request.path["issue"])
    project = request.site.projects[issue.project]
    shown: list[dict[str, object]] = [
        {"id": _transition(project.statuses, name), "name": name, "to": shapes.status(request.site, project, name)}
        for name in project.next_statuses(issue.status)
    ]
    if "transitions.fields" in request.listed("expand"):
        for one in shown:
            screen = project.screens.get(str(one["name"]), ())
            one["fields"] = {field.id: described(field) for field in screen}
    return 200, {"expand": "transitions", "transitions": shown}


def post_transition(request: ApiRequest) -> Answer:
    """Answer POST /issue/{issue}/transitions."""
    issue = request.site.issue(request.path["issue"])
    body = request.fields("transition", "fields", "update", "historyMetadata", "properties")
    wanted = text_of(object_of(body, "transition"), "id")
    project = request.site.projects[issue.project]
    possible = {_transition(project.statuses, name): name for name in project.next_statuses(issue.status)}
    if wanted not in possible:
        raise JiraRefusal(400, f"Transition id '{wanted}' is not valid for this issue.")
    fields = object_of(body, "fields")
    errors = mistakes(request.site, project.screens.get(possible[wanted], ()), fields, ())
    if errors:
        raise JiraRefusal(400, errors=errors)
    request.people.move(request.site.account, issue, possible[wanted], fields)
    return 204, None


def _transition(statuses: tuple[str, ...], name: str) -> str:
    return str(11 + 10 * statuses.index(name))


def get_comments(request: ApiRequest) -> Answer:
    """Answer GET /issue/{issue}/comment, by default oldest first."""
    issue = request.site.issue(request.path["issue"])
    order = request.query.get("orderBy", "created")
    if order.lstrip("+-") != "created":
        raise JiraRefusal(400, f"Cannot order by '{order}'.")
    known = sorted(issue.comments, key=lambda one: (one.created, int(one.id)), reverse=order.startswith("-"))
    page, described = request.page(known, 50, PAGE_OF_COMMENTS)
    return 200, described | {"comments": [shapes.comment(request.site, issue, one) for one in page]}


def list_comments(request: ApiRequest) -> Answer:
    """Answer POST /comment/list with comments by id, with their properties if the query asks for them."""
    ids = request.fields("ids").get("ids")
    if not is_array(ids) or not all(isinstance(one, int) for one in ids):
        raise JiraRefusal(400, INVALID)
    everywhere = [(issue, one) for issue in request.site.visible(request.site.all_issues()) for one in issue.comments]
    found = [(issue, one) for issue, one in everywhere if int(one.id) in ids]
    wanted = "properties" in request.listed("expand")
    shown = [shapes.comment(request.site, issue, one, properties=wanted) for issue, one in found]
    return 200, {"startAt": 0, "maxResults": 1000, "total": len(shown), "isLast": True, "values": shown}


def get_comment(request: ApiRequest) -> Answer:
    """Answer GET /issue/{issue}/comment/{comment}."""
    issue, comment = _comment(request)
    return 200, shapes.comment(request.site, issue, comment)


def _comment(request: ApiRequest) -> tuple[Issue, Comment]:
    issue = request.site.issue(request.path["issue"])
    for comment in issue.comments:
        if comment.id == request.path["comment"]:
            return issue, comment
    raise JiraRefusal(404, f"Can not find a comment for the id: {request.path['comment']}.")


def get_property(request: ApiRequest) -> Answer:
    """Answer GET /issue/{issue}/properties/{property}."""
    issue = request.site.issue(request.path["issue"])
    name = request.path["property"]
    if name not in issue.properties:
        raise JiraRefusal(404, f"The property '{name}' does not exist.")
    return 200, {"key": name, "value": issue.properties[name]}


def put_property(request: ApiRequest) -> Answer:
    """Answer PUT /issue/{issue}/properties/{property}."""
    issue = request.site.issue(request.path["issue"])
    if request.people.set_property(issue, request.path["property"], request.body):
        return 201, None
    return 200, None


def get_remote_links(request: ApiRequest) -> Answer:
    """Answer GET /issue/{issue}/remotelink."""
    issue = request.site.issue(request.path["issue"])
    wanted = request.query.get("globalId")
    known = [one for one in issue.remote_links if wanted in (None, one.global_id)]
    return 200, [shapes.remote_link(request.site, issue, one) for one in known]


def post_remote_link(request: ApiRequest) -> Answer:
    """Answer POST /issue/{issue}/remotelink, which replaces a link with the same globalId."""
    issue = request.site.issue(request.path["issue"])
    body = request.fields("globalId", "application", "relationship", "object")
    target = object_of(body, "object")
    missing = {name: f"'{name}' is required." for name in ("title", "url") if not text_of(target, name)}
    if missing or len(text_of(target, "title")) > 255 or len(text_of(body, "globalId")) > 255:
        raise JiraRefusal(400, errors=missing or {"object": "A text is longer than 255 characters."})
    link, new = request.people.link_url(
        issue, text_of(body, "globalId"), text_of(target, "url"), text_of(target, "title")
    )
    answer = {"id": link.id, "self": shapes.remote_link(request.site, issue, link)["self"]}
    if new:
        return 201, answer
    return 200, answer


def post_issue_link(request: ApiRequest) -> Answer:
    """Answer POST /issueLink."""
    body = request.fields("type", "inwardIssue", "outwardIssue", "comment")
    kind = text_of(object_of(body, "type"), "name")
    if kind not in request.site.names.link_types:
        raise JiraRefusal(404, f"No issue link type with name '{kind}' found.")
    inward = request.site.issue(text_of(object_of(body, "inwardIssue"), "key"))
    outward = request.site.issue(text_of(object_of(body, "outwardIssue"), "key"))
    request.people.edit(request.site.account, inward, links=(*inward.links, (kind, outward.key)))
    return 201, None


def get_types(request: ApiRequest) -> Answer:
    """Answer GET /issue/createmeta/{project}/issuetypes."""
    project = request.site.project(request.path["project"])
    if project is None:
        raise JiraRefusal(404, f"No project could be found with key '{request.path['project']}'.")
    page, described = request.page(project.types, 50, 200)
    return 200, described | {"issueTypes": [shapes.issue_type(request.site, one) for one in page]}


def get_type_fields(request: ApiRequest) -> Answer:
    """Answer GET /issue/createmeta/{project}/issuetypes/{type}."""
    kind = _issue_type(request)
    needed = {"project", "issuetype", "summary", *kind.required}
    every: list[dict[str, object]] = [
        {
            "fieldId": name,
            "key": name,
            "name": name.capitalize(),
            "required": name in needed,
            "hasDefaultValue": False,
            "schema": schema | {"system": name},
        }
        for name, schema in _SYSTEM.items()
        if name not in kind.without
    ]
    for one in every:
        if one["key"] == "priority":
            one["allowedValues"] = [shapes.priority(request.site, name) for name in request.site.names.priorities]
    page, about = request.page([*every, *map(described, kind.fields)], 50, 200)
    return 200, about | {"fields": list(page)}


def _issue_type(request: ApiRequest) -> IssueType:
    project = request.site.project(request.path["project"])
    if project:
        for kind in project.types:
            if kind.id == request.path["type"]:
                return kind
    raise JiraRefusal(404, "No issue type could be found.")


def fetch_properties(request: ApiRequest) -> Answer:
    """Answer GET /issue/{issue}/properties."""
    issue = request.site.issue(request.path["issue"])
    return 200, {"keys": [{"key": name} for name in issue.properties]}


_TABLE: Mapping[str, Callable[[ApiRequest], Answer]] = {
    "GET /myself": searching.myself,
    "GET /user": searching.user,
    "GET /user/search": searching.users,
    "GET /project/search": searching.projects,
    "GET /search/jql": searching.search_by_query,
    "POST /search/jql": searching.search_by_body,
    "GET /search": searching.removed,
    "POST /search": searching.removed,
    "POST /issue": writing.create_issue,
    "POST /issue/bulkfetch": searching.bulk_fetch,
    "GET /issue/createmeta/{project}/issuetypes": get_types,
    "GET /issue/createmeta/{project}/issuetypes/{type}": get_type_fields,
    "POST /issueLink": post_issue_link,
    "POST /comment/list": list_comments,
    "GET /attachment/{attachment}": get_attachment,
    "GET /issue/{issue}": get_issue,
    "PUT /issue/{issue}": writing.edit_issue,
    "GET /issue/{issue}/transitions": get_transitions,
    "POST /issue/{issue}/transitions": post_transition,
    "GET /issue/{issue}/comment": get_comments,
    "POST /issue/{issue}/comment": writing.add_comment,
    "GET /issue/{issue}/comment/{comment}": get_comment,
    "GET /issue/{issue}/properties": fetch_properties,
    "GET /issue/{issue}/properties/{property}": get_property,
    "PUT /issue/{issue}/properties/{property}": put_property,
    "GET /issue/{issue}/remotelink": get_remote_links,
    "POST /issue/{issue}/remotelink": post_remote_link,
}
RESOURCES = tuple(resource(line, run) for line, run in _TABLE.items())
"""The resources below /rest/api/3."""
