"""The calls for pages: get, create, change properties, trash, and the content as Markdown."""

from collections.abc import Callable
from urllib.parse import unquote

import gofer_simulators.notion.properties as properties
import gofer_simulators.notion.shapes as shapes
from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects, text_of
from gofer_simulators.notion.api_request import Answer, ApiRequest, id_of, invalid, listed, not_found
from gofer_simulators.notion.blocks import from_markdown, read_blocks, to_markdown
from gofer_simulators.notion.workspace import Database, Page, Workspace

_LISTS = ("title", "rich_text", "relation", "people")
_EDITS = ("update_content", "replace_content", "insert_content")


def get_page(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /pages/{id}."""
    request.permit(query="filter_properties")
    found = shapes.page(workspace, workspace.page(request.id()))
    wanted = request.query.get("filter_properties")
    if wanted:
        kept = object_of(found, "properties").items()
        found["properties"] = {name: one for name, one in kept if is_object(one) and one["id"] in wanted}
    return found


def get_property(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /pages/{id}/properties/{property}: all entries of a list page by page, or one value."""
    request.permit(query="page_size start_cursor")
    page = workspace.page(request.id())
    # The server has decoded the path, and pages show the ids with URL encoding.
    column = next((one for one in page.columns.values() if unquote(one.id) == request.path["property"]), None)
    if column is None:
        raise not_found("property", request.path["property"])
    value = properties.wire_value(
        column, shapes.value(workspace, page, column), lambda id_: shapes.user(workspace, id_)
    )
    item: Answer = {"object": "property_item", "id": column.id, "type": column.kind}
    if column.kind not in _LISTS or not is_array(value):
        return {**item, column.kind: value}
    # The cursor of a list is an id, so each item has its own until it is sent.
    items = [{**item, "id": str(place), column.kind: one} for place, one in enumerate(value)]
    found = listed(items, request, "property_item")
    sent = [{**one, "id": column.id} for one in objects(found["results"])]
    return {**found, "results": sent, "property_item": {"id": column.id, "type": column.kind, column.kind: {}}}


def create_page(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer POST /pages."""
    request.permit(body="parent properties children markdown")
    if "children" in request.body and "markdown" in request.body:
        raise invalid("body failed validation: markdown and children are mutually exclusive")
    database, above = _parent(workspace, object_of(request.body, "parent"))
    bot = workspace.bot
    markdown = text_of(request.body, "markdown")
    if markdown:
        blocks = from_markdown(markdown, workspace.new_id)
    else:
        blocks = read_blocks(request.body.get("children", []), workspace.new_id, workspace.name_of)
    draft = Page("", database, {}, [], ("", ""), ("", ""))
    return shapes.page(
        workspace, workspace.create(database, _values(workspace, draft, request.body), blocks, bot, above)
    )


def update_page(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer PATCH /pages/{id}."""
    request.permit(body="properties in_trash erase_content")
    page = workspace.page(request.id())
    if page.trashed and request.body.get("in_trash") is not False:
        raise invalid("Can't edit block that is archived. You must unarchive the block before editing.")
    if "in_trash" in request.body:
        workspace.trash(page, workspace.bot, trashed=request.body["in_trash"] is True)
    workspace.set_values(page, _values(workspace, page, request.body), workspace.bot)
    if request.body.get("erase_content") is True and page.blocks:
        gone = page.blocks
        page.blocks = []
        workspace.content_changed(page, gone, workspace.bot)
    return shapes.page(workspace, page)


def get_markdown(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer GET /pages/{id}/markdown."""
    request.permit(query="include_transcript")
    return _markdown(workspace.page(request.id()))


def update_markdown(workspace: Workspace, request: ApiRequest) -> Answer:
    """Answer PATCH /pages/{id}/markdown."""
    kind = text_of(request.body, "type")
    if kind not in _EDITS:
        raise invalid(f"body.type should be one of {', '.join(_EDITS)}")
    request.permit(body=f"type {kind}")
    page = workspace.page(request.id())
    fields = object_of(request.body, kind)
    edit: dict[str, Callable[[str, JsonObject], str]] = {
        "update_content": _replace_texts,
        "replace_content": lambda _, new: _text(new, "new_str"),
        "insert_content": _insert_content,
    }
    before = {to_markdown([block]): block for block in page.blocks}
    made = from_markdown(edit[kind](to_markdown(page.blocks), fields), workspace.new_id)
    # An unchanged block keeps its id, and therefore its comments.
    after = [before.pop(to_markdown([block]), block) for block in made]
    new = workspace.stamped([block for block in after if not block.created[0]], (workspace.now(), workspace.bot.id))
    page.blocks = after
    if changed := [*new, *before.values()]:
        workspace.content_changed(page, changed, workspace.bot)
    return _markdown(page)


def _markdown(page: Page) -> Answer:
    markdown = to_markdown(page.blocks)
    return {"object": "page_markdown", "id": page.id, "markdown": markdown, "truncated": False, "unknown_block_ids": []}


def _text(fields: JsonObject, name: str) -> str:
    if not isinstance(fields.get(name), str):
        raise invalid(f"body.{name} should be a string")
    return text_of(fields, name)


def _replace_texts(markdown: str, fields: JsonObject) -> str:
    for update in objects(fields.get("content_updates")):
        old = _text(update, "old_str")
        new = _text(update, "new_str")
        count = 0
        if old:
            count = markdown.count(old)
        if count == 0 or (count > 1 and update.get("replace_all_matches") is not True):
            raise invalid(f"old_str was found {count} times in the page; it should be found once")
        markdown = markdown.replace(old, new)
    return markdown


def _insert_content(markdown: str, fields: JsonObject) -> str:
    if set(fields) - {"content", "position"}:
        raise invalid("body.insert_content takes content and position")
    content = _text(fields, "content")
    parts = [markdown, content]
    if object_of(fields, "position").get("type") == "start":
        parts = [content, markdown]
    return "\n".join(filter(None, parts))


def _parent(workspace: Workspace, parent: JsonObject) -> tuple[Database | None, str]:
    if page_id := text_of(parent, "page_id"):
        return None, workspace.page(id_of(page_id)).id
    source = id_of(parent.get("data_source_id"))
    for database in workspace.databases.values():
        if database.source == source and database.shared:
            return database, ""
    raise not_found("data_source", source)


def _values(workspace: Workspace, page: Page, body: JsonObject) -> dict[str, object]:
    """Return the values of a request by property name. A request names a property by its name or its id."""
    by_id = {column.id: column for column in page.columns.values()}
    values: dict[str, object] = {}
    for name, value in object_of(body, "properties").items():
        column = page.columns.get(name) or by_id.get(name)
        if column is None:
            raise invalid(f"{name} is not a property that exists.")
        values[column.name] = properties.read(column, value, workspace.name_of)
    return values
