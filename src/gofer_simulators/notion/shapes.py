"""Notion's pages, databases, users and comments as JSON, for answers."""

import gofer_simulators.notion.properties as properties
import gofer_simulators.notion.rich_text as rich_text
from gofer_simulators.json_values import objects, text_of
from gofer_simulators.notion.api_request import Answer
from gofer_simulators.notion.blocks import Block
from gofer_simulators.notion.workspace import Comment, Database, Page, User, Workspace


def user(workspace: Workspace, id_: str) -> Answer:
    """Return a user object by id. Raises NotionRefusal."""
    found = workspace.user(id_)
    return whole_user(workspace, found)


def whole_user(workspace: Workspace, found: User) -> Answer:
    """Return a user object."""
    shown: Answer = {"object": "user", "id": found.id, "name": found.name, "avatar_url": None}
    if found.bot:
        bot = {"owner": {"type": "workspace", "workspace": True}, "workspace_name": workspace.name}
        return shown | {"type": "bot", "bot": bot | {"workspace_id": workspace.id}}
    person: Answer = {}
    if found.email:
        person["email"] = found.email
    return shown | {"type": "person", "person": person}


def page(workspace: Workspace, shown: Page) -> Answer:
    """Return a page object."""
    return {
        "object": "page",
        "id": shown.id,
        "created_time": shown.created[0],
        "created_by": _user_reference(shown.created[1]),
        "last_edited_time": shown.edited[0],
        "last_edited_by": _user_reference(shown.edited[1]),
        "parent": _parent(shown),
        "in_trash": shown.trashed,
        "is_locked": False,
        "icon": None,
        "cover": None,
        "properties": {
            name: properties.property_shape(column, value(workspace, shown, column), lambda id_: user(workspace, id_))
            for name, column in shown.columns.items()
        },
        "url": f"https://www.notion.so/{shown.id.replace('-', '')}",
        "public_url": None,
    }


def value(workspace: Workspace, shown: Page, column: properties.Property) -> object:
    """Return the value of a property, with the addresses of the files that Notion stores."""
    found = shown.values[column.name]
    if column.kind != "files":
        return found
    stored = {file.id: file for file in workspace.property_files(shown)}
    return [
        {"name": one["name"], "type": "file", "file": workspace.address(stored[text_of(one, "id")])}
        if "text" in one
        else {"type": "external", **one}
        for one in objects(found)
    ]


def _parent(shown: Page) -> Answer:
    if shown.database:
        source = shown.database
        return {"type": "data_source_id", "data_source_id": source.source, "database_id": source.id}
    if shown.parent:
        return {"type": "page_id", "page_id": shown.parent}
    return {"type": "workspace", "workspace": True}


def database(shown: Database) -> Answer:
    """Return a database object."""
    return {
        "object": "database",
        "id": shown.id,
        "title": [rich_text.text(shown.name)],
        "parent": {"type": "workspace", "workspace": True},
        "in_trash": False,
        "is_inline": False,
        "data_sources": [{"id": shown.source, "name": shown.name}],
        "url": f"https://www.notion.so/{shown.id.replace('-', '')}",
        "public_url": None,
    }


def data_source(shown: Database) -> Answer:
    """Return a data source object with its schema."""
    return {
        "object": "data_source",
        "id": shown.source,
        "title": [rich_text.text(shown.name)],
        "parent": {"type": "database_id", "database_id": shown.id},
        "database_parent": {"type": "workspace", "workspace": True},
        "in_trash": False,
        "properties": {name: column.schema() for name, column in shown.columns.items()},
        "url": f"https://www.notion.so/{shown.id.replace('-', '')}",
        "public_url": None,
    }


def block(workspace: Workspace, shown: Block, parent: Answer) -> Answer:
    """Return a block object without its children. The address of a file expires after an hour."""
    content = shown.content()
    if shown.file:
        content |= {"type": "file", "file": workspace.address(shown), "caption": []}
        if shown.type == "file":
            content["name"] = shown.file[0]
    return {
        "object": "block",
        "id": shown.id,
        "parent": parent,
        "created_time": shown.created[0],
        "created_by": _user_reference(shown.created[1]),
        "last_edited_time": shown.created[0],
        "last_edited_by": _user_reference(shown.created[1]),
        # The copy of a synced block has blocks, which Notion lists at the original only.
        "has_children": bool(shown.children) or bool(shown.fields.get("synced_from")),
        "in_trash": False,
        "type": shown.type,
        shown.type: content,
    }


def comment(workspace: Workspace, shown: Comment) -> Answer:
    """Return a comment object."""
    by = workspace.user(shown.created[1])
    parent: Answer = {"type": "page_id", "page_id": shown.page}
    if shown.block:
        parent = {"type": "block_id", "block_id": shown.block}
    return {
        "object": "comment",
        "id": shown.id,
        "parent": parent,
        "discussion_id": shown.discussion,
        "created_time": shown.created[0],
        "last_edited_time": shown.created[0],
        "created_by": _user_reference(by.id),
        "rich_text": shown.texts,
        "display_name": {"type": "integration" if by.bot else "user", "resolved_name": by.name},
        "attachments": [{"category": one.type, "file": workspace.address(one)} for one in shown.files],
    }


def _user_reference(id_: str) -> Answer:
    return {"object": "user", "id": id_}
