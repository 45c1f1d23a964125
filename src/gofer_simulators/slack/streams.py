"""Messages that stream: `chat.startStream`, `chat.appendStream` and `chat.stopStream`.

In a channel only the recipient watches a stream grow. Slack closes a stream after about five minutes.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gofer_simulators.json_values import JsonObject, is_array, is_object, objects, text_of
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.backend import Answer, Backend
from gofer_simulators.slack.block_forms import TASK_STATES
from gofer_simulators.slack.content import MAX_BLOCKS, MAX_MARKDOWN, check_size, checked_blocks, metadata_of, with_id
from gofer_simulators.slack.envelopes import change_envelopes, message_envelopes
from gofer_simulators.slack.markdown import units
from gofer_simulators.slack.sessions import put_status, session_status
from gofer_simulators.slack.shapes import fallback_text, message_body
from gofer_simulators.slack.workspace import Channel, Message, SlackRefusal, Stream, Workspace

EXPIRES: Final = 300_000_000
"""Microseconds after which Slack closes a stream; reported from real workspaces, about five minutes."""
MAX_CHUNK = 256
"""Most characters of the title of a task or a plan in one chunk."""
_MODES = ("timeline", "plan", "dense")
_CHUNKS: Mapping[str, tuple[str, ...]] = {
    "markdown_text": ("text",),
    "task_update": ("id", "title", "status"),
    "plan_update": ("title",),
    "blocks": (),
}
"""The required texts of each type of chunk."""


def start(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `chat.startStream`."""
    workspace = backend.workspace
    channel = backend.joined_channel(arguments)
    recipient = _recipient(workspace, channel, arguments)
    mode = arguments.text("task_display_mode") or "timeline"
    if mode not in _MODES:
        raise SlackRefusal("invalid_arguments", "[ERROR] invalid value of: task_display_mode")
    kind, parts = _parts(arguments)
    stream = Stream(recipient, workspace.now(), mode, kind, parts)
    blocks = _blocks(stream)
    draft = workspace.own_draft(channel, fallback_text(blocks), arguments.thread())
    message = workspace.post(replace(draft, blocks=blocks, extra={"streaming_state": "in_progress"}))
    workspace.streams[channel.id, message.ts] = replace(stream, first=blocks)
    if workspace.bot.agent:
        put_status(workspace, (channel.id, workspace.parent(message).ts), "processing")
    backend.deliveries.announce(message_envelopes(workspace, message))
    return {"channel": channel.id, "ts": message.ts}


def append(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `chat.appendStream`."""
    message, stream = _open_stream(backend, arguments)
    if stream.stopped:
        raise SlackRefusal("stopped_by_user")
    kind, parts = _parts(arguments, stream.kind)
    if not parts:
        raise SlackRefusal("invalid_arguments", "[ERROR] missing required field: markdown_text or chunks")
    grown = replace(stream, kind=kind, parts=(*stream.parts, *parts))
    _show(backend, message, _blocks(grown), "in_progress")
    # The first chunk is what others see, also of a stream that began empty.
    backend.workspace.streams[message.channel, message.ts] = replace(grown, first=stream.first or _blocks(grown))
    return {"channel": message.channel, "ts": message.ts}


def stop(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `chat.stopStream`: show the whole message to all, with further blocks below it."""
    workspace = backend.workspace
    message, stream = _open_stream(backend, arguments)
    status = session_status(arguments.text("session_status") or "active")
    kind, parts = _parts(arguments, stream.kind)
    own = arguments.blocks() or []
    if len(own) > MAX_BLOCKS:
        raise SlackRefusal("too_many_blocks")
    blocks = (*_blocks(replace(stream, kind=kind, parts=(*stream.parts, *parts))), *checked_blocks(own))
    metadata = metadata_of(arguments)
    del workspace.streams[message.channel, message.ts]
    after = _show(backend, replace(message, metadata=metadata), blocks, "completed")
    if workspace.bot.agent:
        put_status(workspace, (message.channel, workspace.parent(message).ts), status)
    return {"channel": after.channel, "ts": after.ts, "message": message_body(workspace, after)}


def close_expired(workspace: Workspace) -> None:
    """Close the streams that are too old; what was sent so far stands."""
    for (channel, ts), stream in list(workspace.streams.items()):
        if workspace.now() - stream.started > EXPIRES:
            del workspace.streams[channel, ts]
            message = workspace.message(channel, ts)
            workspace.put(replace(message, extra={**message.extra, "streaming_state": "errored"}))


def stopped_by_person(workspace: Workspace, parent: Message) -> None:
    """Refuse further chunks in a thread in which a person pressed Stop."""
    for message in (parent, *workspace.replies(parent)):
        if stream := workspace.streams.get((message.channel, message.ts)):
            workspace.streams[message.channel, message.ts] = replace(stream, stopped=True)


def seen_by(workspace: Workspace, message: Message, person: str) -> Message:
    """Return a message as a person sees it: others than the recipient see only the first chunk of a stream."""
    stream = workspace.streams.get((message.channel, message.ts))
    if stream is None or stream.recipient in ("", person):
        return message
    return replace(message, blocks=stream.first, text=fallback_text(stream.first))


def _recipient(workspace: Workspace, channel: Channel, arguments: Arguments) -> str:
    """Return the person who watches the stream, empty in a direct message."""
    if channel.kind == "im":
        if workspace.bot.messages == "off":
            raise SlackRefusal("messages_tab_disabled")
        arguments.required("thread_ts")
        return ""
    if not arguments.text("recipient_user_id"):
        raise SlackRefusal("missing_recipient_user_id")
    if not arguments.text("recipient_team_id"):
        raise SlackRefusal("missing_recipient_team_id")
    return arguments.text("recipient_user_id")


def _open_stream(backend: Backend, arguments: Arguments) -> tuple[Message, Stream]:
    message = backend.message(arguments, "ts")
    if message.bot_id != backend.workspace.bot.bot_id:
        raise SlackRefusal("message_not_owned_by_app")
    stream = backend.workspace.streams.get((message.channel, message.ts))
    if stream is None:
        raise SlackRefusal("message_not_in_streaming_state")
    return message, stream


def _parts(arguments: Arguments, kind: str = "") -> tuple[str, tuple[JsonObject, ...]]:
    """Return the kind of a stream with this call, and the chunks of the call. Raises SlackRefusal."""
    markdown = arguments.text("markdown_text")
    chunks = arguments.json("chunks", "invalid_chunks")
    if len({kind, "markdown_text" if markdown else "", "chunks" if chunks is not None else ""} - {""}) > 1:
        raise SlackRefusal("cannot_provide_both_markdown_text_and_chunks")
    if units(markdown) > MAX_MARKDOWN:
        raise SlackRefusal("msg_too_long")
    if markdown:
        return "markdown_text", ({"type": "markdown_text", "text": markdown},)
    if chunks is None:
        return kind, ()
    if not is_array(chunks) or not all(map(_is_chunk, chunks)):
        raise SlackRefusal("invalid_chunks")
    return "chunks", tuple(objects(chunks))


def _is_chunk(chunk: object) -> bool:
    if not is_object(chunk) or text_of(chunk, "type") not in _CHUNKS:
        return False
    kind = text_of(chunk, "type")
    if not all(text_of(chunk, name) for name in _CHUNKS[kind]) or len(text_of(chunk, "title")) > MAX_CHUNK:
        return False
    if kind == "task_update":
        return chunk["status"] in TASK_STATES
    return kind != "blocks" or is_array(chunk.get("blocks"))


def _blocks(stream: Stream) -> tuple[JsonObject, ...]:
    """Return the blocks of a stream: text, task cards where each task began, and the blocks of chunks.

    Details and output of a task are added to the earlier ones; its title and status replace them.
    """
    tasks: dict[str, dict[str, object]] = {}
    shown: list[JsonObject] = []
    title = ""
    for part in stream.parts:
        match part["type"]:
            case "markdown_text":
                _add_text(shown, text_of(part, "text"))
            case "task_update":
                if text_of(part, "id") not in tasks:
                    tasks[text_of(part, "id")] = {}
                    shown.append(tasks[text_of(part, "id")])
                _update(tasks[text_of(part, "id")], part)
            case "plan_update":
                title = text_of(part, "title")
            case _:
                shown += objects(part.get("blocks"))
    if len(shown) > MAX_BLOCKS:
        raise SlackRefusal("too_many_blocks")
    cards = [_card(task) for task in tasks.values()]
    if title or (stream.mode == "plan" and cards):
        rest = [block for block in shown if "task_id" not in block]
        shown = [{"type": "plan", "title": title or "Working", "tasks": cards}, *rest]
    else:
        shown = [_card(block) if "task_id" in block and "type" not in block else block for block in shown]
    others = [block for block in shown if block.get("type") != "markdown"]
    checked_blocks(others)
    check_size(shown, len(shown))
    return tuple(with_id(block, index) for index, block in enumerate(shown))


def _add_text(shown: list[JsonObject], words: str) -> None:
    if shown and shown[-1].get("type") == "markdown":
        words = text_of(shown.pop(), "text") + words
    shown.append({"type": "markdown", "text": words})


def _update(task: dict[str, object], part: JsonObject) -> None:
    task |= {"task_id": part["id"], "title": part["title"], "status": part["status"]}
    for name in ("details", "output"):
        if words := text_of(part, name):
            task[name] = f"{text_of(task, name)}{words}"
    if sources := objects(part.get("sources")):
        task["sources"] = sources


def _card(task: JsonObject) -> JsonObject:
    rich = {name: _rich(text_of(task, name)) for name in ("details", "output") if name in task}
    return {"type": "task_card", **task, **rich}


def _rich(words: str) -> JsonObject:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": words}]}
    return {"type": "rich_text", "elements": [section]}


def _show(backend: Backend, before: Message, blocks: tuple[JsonObject, ...], state: str) -> Message:
    """Store the message of a stream with its new blocks, and start to deliver the change."""
    extra = {**before.extra, "streaming_state": state}
    workspace = backend.workspace
    after = workspace.put(replace(before, blocks=blocks, text=fallback_text(blocks), extra=extra))
    backend.deliveries.announce(change_envelopes(workspace, before, after))
    return after
