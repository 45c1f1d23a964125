"""The methods of the Web API.

A method takes arguments and returns the fields of the answer besides `ok`. It raises SlackRefusal with the vendor's
error code.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from types import MappingProxyType

from gofer.values.emoji_names import names_of
from gofer_simulators.slack import sessions, streams
from gofer_simulators.slack.arguments import MAX_REPLIES, Arguments
from gofer_simulators.slack.backend import Answer, Backend, Method
from gofer_simulators.slack.content import content_of, edited_content_of, metadata_of
from gofer_simulators.slack.envelopes import (
    change_envelopes,
    deletion_envelopes,
    joined_envelopes,
    message_envelopes,
    reaction_envelopes,
)
from gofer_simulators.slack.files import complete_upload, get_upload_url, info
from gofer_simulators.slack.home import publish
from gofer_simulators.slack.interactivity import post_ephemeral
from gofer_simulators.slack.shapes import channel_shape, group_shape, message_body, stored_message, user_shape
from gofer_simulators.slack.timestamps import order
from gofer_simulators.slack.workspace import Channel, Message, SlackRefusal, Workspace
from gofer_simulators.slack.world import bot_id_of

_EMOJI = frozenset(files("gofer_simulators.slack").joinpath("emoji.txt").read_text("utf-8").split())
"""The emoji of every workspace, without the flags of countries."""
_FLAG = re.compile(r"flag-[a-z]{2}")
_TONE = re.compile(r"::skin-tone-[2-6]$")
_TYPES = frozenset({"public_channel", "private_channel", "mpim", "im"})
_KIND_OF_TYPE = {"public_channel": "channel", "private_channel": "group", "mpim": "mpim", "im": "im"}


def _auth_test(backend: Backend, _: Arguments) -> Answer:
    team = backend.workspace.team
    bot = backend.workspace.bot
    return {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": bot.name.lower(),
        "team_id": team.id,
        "user_id": bot.user,
        "bot_id": bot.bot_id,
        "is_enterprise_install": False,
    }


def _post_message(backend: Backend, arguments: Arguments) -> Answer:
    workspace = backend.workspace
    channel = backend.joined_channel(arguments)
    if channel.kind == "im" and workspace.bot.messages == "off":
        raise SlackRefusal("messages_tab_disabled")
    content = content_of(arguments)
    metadata = metadata_of(arguments)
    thread_ts = arguments.thread()
    extra: Answer = {}
    if content.attachments:
        extra["attachments"] = list(content.attachments)
    if thread_ts and arguments.flag("reply_broadcast"):
        extra["subtype"] = "thread_broadcast"
    draft = workspace.own_draft(channel, content.text, thread_ts)
    message = workspace.post(
        replace(draft, blocks=content.blocks, metadata=metadata, extra=extra, paged=content.mentions)
    )
    sessions.clear_line(workspace, message)
    backend.deliveries.announce(message_envelopes(workspace, message))
    return {"channel": channel.id, "ts": message.ts, "message": _wire_message(workspace, message)}


def _update(backend: Backend, arguments: Arguments) -> Answer:
    workspace = backend.workspace
    before = backend.message(arguments, "ts")
    if before.bot_id != workspace.bot.bot_id:
        raise SlackRefusal("cant_update_message")
    if (before.channel, before.ts) in workspace.streams:
        raise SlackRefusal("streaming_state_conflict")
    content = edited_content_of(arguments)
    after = workspace.put(
        replace(
            before,
            text=content.text,
            blocks=content.blocks,
            metadata=metadata_of(arguments) or before.metadata,
            edited_ts=workspace.next_ts(),
            paged=content.mentions,
        )
    )
    backend.deliveries.announce(change_envelopes(workspace, before, after))
    shape = _wire_message(workspace, after)
    return {"channel": after.channel, "ts": after.ts, "text": after.text, "message": shape}


def _delete(backend: Backend, arguments: Arguments) -> Answer:
    message = backend.message(arguments, "ts")
    if message.bot_id != backend.workspace.bot.bot_id:
        raise SlackRefusal("cant_delete_message")
    remove(backend, message)
    return {"channel": message.channel, "ts": message.ts}


def remove(backend: Backend, message: Message) -> None:
    """Delete a message, or replace a message with replies by a tombstone; start to deliver the event."""
    workspace = backend.workspace
    tombstone = None
    if not message.is_reply and workspace.replies(message):
        extra = {"subtype": "tombstone", "hidden": True}
        text = "This message was deleted."
        tombstone = workspace.put(
            Message(
                channel=message.channel, ts=message.ts, user="USLACKBOT", text=text, thread_ts=message.ts, extra=extra
            )
        )
    else:
        workspace.remove(message)
    backend.deliveries.announce(deletion_envelopes(workspace, message, tombstone))


def _join(backend: Backend, arguments: Arguments) -> Answer:
    workspace = backend.workspace
    channel = backend.visible_channel(arguments)
    if channel.kind != "channel":
        raise SlackRefusal("method_not_supported_for_channel_type")
    if workspace.bot.user in channel.members:
        return {"channel": channel_shape(workspace, channel), "warning": "already_in_channel"}
    joined = workspace.join(channel, workspace.bot.user)
    backend.deliveries.announce(joined_envelopes(workspace, joined, workspace.bot.user, ""))
    return {"channel": channel_shape(workspace, joined)}


def _open(backend: Backend, arguments: Arguments) -> Answer:
    user_id = arguments.required("users")
    user = backend.workspace.users.get(user_id)
    if user is None:
        raise SlackRefusal("user_not_found")
    if user.bot:
        raise SlackRefusal("cannot_dm_bot")
    return {"channel": {"id": backend.workspace.direct(user.id).id}}


def _usergroups_list(backend: Backend, arguments: Arguments) -> Answer:
    workspace = backend.workspace
    with_users = arguments.flag("include_users")
    return {"usergroups": [group_shape(workspace, group, with_users=with_users) for group in workspace.groups.values()]}


def _wire_message(workspace: Workspace, message: Message) -> Answer:
    body = message_body(workspace, message)
    if message.metadata:
        return body | {"metadata": dict(message.metadata)}
    return body


def _get_permalink(backend: Backend, arguments: Arguments) -> Answer:
    channel = backend.visible_channel(arguments)
    message = backend.workspace.message(channel.id, arguments.required("message_ts"))
    return {"channel": channel.id, "permalink": backend.workspace.permalink(message)}


def _reactions_add(backend: Backend, arguments: Arguments) -> Answer:
    return _react(backend, arguments, added=True)


def _reactions_remove(backend: Backend, arguments: Arguments) -> Answer:
    return _react(backend, arguments, added=False)


def _react(backend: Backend, arguments: Arguments, *, added: bool) -> Answer:
    name = arguments.text("name")
    if not _is_emoji(name, backend.workspace.emoji):
        raise SlackRefusal("invalid_name", name)
    if not arguments.text("timestamp"):
        raise SlackRefusal("no_item_specified")
    change_reaction(backend, backend.message(arguments, "timestamp"), name, added=added)
    return {}


def _is_emoji(name: str, custom: frozenset[str]) -> bool:
    """Return whether a name, with or without a skin tone, is an emoji of Slack or of the workspace."""
    plain = _TONE.sub("", name)
    return plain in custom or plain in _EMOJI or bool(_FLAG.fullmatch(plain))


def change_reaction(backend: Backend, message: Message, name: str, user: str | None = None, *, added: bool) -> Message:
    """Add or remove a reaction of a user, by default of the bot; start to deliver the event.

    Slack stores and sends the first name of an emoji that has several.
    """
    workspace = backend.workspace
    who = user or workspace.bot.user
    if name not in workspace.emoji:
        name = names_of(name)[0]
    if added:
        after = workspace.react(message, name, who)
    else:
        after = workspace.unreact(message, name, who)
    backend.deliveries.announce(reaction_envelopes(workspace, after, name, who, added=added))
    return after


def _replies(backend: Backend, arguments: Arguments) -> Answer:
    workspace = backend.workspace
    channel = backend.joined_channel(arguments)
    found = workspace.find(channel.id, arguments.required("ts"))
    if found is None:
        raise SlackRefusal("thread_not_found")
    parent = workspace.parent(found)
    inside = _in_time_range(arguments)
    replies = [reply for reply in workspace.replies(parent) if inside(reply)]
    # The parent takes one place on every page. A page of size 1 still needs a reply, or paging would never end.
    size = max(1, arguments.limit(MAX_REPLIES, MAX_REPLIES) - 1)
    page, cursor = arguments.page_of_size(replies, lambda reply: reply.ts, size)
    return _messages(backend, arguments, [parent, *page], cursor)


def _history(backend: Backend, arguments: Arguments) -> Answer:
    channel = backend.joined_channel(arguments)
    inside = _in_time_range(arguments)
    newest_first = [message for message in reversed(backend.workspace.timeline(channel.id)) if inside(message)]
    page, cursor = arguments.page(newest_first, lambda message: message.ts)
    return _messages(backend, arguments, page, cursor) | {"pin_count": 0}


def _messages(backend: Backend, arguments: Arguments, page: list[Message], cursor: str) -> Answer:
    with_metadata = arguments.flag("include_all_metadata")
    shown = [stored_message(backend.workspace, message, with_metadata=with_metadata) for message in page]
    return {"messages": shown, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}


def _in_time_range(arguments: Arguments) -> Callable[[Message], bool]:
    oldest = arguments.instant("oldest")
    latest = arguments.instant("latest")
    inclusive = arguments.flag("inclusive")

    def inside(message: Message) -> bool:
        instant = order(message.ts)
        late_enough = oldest is None or instant > oldest or (inclusive and instant == oldest)
        early_enough = latest is None or instant < latest or (inclusive and instant == latest)
        return late_enough and early_enough

    return inside


def _conversations_info(backend: Backend, arguments: Arguments) -> Answer:
    channel = backend.visible_channel(arguments)
    shape = channel_shape(backend.workspace, channel)
    if arguments.flag("include_num_members"):
        shape["num_members"] = len(channel.members)
    return {"channel": shape}


def _conversations_list(backend: Backend, arguments: Arguments) -> Answer:
    workspace = backend.workspace
    page, cursor = arguments.page(_channels_seen(workspace, arguments), lambda channel: channel.id)
    shown = [channel_shape(workspace, channel) | {"num_members": len(channel.members)} for channel in page]
    return {"channels": shown, "response_metadata": {"next_cursor": cursor}}


def _channels_seen(workspace: Workspace, arguments: Arguments) -> list[Channel]:
    """Return the channels of the requested kinds, without private channels in which the bot is not a member."""
    types = set(filter(None, (arguments.text("types") or "public_channel").replace(" ", "").split(",")))
    if types - _TYPES:
        raise SlackRefusal("invalid_types")
    kinds = {_KIND_OF_TYPE[name] for name in types}
    return [
        channel
        for channel in workspace.channels.values()
        if channel.kind in kinds
        and (channel.kind == "channel" or workspace.bot.user in channel.members)
        and not (channel.archived and arguments.flag("exclude_archived"))
    ]


def _conversations_members(backend: Backend, arguments: Arguments) -> Answer:
    page, cursor = arguments.page(list(backend.visible_channel(arguments).members), lambda member: member)
    return {"members": list(page), "response_metadata": {"next_cursor": cursor}}


def _users_conversations(backend: Backend, arguments: Arguments) -> Answer:
    """Return the conversations of a user, without private ones in which the bot is not a member."""
    workspace = backend.workspace
    user = arguments.text("user") or workspace.bot.user
    if user not in workspace.users:
        raise SlackRefusal("user_not_found")
    channels = [channel for channel in _channels_seen(workspace, arguments) if user in channel.members]
    page, cursor = arguments.page(channels, lambda channel: channel.id)
    shown = [channel_shape(workspace, channel) for channel in page]
    return {"channels": shown, "response_metadata": {"next_cursor": cursor}}


def _bots_info(backend: Backend, arguments: Arguments) -> Answer:
    """Return another app's bot, or the app's own."""
    workspace = backend.workspace
    bot = arguments.required("bot")
    for user in workspace.users.values():
        if bot == bot_id_of(workspace, user.id):
            return {"bot": {"id": bot, "deleted": user.deactivated, "name": user.name, "user_id": user.id}}
    raise SlackRefusal("bot_not_found")


def _users_info(backend: Backend, arguments: Arguments) -> Answer:
    user = backend.workspace.users.get(arguments.required("user"))
    if user is None:
        raise SlackRefusal("user_not_found")
    return {"user": user_shape(backend.workspace, user)}


def _users_list(backend: Backend, arguments: Arguments) -> Answer:
    users = list(backend.workspace.users.values())
    page, cursor = arguments.page(users, lambda user: user.id)
    shown = [user_shape(backend.workspace, user) for user in page]
    return {"members": shown, "cache_ts": 0, "response_metadata": {"next_cursor": cursor}}


TIER_2 = 20
TIER_3 = 50
TIER_4 = 100
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "auth.test": Method(_auth_test, "", 0),
        "chat.postMessage": Method(_post_message, "chat:write", 60, by_channel=True),
        "chat.postEphemeral": Method(post_ephemeral, "chat:write", TIER_4),
        "chat.update": Method(_update, "chat:write", TIER_3),
        "chat.delete": Method(_delete, "chat:write", TIER_3),
        "chat.startStream": Method(streams.start, "chat:write", TIER_2),
        "chat.appendStream": Method(streams.append, "chat:write", TIER_4),
        "chat.stopStream": Method(streams.stop, "chat:write", TIER_2),
        "agents.sessions.setStatus": Method(sessions.set_status, "chat:write", TIER_3),
        "agents.sessions.rename": Method(sessions.rename, "chat:write", TIER_3),
        "assistant.threads.setStatus": Method(sessions.set_line, "chat:write", 600),
        "chat.getPermalink": Method(_get_permalink, "", 0),
        "reactions.add": Method(_reactions_add, "reactions:write", TIER_3),
        "reactions.remove": Method(_reactions_remove, "reactions:write", TIER_2),
        "files.getUploadURLExternal": Method(get_upload_url, "files:write", TIER_4),
        "files.completeUploadExternal": Method(complete_upload, "files:write", TIER_4),
        "files.info": Method(info, "files:read", TIER_4),
        "conversations.replies": Method(_replies, "channels:history", TIER_3),
        "conversations.history": Method(_history, "channels:history", TIER_3),
        "conversations.info": Method(_conversations_info, "channels:read", TIER_3),
        "conversations.list": Method(_conversations_list, "channels:read", TIER_2),
        "conversations.members": Method(_conversations_members, "channels:read", TIER_4),
        "conversations.join": Method(_join, "channels:join", TIER_3),
        "conversations.open": Method(_open, "im:write", TIER_3),
        "usergroups.list": Method(_usergroups_list, "usergroups:read", TIER_2),
        "users.conversations": Method(_users_conversations, "channels:read", TIER_3),
        "bots.info": Method(_bots_info, "users:read", TIER_3),
        "users.info": Method(_users_info, "users:read", TIER_4),
        "users.list": Method(_users_list, "users:read", TIER_2),
        "views.publish": Method(publish, "", TIER_4),
    }
)
