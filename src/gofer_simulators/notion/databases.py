"""The calls for databases, data sources, search and users."""

from collections.abc import Sequence

import gofer_simulators.notion.properties as properties
import gofer_simulators.notion.shapes as shapes
from gofer_simulators.json_values import JsonObject, object_of, objects, text_of
from gofer_simulators.notion.ask import Answer, Ask, invalid, listed, not_found
from gofer_simulators.notion.workspace import Database, Page, Workspace


def get_database(workspace: Workspace, ask: Ask) -> Answer:
    """Answer GET /databases/{id}."""
    ask.only()
    database = workspace.databases.get(ask.id())
    if database is None or not database.shared:
        raise not_found("database", ask.id())
    return shapes.database(database)


def get_data_source(workspace: Workspace, ask: Ask) -> Answer:
    """Answer GET /data_sources/{id}."""
    ask.only()
    return shapes.data_source(_source(workspace, ask))


def query_data_source(workspace: Workspace, ask: Ask) -> Answer:
    """Answer POST /data_sources/{id}/query."""
    ask.only(body="filter sorts page_size start_cursor in_trash result_type", query="filter_properties")
    database = _source(workspace, ask)
    trashed = ask.body.get("in_trash") is True
    shared = [page for page in workspace.pages.values() if page.shared]
    rows = [page for page in shared if page.database is database and page.trashed is trashed]
    if "filter" in ask.body:
        condition = object_of(ask.body, "filter")
        properties.check_filter(condition, database.columns)
        rows = [page for page in rows if properties.matches(condition, page.values, database.columns)]
    for sort in reversed(objects(ask.body.get("sorts"))):
        rows = _sorted(rows, sort, database)
    found = listed([shapes.page(workspace, page) for page in rows], ask, "page_or_data_source")
    return found | {"request_status": {"type": "complete"}}


def search(workspace: Workspace, ask: Ask) -> Answer:
    """Answer POST /search, which compares the query with titles only."""
    ask.only(body="query filter sort page_size start_cursor")
    condition = object_of(ask.body, "filter")
    kind = condition.get("value")
    if condition and (condition.get("property") != "object" or kind not in ("page", "data_source")):
        raise invalid("body.filter.value should be `page` or `data_source`")
    words = text_of(ask.body, "query").casefold()
    pages = [
        one for one in workspace.pages.values() if one.shared and not one.trashed and words in one.title.casefold()
    ]
    sources = [one for one in workspace.databases.values() if one.shared and words in one.name.casefold()]
    pages.sort(key=lambda one: one.edited[0], reverse=object_of(ask.body, "sort").get("direction") != "ascending")
    found: list[Answer] = []
    if kind != "page":
        found += [shapes.data_source(one) for one in sources]
    if kind != "data_source":
        found += [shapes.page(workspace, one) for one in pages]
    return listed(found, ask, "page_or_data_source")


def list_users(workspace: Workspace, ask: Ask) -> Answer:
    """Answer GET /users."""
    ask.only(query="page_size start_cursor")
    return listed([shapes.whole_user(workspace, one) for one in workspace.users.values()], ask, "user")


def get_user(workspace: Workspace, ask: Ask) -> Answer:
    """Answer GET /users/{id}."""
    ask.only()
    return shapes.user(workspace, ask.id())


def get_me(workspace: Workspace, ask: Ask) -> Answer:
    """Answer GET /users/me."""
    ask.only()
    return shapes.whole_user(workspace, workspace.bot)


def _source(workspace: Workspace, ask: Ask) -> Database:
    for database in workspace.databases.values():
        if database.source == ask.id() and database.shared:
            return database
    raise not_found("data_source", ask.id())


def _sorted(rows: Sequence[Page], sort: JsonObject, database: Database) -> list[Page]:
    name = text_of(sort, "property")
    stamp = text_of(sort, "timestamp")
    descending = sort.get("direction") == "descending"
    if name in database.columns:
        return sorted(rows, key=lambda page: str(page.values[name] or ""), reverse=descending)
    if stamp not in ("created_time", "last_edited_time"):
        raise invalid("body.sorts should name a property or a timestamp")
    return sorted(
        rows, key=lambda page: page.created[0] if stamp == "created_time" else page.edited[0], reverse=descending
    )
