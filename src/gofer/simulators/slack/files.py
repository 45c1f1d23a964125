"""How does a file get into the simulated Slack: an address, the bytes sent there, the upload completed?"""

from dataclasses import replace

from gofer.simulators.json_values import objects, text_of
from gofer.simulators.slack.arguments import Arguments
from gofer.simulators.slack.backend import Answer, Backend
from gofer.simulators.slack.envelopes import message_envelopes
from gofer.simulators.slack.shapes import stable_id
from gofer.simulators.slack.timestamps import micros
from gofer.simulators.slack.workspace import Channel, File, Message, SlackRefusal, Workspace

MAX_BYTES = 1_000_000_000


def get_upload_url(backend: Backend, arguments: Arguments) -> Answer:
    """`files.getUploadURLExternal`: an address for so many bytes under a name."""
    workspace, length = backend.workspace, arguments.text("length")
    name = arguments.required("filename")
    if not length.isdecimal() or int(length) == 0:
        raise SlackRefusal("missing_argument")
    if int(length) > MAX_BYTES:
        raise SlackRefusal("file_upload_size_restricted")
    file = File(f"F{stable_id(name, str(len(workspace.files)))}", name, int(length))
    workspace.files[file.id] = file
    return {"upload_url": f"{backend.origin}/upload/v1/{file.id}", "file_id": file.id}


def receive(workspace: Workspace, file_id: str, content: bytes) -> File:
    """The bytes of a file arrive at its address, which needs no token."""
    file = workspace.files.get(file_id)
    if file is None or len(content) != file.length:
        raise SlackRefusal("file_not_found" if file is None else "length_mismatch")
    workspace.files[file_id] = replace(file, content=content)
    return workspace.files[file_id]


def complete_upload(backend: Backend, arguments: Arguments) -> Answer:
    """`files.completeUploadExternal`: shares uploaded files in a channel or a thread, in one message."""
    workspace = backend.workspace
    wanted = objects(arguments.json("files", "invalid_arguments"))
    if not wanted:
        raise SlackRefusal("invalid_arguments", "[ERROR] missing required field: files")
    channel = _channel(backend, arguments)
    thread_ts = arguments.text("thread_ts") or None
    if thread_ts and micros(thread_ts) is None:
        raise SlackRefusal("invalid_thread_ts")
    shown = [_completed(workspace, text_of(one, "id"), text_of(one, "title")) for one in wanted]
    if channel:
        bot, comment = workspace.bot, arguments.text("initial_comment")
        extra: Answer = {"subtype": "file_share", "files": shown}
        draft = Message(channel.id, "", bot.user, comment, thread_ts, bot.bot_id, extra=extra)
        backend.delivery.announce(message_envelopes(workspace, workspace.post(draft)))
    return {"files": shown}


def _channel(backend: Backend, arguments: Arguments) -> Channel | None:
    asked = arguments.text("channel_id")
    if not asked:
        return None
    channel = backend.workspace.channels.get(asked)
    if channel is None or (channel.kind != "channel" and backend.workspace.bot.user not in channel.members):
        raise SlackRefusal("invalid_channel")
    if backend.workspace.bot.user not in channel.members:
        raise SlackRefusal("not_in_channel")
    return channel


def uploaded(workspace: Workspace, user: str, name: str, content: bytes, mimetype: str) -> Answer:
    """A file that a person shares; how messages show it."""
    file = File(f"F{stable_id(name, str(len(workspace.files)))}", name, len(content), content, shared=True)
    workspace.files[file.id] = file
    return _completed(workspace, file.id, name) | {"user": user, "mimetype": mimetype}


def _completed(workspace: Workspace, file_id: str, title: str) -> Answer:
    file = workspace.files.get(file_id)
    if file is None or file.content is None:
        raise SlackRefusal("file_not_found")
    workspace.files[file_id] = replace(file, shared=True)
    ending = file.name.rpartition(".")[2].lower()
    return {
        "id": file.id,
        "name": file.name,
        "title": title or file.name,
        "mimetype": "text/plain",
        "filetype": {"md": "markdown", "txt": "text"}.get(ending, ending),
        "user": workspace.bot.user,
        "size": len(file.content),
        "mode": "hosted",
        "permalink": f"https://{workspace.team.domain}.slack.com/files/{workspace.bot.user}/{file.id}/{file.name}",
    }
