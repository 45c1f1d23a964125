"""The calls of the simulated Slack about files: upload and description."""

from dataclasses import replace

from gofer_simulators.json_values import JsonObject, objects, text_of
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.backend import Answer, Backend
from gofer_simulators.slack.envelopes import message_envelopes
from gofer_simulators.slack.shapes import stable_id
from gofer_simulators.slack.shared_files import file_shape
from gofer_simulators.slack.timestamps import order
from gofer_simulators.slack.workspace import Channel, File, SlackRefusal, Workspace

MAX_BYTES = 1_000_000_000


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


def info(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `files.info` with the description of one file."""
    file = backend.workspace.files.get(arguments.required("file"))
    if file is None or not file.shared:
        raise SlackRefusal("file_not_found")
    if file.mode == "tombstone":
        raise SlackRefusal("file_deleted")
    return {"file": file_shape(backend.workspace, file, backend.origin), "comments": [], "response_metadata": {}}


def _completed(workspace: Workspace, file_id: str, title: str) -> JsonObject:
    file = workspace.files.get(file_id)
    if file is None or file.content is None:
        raise SlackRefusal("file_not_found")
    created = order(workspace.next_ts()) // 1_000_000
    workspace.files[file_id] = replace(file, shared=True, title=title, created=created)
    return file_shape(workspace, workspace.files[file_id])
