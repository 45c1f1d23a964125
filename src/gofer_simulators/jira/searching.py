"""The resources of Jira's REST API that search and list issues, people and projects."""

import base64
import json
from collections.abc import Mapping, Sequence

import gofer_simulators.jira.shapes as shapes
from gofer_simulators.jira.api_request import INVALID, ApiRequest, named
from gofer_simulators.jira.jql import search
from gofer_simulators.jira.site import JiraRefusal
from gofer_simulators.json_values import is_array, text_of

Answer = tuple[int, object]
MOST_ISSUES = 5000
MOST_RECONCILED = 50
_SEARCH = ("jql", "nextPageToken", "maxResults", "fields", "expand", "properties", "reconcileIssues", "fieldsByKeys")


def search_by_body(request: ApiRequest) -> Answer:
    """Answer POST /search/jql."""
    body = request.fields(*_SEARCH)
    reconciled = body.get("reconcileIssues", [])
    if not is_array(reconciled) or len(reconciled) > MOST_RECONCILED:
        raise JiraRefusal(400, INVALID)
    size = body.get("maxResults", 50)
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise JiraRefusal(400, INVALID)
    return _search(
        request,
        text_of(body, "jql"),
        text_of(body, "nextPageToken"),
        size,
        named(body, "fields"),
        named(body, "properties"),
        frozenset(str(one) for one in reconciled),
    )


def search_by_query(request: ApiRequest) -> Answer:
    """Answer GET /search/jql."""
    query: Mapping[str, str] = request.query
    size = request.number("maxResults", 50)
    token = query.get("nextPageToken", "")
    reconciled = frozenset(request.listed("reconcileIssues"))
    found = request.listed("fields"), request.listed("properties")
    return _search(request, query.get("jql", ""), token, size, *found, reconciled)


def removed(request: ApiRequest) -> Answer:
    """Refuse /search, which Jira removed."""
    raise JiraRefusal(410, "The requested API has been removed. Please migrate to the /rest/api/3/search/jql API.")


def bulk_fetch(request: ApiRequest) -> Answer:
    """Answer POST /issue/bulkfetch, which reads issues without the search index and leaves out unknown issues."""
    body = request.fields("issueIdsOrKeys", "fields", "properties", "expand", "fieldsByKeys")
    wanted = named(body, "issueIdsOrKeys")
    if not wanted or len(wanted) > 100:
        raise JiraRefusal(400, INVALID)
    found = {issue.id: issue for one in wanted if (issue := request.site.find(one))}
    chosen = named(body, "fields")
    properties = named(body, "properties")
    shown = [shapes.issue_json(request.site, found[key], chosen, properties) for key in sorted(found, key=int)]
    return 200, {"issues": shown, "issueErrors": []}


def myself(request: ApiRequest) -> Answer:
    """Answer GET /myself."""
    own = request.site.users[request.site.account]
    return 200, shapes.person(request.site, own) | {"emailAddress": own.email}


def users(request: ApiRequest) -> Answer:
    """Answer GET /user/search with people: their name, or a word in it, begins with the query.

    A whole e-mail address finds its person, although most profiles hide the address.
    """
    if "query" not in request.query:
        raise JiraRefusal(400, "The username query parameter was not provided")
    query = request.query["query"].lower()
    everybody = request.site.users.values()
    known = [user for user in everybody if _matches(user.name, query) or query in (user.account_id, user.email.lower())]
    page, _ = request.page(known, 50, 1000)
    return 200, [shapes.person(request.site, user) for user in page]


def user(request: ApiRequest) -> Answer:
    """Answer GET /user with the person of an account."""
    known = request.site.users.get(request.query.get("accountId", ""))
    if known is None:
        raise JiraRefusal(404, "Specified user does not exist or you do not have required permissions")
    return 200, shapes.person(request.site, known)


def projects(request: ApiRequest) -> Answer:
    """Answer GET /project/search."""
    known = sorted((one for one in request.site.projects.values() if not one.hidden), key=lambda one: one.key)
    page, described = request.page(known, 50, 100)
    end = request.number("startAt", 0) + len(page) >= len(known)
    return 200, described | {"isLast": end, "values": [shapes.project(request.site, one) for one in page]}


def _matches(name: str, query: str) -> bool:
    return any(part.startswith(query) for part in (name.lower(), *name.lower().split()))


def _search(
    request: ApiRequest,
    jql: str,
    token: str,
    size: int,
    fields: Sequence[str],
    properties: Sequence[str],
    reconciled: frozenset[str],
) -> Answer:
    found = search(request.site, jql, request.site.indexed(reconciled))
    start = _start(token, jql)
    page = found[start : start + min(size, MOST_ISSUES)]
    shown = [shapes.issue_json(request.site, issue, fields or ["id"], properties) for issue in page]
    if not fields:
        # If the request names no fields, Jira answers with ids only.
        shown = [{"id": one["id"]} for one in shown]
    answer: dict[str, object] = {"issues": shown, "isLast": start + len(page) >= len(found)}
    if not answer["isLast"]:
        answer["nextPageToken"] = _token(start + len(page), jql)
    return 200, answer


def _token(start: int, jql: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([start, jql]).encode()).decode()


def _start(token: str, jql: str) -> int:
    """Return the index at which a page begins. Raises JiraRefusal for the token of another query."""
    if not token:
        return 0
    try:
        start, query = json.loads(base64.urlsafe_b64decode(token))
    except ValueError as error:
        raise JiraRefusal(400, "The nextPageToken is invalid.") from error
    if query != jql:
        raise JiraRefusal(400, "The nextPageToken is invalid.")
    return int(start)
