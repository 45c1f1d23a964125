"""The files that people and the bot share in the simulated Slack, and their descriptions in messages."""

from dataclasses import replace
from urllib.parse import quote

from gofer_simulators.json_values import JsonObject, objects
from gofer_simulators.slack.shapes import stable_id
from gofer_simulators.slack.timestamps import order
from gofer_simulators.slack.workspace import File, Workspace

FILES_AT = "https://files.slack.com"
"""The origin of file addresses in events and messages."""


def store_file(
    workspace: Workspace, user: str, name: str, content: bytes, mimetype: str, mode: str = "hosted"
) -> JsonObject:
    """Store a file that a user shares. Return the file as messages show it."""
    created = order(workspace.next_ts()) // 1_000_000
    id_ = f"F{stable_id(name, str(len(workspace.files)))}"
    file = File(id_, name, len(content), content, shared=True, mimetype=mimetype, user=user, mode=mode, created=created)
    workspace.files[file.id] = file
    return file_shape(workspace, file)


def delete_file(workspace: Workspace, file_id: str) -> None:
    """Delete the bytes of a file; messages show a tombstone in its place."""
    file = workspace.files[file_id]
    workspace.files[file_id] = replace(file, mode="tombstone", content=None)
    for message in workspace.all_messages():
        shown = objects(message.extra.get("files"))
        places = [place for place, one in enumerate(shown) if one.get("id") == file_id]
        if not places:
            continue
        for place in places:
            shown[place] = {"id": file_id, "mode": "tombstone"}
        workspace.put(replace(message, extra={**message.extra, "files": shown}))


def file_shape(workspace: Workspace, file: File, origin: str = FILES_AT) -> JsonObject:
    """Return the description of a file, with addresses at `origin`."""
    ending = file.name.rpartition(".")[2].lower()
    user = file.user or workspace.bot.user
    title = file.title or file.name
    if file.mode == "hidden_by_limit":
        return {"id": file.id, "mode": file.mode, "name": file.name, "title": title, "user": user}
    at = f"{origin}/files-pri/{workspace.team.id}-{file.id}"
    external = file.mode == "external"
    private = f"{at}/{quote(file.name)}"
    external_type = ""
    if external:
        private = f"https://elsewhere.example/{quote(file.name)}"
        external_type = "gdrive"
    shape: JsonObject = {
        "id": file.id,
        "created": file.created,
        "timestamp": file.created,
        "name": file.name,
        "title": title,
        "mimetype": file.mimetype,
        "filetype": {"md": "markdown", "txt": "text"}.get(ending, ending),
        "pretty_type": ending.upper(),
        "user": user,
        "user_team": workspace.team.id,
        "editable": False,
        "size": file.length,
        "mode": file.mode,
        "is_external": external,
        "external_type": external_type,
        "is_public": True,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": private,
        "permalink": f"https://{workspace.team.domain}.slack.com/files/{user}/{file.id}/{quote(file.name)}",
        "has_rich_preview": False,
        "file_access": "visible",
    }
    if external:
        return shape
    return shape | {"url_private_download": f"{at}/download/{quote(file.name)}"}
