"""The `event_callback` envelopes of the Events API."""

import json

from gofer_simulators.json_values import JsonObject, object_of
from gofer_simulators.slack.shapes import channel_shape, message_body, stable_id
from gofer_simulators.slack.timestamps import order
from gofer_simulators.slack.workspace import Channel, Message, Workspace


def message_envelopes(workspace: Workspace, message: Message) -> list[dict[str, object]]:
    """Return the envelopes for a new message.

    For a mention in a channel of the bot, Slack sends two: `app_mention` and `message`.
    """
    channel = workspace.channel(message.channel)
    member = workspace.bot.user in channel.members
    by_the_bot = message.bot_id == workspace.bot.bot_id
    body = message_body(workspace, message) | {"channel": channel.id, "event_ts": message.ts}
    if message.metadata:
        body["metadata"] = dict(message.metadata)
    events: list[dict[str, object]] = []
    if _sends_app_mention(workspace, channel) and not by_the_bot and workspace.mentions_bot(message.text):
        events.append(body | {"type": "app_mention"})
    if member or channel.kind == "im":
        events.append(body | {"channel_type": channel.kind})
    return [envelope(workspace, event, message.ts) for event in events]


def change_envelopes(workspace: Workspace, before: Message, after: Message) -> list[dict[str, object]]:
    """Return the envelopes for an edited message, with an `app_mention` if the edit adds the mention."""
    channel = workspace.channel(after.channel)
    changed_at = after.edited_ts or after.ts
    event: dict[str, object] = {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind,
        "ts": changed_at,
        "event_ts": changed_at,
        "message": message_body(workspace, after),
        "previous_message": message_body(workspace, before),
    }
    events: list[dict[str, object]] = []
    if _bot_receives(workspace, channel):
        events.append(event)
    if _sends_app_mention(workspace, channel) and not after.bot_id and _adds_mention(workspace, before, after):
        body = message_body(workspace, after) | {"channel": channel.id, "event_ts": changed_at}
        events.append(body | {"type": "app_mention"})
    return [envelope(workspace, event, changed_at) for event in events]


def deletion_envelopes(workspace: Workspace, before: Message, tombstone: Message | None) -> list[dict[str, object]]:
    """Return the envelope for a deleted message; `left` is the tombstone of a message with replies."""
    channel = workspace.channel(before.channel)
    deleted_at = workspace.next_ts()
    event: dict[str, object] = {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind,
        "ts": deleted_at,
        "event_ts": deleted_at,
        "previous_message": message_body(workspace, before),
    }
    if tombstone:
        event |= {"subtype": "message_changed", "message": message_body(workspace, tombstone)}
    else:
        event["deleted_ts"] = before.ts
    return _if_received(workspace, channel, event, deleted_at)


def created_envelopes(workspace: Workspace, channel: Channel, creator: str) -> list[dict[str, object]]:
    """Return the envelope for a new public channel, and none for a private channel."""
    event_ts = workspace.next_ts()
    described = channel_shape(workspace, channel) | {"creator": creator, "created": order(event_ts) // 1_000_000}
    event: dict[str, object] = {"type": "channel_created", "channel": described, "event_ts": event_ts}
    if channel.kind == "channel":
        return [envelope(workspace, event, event_ts)]
    return []


def joined_envelopes(workspace: Workspace, channel: Channel, user: str, inviter: str) -> list[dict[str, object]]:
    """Return the envelope for a person or bot that joined a channel; `inviter` is empty without an invitation."""
    event_ts = workspace.next_ts()
    event: dict[str, object] = {
        "type": "member_joined_channel",
        "user": user,
        "channel": channel.id,
        "channel_type": "C" if channel.kind == "channel" else "G",
        "team": workspace.team.id,
        "event_ts": event_ts,
    }
    if inviter:
        event["inviter"] = inviter
    return _if_received(workspace, channel, event, event_ts)


def stopped_envelopes(workspace: Workspace, parent: Message, user: str) -> list[dict[str, object]]:
    """Return the envelope for a person who pressed Stop in a thread."""
    replies = [message.ts for message in (parent, *workspace.replies(parent))]
    streaming = [ts for ts in replies if (parent.channel, ts) in workspace.streams]
    return [_session_envelope(workspace, parent, user, "agent_session_stopped", streaming_message_ts=streaming)]


def home_envelopes(workspace: Workspace, user: str, tab: str) -> list[dict[str, object]]:
    """Return the envelope for a person who opened the Home tab or the messages tab of the app."""
    event_ts = workspace.next_ts()
    event: dict[str, object] = {
        "type": "app_home_opened",
        "user": user,
        "channel": workspace.direct(user).id,
        "tab": tab,
    }
    view = workspace.homes.get(user)
    if view and tab == "home":
        event["view"] = dict(view)
    return [envelope(workspace, {**event, "event_ts": event_ts}, event_ts)]


def title_envelopes(
    workspace: Workspace, parent: Message, user: str, *, title: str, previous: str
) -> list[dict[str, object]]:
    """Return the envelope for a person who renamed the session of a thread."""
    titles = {"team_id": workspace.team.id, "title": title, "previous_title": previous}
    return [_session_envelope(workspace, parent, user, "agent_session_title_changed", **titles)]


def _session_envelope(
    workspace: Workspace, parent: Message, user: str, kind: str, **fields: object
) -> dict[str, object]:
    event_ts = workspace.next_ts()
    event = {"type": kind, "channel": parent.channel, "user": user, "thread_ts": parent.ts, **fields}
    return envelope(workspace, {**event, "event_ts": event_ts}, event_ts)


def reaction_envelopes(
    workspace: Workspace, message: Message, name: str, user: str, *, added: bool
) -> list[dict[str, object]]:
    """Return the envelope for a reaction that was added or removed."""
    event_ts = workspace.next_ts()
    event: dict[str, object] = {
        "type": "reaction_added" if added else "reaction_removed",
        "user": user,
        "reaction": name,
        "item": {"type": "message", "channel": message.channel, "ts": message.ts},
        "event_ts": event_ts,
    }
    # Messages that an app posts with its token have the user of its bot. Messages of incoming webhooks have no user.
    if message.user:
        event["item_user"] = message.user
    return _if_received(workspace, workspace.channel(message.channel), event, event_ts)


def envelope(workspace: Workspace, event: JsonObject, event_ts: str) -> dict[str, object]:
    """Return the `event_callback` envelope of an event. The same event gets the same event_id."""
    team = workspace.team
    bot = workspace.bot
    identity = stable_id(team.id, json.dumps(event, sort_keys=True))
    authorization = {
        "enterprise_id": None,
        "team_id": team.id,
        "user_id": bot.user,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    return {
        "token": "simulated-verification-token",
        "team_id": team.id,
        "context_team_id": team.id,
        "context_enterprise_id": None,
        "api_app_id": bot.app_id,
        "event": dict(event),
        "type": "event_callback",
        "event_id": f"Ev{identity}",
        "event_time": order(event_ts) // 1_000_000,
        "authorizations": [authorization],
        "is_ext_shared_channel": _is_shared(workspace, event),
        "event_context": f"4-{identity}",
    }


def _is_shared(workspace: Workspace, event: JsonObject) -> bool:
    """Return whether an event happened in a channel that is shared with another company."""
    channel = event.get("channel") or object_of(event, "item").get("channel")
    return any(one.shared for one in workspace.channels.values() if one.id == channel)


def _if_received(workspace: Workspace, channel: Channel, event: JsonObject, event_ts: str) -> list[dict[str, object]]:
    """Return the envelope of an event in a conversation of the bot, and none for another conversation."""
    if _bot_receives(workspace, channel):
        return [envelope(workspace, event, event_ts)]
    return []


def _sends_app_mention(workspace: Workspace, channel: Channel) -> bool:
    """Return whether Slack sends `app_mention` for a channel; for direct messages it sends only `message`."""
    return channel.kind == "channel" or (channel.kind == "group" and _bot_receives(workspace, channel))


def _adds_mention(workspace: Workspace, before: Message, after: Message) -> bool:
    return workspace.mentions_bot(after.text) and not workspace.mentions_bot(before.text)


def _bot_receives(workspace: Workspace, channel: Channel) -> bool:
    return workspace.bot.user in channel.members or channel.kind == "im"
