"""Presses of buttons, and messages that only one person sees."""

from dataclasses import replace

from gofer_simulators.json_values import JsonObject, objects, text_of
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.backend import Answer, Backend
from gofer_simulators.slack.content import content_of
from gofer_simulators.slack.shapes import message_body
from gofer_simulators.slack.workspace import Message, SlackRefusal, Workspace


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


def press_payload(workspace: Workspace, message: Message, action_id: str, user_id: str) -> JsonObject:
    """Return the `block_actions` payload of a press.

    Raises SlackRefusal for a missing button, or for a message that the person cannot see.
    """
    user = workspace.users.get(user_id)
    if user is None:
        raise SlackRefusal("user_not_found", user_id)
    if message.only_for not in ("", user_id):
        raise SlackRefusal("message_not_found", message.ts)
    block, button = _button(message, action_id)
    pressed = {key: button[key] for key in ("type", "action_id", "text", "value", "style") if key in button}
    action = {**pressed, "block_id": text_of(block, "block_id"), "action_ts": workspace.next_ts()}
    container: JsonObject = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": bool(message.only_for),
    }
    if message.thread_ts:
        container = {**container, "thread_ts": message.thread_ts}
    team = workspace.team
    channel = workspace.channel(message.channel)
    channel_name = "privategroup"
    if channel.kind == "channel":
        channel_name = channel.name
    payload: dict[str, object] = {
        "type": "block_actions",
        "user": {"id": user.id, "username": user.name.lower(), "name": user.name.lower(), "team_id": team.id},
        "api_app_id": workspace.bot.app_id,
        "token": "simulated-verification-token",
        "container": container,
        "trigger_id": "1.2.simulated",
        "team": {"id": team.id, "domain": team.domain},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": channel.id, "name": channel_name},
        "state": {"values": {}},
        "response_url": "https://hooks.slack.com/actions/simulated",
        "actions": [action],
    }
    # Slack does not store an ephemeral message, so the payload cannot contain it.
    if message.only_for:
        return payload
    return {**payload, "message": message_body(workspace, message)}


def _button(message: Message, action_id: str) -> tuple[JsonObject, JsonObject]:
    for block in message.blocks:
        for element in objects(block.get("elements")):
            if block.get("type") == "actions" and element.get("action_id") == action_id:
                return block, element
    raise SlackRefusal("action_not_found", action_id)
