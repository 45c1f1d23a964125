"""Presses of buttons, shortcuts, and messages that only one person sees."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gofer_simulators.json_values import JsonObject, object_of, objects, text_of
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.backend import Answer, Backend
from gofer_simulators.slack.content import content_of
from gofer_simulators.slack.shapes import message_body
from gofer_simulators.slack.workspace import Message, SlackRefusal, Workspace

RESPONSE_URL = "https://hooks.slack.com/actions/simulated"
_SELECTED: Mapping[str, str] = {
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
}
"""The field of the chosen value, by the type of element."""


def post_ephemeral(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `chat.postEphemeral`, which shows a message to one member of the channel."""
    workspace = backend.workspace
    channel = backend.joined_channel(arguments)
    user = arguments.required("user")
    if user not in workspace.users:
        raise SlackRefusal("user_not_found", user)
    if user not in channel.members:
        raise SlackRefusal("user_not_in_channel")
    content = content_of(arguments)
    if arguments.values.get("metadata") is not None:
        raise SlackRefusal("invalid_arguments", "[ERROR] no such argument: metadata")
    draft = workspace.own_draft(channel, content.text, arguments.thread())
    message = workspace.whisper(replace(draft, blocks=content.blocks, paged=content.mentions, only_for=user))
    return {"message_ts": message.ts}


def press_payload(workspace: Workspace, message: Message, action_id: str, user_id: str, value: str = "") -> JsonObject:
    """Return the `block_actions` payload of a press in a message.

    Raises SlackRefusal for a missing button, or for a message that the person cannot see.
    """
    if message.only_for not in ("", user_id):
        raise SlackRefusal("message_not_found", message.ts)
    action = _action(workspace, message.blocks, action_id, value)
    container: JsonObject = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": bool(message.only_for),
    }
    if message.thread_ts:
        container = {**container, "thread_ts": message.thread_ts}
    payload: dict[str, object] = {
        **_payload(workspace, "block_actions", user_id),
        "container": container,
        "channel": _channel(workspace, message),
        "state": {"values": {}},
        "response_url": RESPONSE_URL,
        "actions": [action],
    }
    # Slack does not store an ephemeral message, so the payload cannot contain it.
    if message.only_for:
        return payload
    return {**payload, "message": message_body(workspace, message)}


def home_press_payload(workspace: Workspace, action_id: str, user_id: str, value: str = "") -> JsonObject:
    """Return the `block_actions` payload of a press in a Home tab, which has a view and no message."""
    view = workspace.homes.get(user_id, {})
    action = _action(workspace, objects(view.get("blocks")), action_id, value)
    container = {"type": "view", "view_id": view.get("id")}
    common = _payload(workspace, "block_actions", user_id)
    return {**common, "container": container, "view": view, "state": {"values": {}}, "actions": [action]}


def shortcut_payload(workspace: Workspace, callback_id: str, user_id: str, message: Message | None) -> JsonObject:
    """Return the payload of a shortcut: `message_action` on a message, else `shortcut`. Raises SlackRefusal."""
    known = workspace.bot.shortcuts
    if (known is not None and callback_id not in known) or (message and message.only_for):
        raise SlackRefusal("shortcut_not_found", callback_id)
    kind = "message_action" if message else "shortcut"
    payload = {**_payload(workspace, kind, user_id), "callback_id": callback_id, "action_ts": workspace.next_ts()}
    if message is None:
        return payload
    return {
        **payload,
        "channel": _channel(workspace, message),
        "message_ts": message.ts,
        "message": message_body(workspace, message),
        "response_url": RESPONSE_URL,
    }


def _payload(workspace: Workspace, kind: str, user_id: str) -> dict[str, object]:
    """Return the fields of every payload of interactivity. Raises SlackRefusal for an unknown person."""
    user = workspace.users.get(user_id)
    if user is None:
        raise SlackRefusal("user_not_found", user_id)
    team = workspace.team
    return {
        "type": kind,
        "user": {"id": user.id, "username": user.name.lower(), "name": user.name.lower(), "team_id": team.id},
        "api_app_id": workspace.bot.app_id,
        "token": "simulated-verification-token",
        "trigger_id": "1.2.simulated",
        "team": {"id": team.id, "domain": team.domain},
        "enterprise": None,
        "is_enterprise_install": False,
    }


def _channel(workspace: Workspace, message: Message) -> JsonObject:
    channel = workspace.channel(message.channel)
    return {"id": channel.id, "name": channel.name if channel.kind == "channel" else "privategroup"}


def _action(workspace: Workspace, blocks: Sequence[JsonObject], action_id: str, value: str) -> JsonObject:
    """Return the pressed element as payloads show it. Raises SlackRefusal for a missing one."""
    for block, element in _elements(blocks):
        if element.get("action_id") == action_id:
            shown = {"type": element["type"], "action_id": action_id, **_chosen(element, value)}
            return {**shown, "block_id": text_of(block, "block_id"), "action_ts": workspace.next_ts()}
    raise SlackRefusal("action_not_found", action_id)


def _elements(blocks: Sequence[JsonObject]) -> Iterator[tuple[JsonObject, JsonObject]]:
    """Yield the elements that people can press, each with its block."""
    for block in blocks:
        match text_of(block, "type"):
            case "actions" | "context_actions":
                yield from ((block, element) for element in objects(block.get("elements")))
            case "card":
                yield from ((block, element) for element in objects(block.get("actions")))
            case "section" | "auth_provider":
                yield block, object_of(block, "accessory")
            case "input":
                yield block, object_of(block, "element")
            case "container":
                yield from _elements(objects(block.get("child_blocks")))
            case "carousel":
                yield from _elements(objects(block.get("elements")))
            case _:
                pass


def _chosen(element: JsonObject, value: str) -> JsonObject:
    """Return the fields that a press of an element adds. Raises SlackRefusal for a value that it does not offer."""
    kind = text_of(element, "type")
    match kind:
        case "button" | "icon_button" | "workflow_button":
            return {key: element[key] for key in ("text", "value", "style") if key in element}
        case "feedback_buttons":
            votes = [object_of(element, name) for name in ("positive_button", "negative_button")]
            vote = _with_value(votes, value)
            return {"value": value, "text": vote["text"]}
        case "overflow" | "static_select" | "radio_buttons":
            groups = objects(element.get("option_groups"))
            options = [option for holder in (element, *groups) for option in objects(holder.get("options"))]
            return {"selected_option": _with_value(options, value)}
        case _ if kind in _SELECTED:
            return {_SELECTED[kind]: value}
        case _:
            raise SlackRefusal("action_not_found", kind)


def _with_value(offered: Sequence[JsonObject], value: str) -> JsonObject:
    for one in offered:
        if one.get("value") == value:
            return one
    raise SlackRefusal("action_not_found", value)
