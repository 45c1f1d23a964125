"""The setup of a workspace for a recorded event: the channel, the people and the message that the event names."""

from dataclasses import replace

from gofer_simulators.json_values import JsonObject, object_of, objects, text_of
from gofer_simulators.slack.timestamps import micros
from gofer_simulators.slack.workspace import Channel, ChannelKind, Message, User, Workspace

_KINDS: dict[str, ChannelKind] = {
    "group": "group",
    "im": "im",
    "mpim": "mpim",
    "app_home": "im",
    "G": "group",
}
_KEPT = ("subtype", "files", "attachments", "username")


def add_recorded(workspace: Workspace, envelope: JsonObject) -> None:
    """Add the channel, the people and the message of an `event_callback` if the workspace does not have them."""
    event = object_of(envelope, "event")
    inner = object_of(event, "message") or object_of(event, "previous_message") or event
    item = object_of(event, "item")
    channel_id = _channel_id(event) or text_of(item, "channel")
    people = [text_of(source, key) for source in (event, inner) for key in ("user", "item_user", "parent_user_id")]
    for person in dict.fromkeys(filter(None, people)):
        _add_user(workspace, person)
    if not channel_id:
        return
    _add_channel(workspace, channel_id, event, people)
    if item:
        _add_message(workspace, channel_id, {"ts": text_of(item, "ts"), "user": text_of(event, "item_user")})
    else:
        _add_message(workspace, channel_id, inner)


def _channel_id(event: JsonObject) -> str:
    return text_of(event, "channel") or text_of(object_of(event, "channel"), "id")


def _add_user(workspace: Workspace, user_id: str) -> None:
    if user_id not in workspace.users:
        workspace.users[user_id] = User(id=user_id, name=user_id, real_name=user_id)


def _add_channel(workspace: Workspace, channel_id: str, event: JsonObject, people: list[str]) -> None:
    members = tuple(dict.fromkeys([workspace.bot.user, *filter(None, people)]))
    known = workspace.channels.get(channel_id)
    if known:
        added = tuple(member for member in members if member not in known.members)
        workspace.channels[channel_id] = replace(known, members=known.members + added)
        return
    described = object_of(event, "channel")
    kind = _KINDS.get(text_of(event, "channel_type"))
    if kind is None:
        private = channel_id.startswith("G") or described.get("is_private") is True
        kind = "channel"
        if channel_id.startswith("D"):
            kind = "im"
        elif private:
            kind = "group"
    name = text_of(described, "name") or channel_id.lower()
    workspace.channels[channel_id] = Channel(channel_id, name, kind, members)


def _add_message(workspace: Workspace, channel_id: str, body: JsonObject) -> None:
    ts = text_of(body, "ts")
    thread_ts = text_of(body, "thread_ts") or None
    if micros(ts) is None or workspace.find(channel_id, ts):
        return
    if thread_ts and micros(thread_ts) is not None and not workspace.find(channel_id, thread_ts) and thread_ts != ts:
        workspace.put(
            Message(
                channel=channel_id, ts=thread_ts, user=text_of(body, "parent_user_id"), text="", thread_ts=thread_ts
            )
        )
    message = Message(
        channel=channel_id,
        ts=ts,
        user=text_of(body, "user"),
        text=text_of(body, "text"),
        thread_ts=thread_ts,
        bot_id=text_of(body, "bot_id") or None,
        blocks=tuple(objects(body.get("blocks"))),
        metadata=object_of(body, "metadata") or None,
        extra={key: body[key] for key in _KEPT if body.get(key)},
    )
    workspace.put(message)
