"""The files of the simulated Slack: upload, description and deletion."""

from dataclasses import replace
from urllib.parse import quote

from gofer_simulators.json_values import objects, text_of
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.backend import Answer, Backend
from gofer_simulators.slack.envelopes import message_envelopes
from gofer_simulators.slack.shapes import stable_id
from gofer_simulators.slack.timestamps import order
from gofer_simulators.slack.workspace import Channel, File, SlackRefusal, Workspace

MAX_BYTES = 1_000_000_000
FILES_AT = "https://files.slack.com"
"""The origin of file addresses in events and messages."""


def get_upload_url(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `files.getUploadURLExternal` with an address for a file of the given name and length."""
    workspace = backend.workspace
    length = arguments.text("length")
    name = arguments.required("filename")
    if not length.isdecimal() or int(length) == 0:
        raise SlackRefusal("missing_argument")
    if int(length) > MAX_BYTES:
        raise SlackRefusal("file_upload_size_restricted")
    file = File(f"F{stable_id(name, str(len(workspace.files)))}", name, int(length))
    workspace.files[file.id] = file
    return {"upload_url": f"{backend.origin}/upload/v1/{file.id}", "file_id": file.id}


def store_upload(workspace: Workspace, file_id: str, content: bytes) -> File:
    """Store the bytes of an upload. Raises SlackRefusal for an unknown file or a wrong length."""
    file = workspace.files.get(file_id)
    if file is None:
        raise SlackRefusal("file_not_found")
    if len(content) != file.length:
        raise SlackRefusal("length_mismatch")
    workspace.files[file_id] = replace(file, content=content)
    return workspace.files[file_id]


def complete_upload(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `files.completeUploadExternal`, which shares uploaded files in one message."""
    workspace = backend.workspace
    listed = objects(arguments.json("files", "invalid_arguments"))
    if not listed:
        raise SlackRefusal("invalid_arguments", "[ERROR] missing required field: files")
    channel = _channel(backend, arguments)
    thread_ts = arguments.thread()
    shown = [_completed(workspace, text_of(one, "id"), text_of(one, "title")) for one in listed]
    if channel:
        draft = workspace.own_draft(channel, arguments.text("initial_comment"), thread_ts)
        message = workspace.post(replace(draft, extra={"subtype": "file_share", "files": shown}))
        backend.deliveries.announce(message_envelopes(workspace, message))
    return {"files": shown}


def _channel(backend: Backend, arguments: Arguments) -> Channel | None:
    channel_id = arguments.text("channel_id")
    if not channel_id:
        return None
    channel = backend.workspace.channels.get(channel_id)
    if channel is None or (channel.kind != "channel" and backend.workspace.bot.user not in channel.members):
        raise SlackRefusal("invalid_channel")
    if backend.workspace.bot.user not in channel.members:
        raise SlackRefusal("not_in_channel")
    return channel


def store_file(
    workspace: Workspace, user: str, name: str, content: bytes, mimetype: str, mode: str = "hosted"
) -> Answer:
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


def info(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `files.info` with the description of one file."""
    file = backend.workspace.files.get(arguments.required("file"))
    if file is None or not file.shared:
        raise SlackRefusal("file_not_found")
    if file.mode == "tombstone":
        raise SlackRefusal("file_deleted")
    return {"file": file_shape(backend.workspace, file, backend.origin), "comments": [], "response_metadata": {}}


def file_shape(workspace: Workspace, file: File, origin: str = FILES_AT) -> Answer:
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
    shape: Answer = {
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


def _completed(workspace: Workspace, file_id: str, title: str) -> Answer:
    file = workspace.files.get(file_id)
    if file is None or file.content is None:
        raise SlackRefusal("file_not_found")
    created = order(workspace.next_ts()) // 1_000_000
    workspace.files[file_id] = replace(file, shared=True, title=title, created=created)
    return file_shape(workspace, workspace.files[file_id])
