"""The calls for databases, data sources, search and users."""

from collections.abc import Sequence

import gofer_simulators.notion.properties as properties
import gofer_simulators.notion.shapes as shapes
from gofer_simulators.json_values import JsonObject, object_of, objects, text_of
from gofer_simulators.notion.api_request import Answer, ApiRequest, invalid, listed, not_found
from gofer_simulators.notion.workspace import Database, Page, Workspace


def get_database(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /databases/{id}."""
    request.permit()
    database = workspace.databases.get(request.id())
    if database is None or not database.shared:
        raise not_found("database", request.id())
    return shapes.database(database)


def get_data_source(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /data_sources/{id}."""
    request.permit()
    return shapes.data_source(_source(workspace, request))


def query_data_source(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer POST /data_sources/{id}/query."""
    request.permit(body="filter sorts page_size start_cursor in_trash result_type", query="filter_properties")
    database = _source(workspace, request)
    trashed = request.body.get("in_trash") is True
    shared = [page for page in workspace.pages.values() if page.shared]
    rows = [page for page in shared if page.database is database and page.trashed is trashed]
    if "filter" in request.body:
        condition = object_of(request.body, "filter")
        properties.check_filter(condition, database.columns)
        rows = [page for page in rows if properties.matches(condition, page.values, database.columns)]
    for sort in reversed(objects(request.body.get("sorts"))):
        rows = _sorted(rows, sort, database)
    found = listed([shapes.page(workspace, page) for page in rows], request, "page_or_data_source")
    return found | {"request_status": {"type": "complete"}}


def search(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer POST /search, which compares the query with titles only."""
    request.permit(body="query filter sort page_size start_cursor")
    condition = object_of(request.body, "filter")
    kind = condition.get("value")
    if condition and (condition.get("property") != "object" or kind not in ("page", "data_source")):
        raise invalid("body.filter.value should be `page` or `data_source`")
    words = text_of(request.body, "query").casefold()
    pages = [
        one for one in workspace.pages.values() if one.shared and not one.trashed and words in one.title.casefold()
    ]
    sources = [one for one in workspace.databases.values() if one.shared and words in one.name.casefold()]
    pages.sort(key=lambda one: one.edited[0], reverse=object_of(request.body, "sort").get("direction") != "ascending")
    found: list[Answer] = []
    if kind != "page":
        found += [shapes.data_source(one) for one in sources]
    if kind != "data_source":
        found += [shapes.page(workspace, one) for one in pages]
    return listed(found, request, "page_or_data_source")


def list_users(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /users, without guests."""
    request.permit(query="page_size start_cursor")
    found = [shapes.whole_user(workspace, one) for one in workspace.users.values() if not one.guest]
    return listed(found, request, "user")


def get_user(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /users/{id}."""
    request.permit()
    return shapes.user(workspace, request.id())


def get_me(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /users/me."""
    request.permit()
    return shapes.whole_user(workspace, workspace.bot)


def _source(workspace: Workspace, request: ApiRequest) -> Database:
    for database in workspace.databases.values():
        if database.source == request.id() and database.shared:
            return database
    raise not_found("data_source", request.id())


def _sorted(rows: Sequence[Page], sort: JsonObject, database: Database) -> list[Page]:
    name = text_of(sort, "property")
    stamp = text_of(sort, "timestamp")
    descending = sort.get("direction") == "descending"
    if name in database.columns:
        return sorted(rows, key=lambda page: str(page.values[name] or ""), reverse=descending)
    if stamp not in ("created_time", "last_edited_time"):
        raise invalid("body.sorts should name a property or a timestamp")
    if stamp == "created_time":
        return sorted(rows, key=lambda page: page.created[0], reverse=descending)
    return sorted(rows, key=lambda page: page.edited[0], reverse=descending)
