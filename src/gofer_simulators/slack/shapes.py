"""Slack's messages, users and channels as JSON, and the wire form of texts."""

import hashlib
import re
import uuid
from collections.abc import Iterable, Sequence

from gofer_simulators.json_values import JsonObject, objects, text_of
from gofer_simulators.slack.workspace import Channel, Group, Message, User, Workspace

FOREIGN_TEAM = "T0ELSEWH0"
"""The workspace of people of a connected company."""
_ENTITY = re.compile(r"<([^<>\n]+)>")
_URL = r"https?://[^\s<>]*[^\s<>.,;:!?)\]'\"]"
_NAMED_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def stable_id(*parts: str) -> str:
    """Return ten characters computed from the parts: the same parts give the same characters."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:10].upper()


def unescaped(text: str) -> str:
    """Return a text in wire form with its three entities as characters."""
    for written, meant in _NAMED_ENTITIES:
        text = text.replace(written, meant)
    return text


def escaped(text: str) -> str:
    """Return a text with `&`, `<` and `>` as entities, the only characters that Slack escapes."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def typed(workspace: Workspace, text: str) -> str:
    """Return the wire form of a typed text: escaped, with mentions for `@Name`, channels for `#name`, and links."""
    people = {escaped(user.name).casefold(): user.id for user in workspace.users.values()}
    channels = {channel.name.casefold(): channel for channel in workspace.channels.values()}
    special = re.compile(
        f"(?P<url>{_URL})|(?<![\\w@])@(?P<person>{_any(people)})(?!\\w)|(?<![\\w#])#(?P<channel>{_any(channels)})(?!\\w)",
        re.IGNORECASE,
    )

    def entity(found: re.Match[str]) -> str:
        if found["url"]:
            return f"<{found['url']}>"
        if found["person"]:
            return f"<@{people[found['person'].casefold()]}>"
        channel = channels[found["channel"].casefold()]
        return f"<#{channel.id}|>"

    return special.sub(entity, escaped(text.replace("\r\n", "\n").strip()))


def message_body(workspace: Workspace, message: Message) -> dict[str, object]:
    """Return a message with the fields that events and the Web API share."""
    body: dict[str, object] = {"type": "message", "ts": message.ts, "text": message.text}
    if message.user:
        body |= {"user": message.user, "team": workspace.team.id}
    if message.bot_id:
        body |= {"bot_id": message.bot_id} | _app_fields(workspace, message)
    elif message.user:
        body |= _foreign_author(workspace, message.user)
        body["client_msg_id"] = str(uuid.uuid5(uuid.NAMESPACE_URL, workspace.permalink(message)))
    blocks = [dict(block) for block in message.blocks] or rich_text(message)
    if blocks:
        body["blocks"] = blocks
    if message.edited_ts:
        body["edited"] = {"user": message.user, "ts": message.edited_ts}
    return body | dict(message.extra) | _thread_fields(workspace, message)


def _foreign_author(workspace: Workspace, author: str) -> dict[str, object]:
    """Return the fields by which the message of a person of a connected company names its author."""
    user = workspace.users.get(author)
    if user is None or not user.external:
        return {}
    profile = {
        "display_name": user.name,
        "real_name": user.real_name,
        "team": FOREIGN_TEAM,
        "is_restricted": False,
    }
    return {"user_team": FOREIGN_TEAM, "source_team": FOREIGN_TEAM, "user_profile": profile}


def stored_message(workspace: Workspace, message: Message, *, with_metadata: bool = False) -> dict[str, object]:
    """Return a message as the reading methods show it, with its reactions and the counts of its thread."""
    body = message_body(workspace, message)
    replies: list[Message] = []
    if not message.is_reply:
        replies = workspace.replies(message)
    if replies:
        users = list(dict.fromkeys(reply.user for reply in replies if reply.user))
        body |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users_count": len(users),
            "latest_reply": replies[-1].ts,
            "reply_users": users[:5],
            "is_locked": False,
            "subscribed": False,
        }
    if message.reactions:
        body["reactions"] = [
            {"name": name, "users": list(users), "count": len(users)} for name, users in message.reactions.items()
        ]
    if with_metadata and message.metadata:
        body["metadata"] = dict(message.metadata)
    return body


def shared_message(workspace: Workspace, message: Message) -> JsonObject:
    """Return the attachment with which a forwarded message is shown: its text, blocks, files and attachments."""
    body = message_body(workspace, message)
    inner = {name: body[name] for name in ("blocks", "attachments", "files") if name in body}
    return {
        "id": 1,
        "is_share": True,
        "is_msg_unfurl": True,
        "author_id": message.user,
        "author_name": workspace.name_of(message.user),
        "channel_id": message.channel,
        "channel_team": workspace.team.id,
        "color": "D0D0D0",
        "fallback": f"{workspace.name_of(message.user)}: {message.text}",
        "footer": "Posted in Slack",
        "from_url": workspace.permalink(message),
        "mrkdwn_in": ["text"],
        "text": message.text,
        "ts": message.ts,
        "files": list(objects(body.get("files"))),
        "message_blocks": [{"team": workspace.team.id, "channel": message.channel, "ts": message.ts, "message": inner}],
    }


def user_shape(workspace: Workspace, user: User) -> dict[str, object]:
    """Return a user of the workspace."""
    handle = re.sub(r"[^a-z0-9]+", ".", user.name.lower()).strip(".")
    team_id = workspace.team.id
    if user.external:
        team_id = FOREIGN_TEAM
    return {
        "id": user.id,
        "team_id": team_id,
        "name": handle,
        "deleted": user.deactivated,
        "real_name": user.real_name,
        "is_bot": user.bot,
        "is_app_user": False,
        "is_restricted": user.restricted,
        "is_ultra_restricted": False,
        **({"is_stranger": True} if user.external else {}),
        "tz": user.tz,
        "profile": {
            "real_name": user.real_name,
            "display_name": user.name,
            "title": user.title,
            "team": workspace.team.id,
        },
    }


def channel_shape(workspace: Workspace, channel: Channel) -> dict[str, object]:
    """Return a conversation as the bot sees it."""
    kind = channel.kind
    shape: dict[str, object] = {
        "id": channel.id,
        "created": 1_600_000_000,
        "is_channel": kind == "channel",
        "is_group": kind == "group",
        "is_im": kind == "im",
        "is_mpim": kind == "mpim",
        "is_private": kind != "channel",
        "is_archived": channel.archived,
        "is_shared": channel.shared,
        "is_ext_shared": channel.shared,
        "is_org_shared": False,
        "context_team_id": workspace.team.id,
    }
    if kind == "im":
        other = next((user for user in channel.members if user != workspace.bot.user), "")
        return shape | {"user": other, "is_user_deleted": False}
    return shape | {
        "name": channel.name,
        "name_normalized": channel.name,
        "is_general": channel.name == "general",
        "is_member": workspace.bot.user in channel.members,
        "creator": next(iter(channel.members), workspace.bot.user),
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def group_shape(workspace: Workspace, group: Group, *, with_users: bool) -> dict[str, object]:
    """Return a user group."""
    shape: dict[str, object] = {
        "id": group.id,
        "team_id": workspace.team.id,
        "is_usergroup": True,
        "name": group.name,
        "handle": group.handle,
        "date_delete": 0,
        "user_count": len(group.users),
    }
    if with_users:
        return shape | {"users": list(group.users)}
    return shape


def rich_text(message: Message) -> list[dict[str, object]]:
    """Return the blocks that Slack's editor makes of a person's text; none for a message of a bot."""
    if not message.text or message.bot_id:
        return []
    elements: list[dict[str, object]] = []
    for position, piece in enumerate(_ENTITY.split(message.text)):
        if position % 2:
            elements.append(_rich_entity(piece))
        elif piece:
            elements.append({"type": "text", "text": unescaped(piece)})
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": stable_id(message.channel, message.ts)[:5], "elements": [section]}]


def fallback_text(blocks: Sequence[JsonObject]) -> str:
    """Return the text of a message that has only blocks."""
    return "\n".join(filter(None, map(block_text, blocks)))


def block_text(block: JsonObject) -> str:
    """Return the plain text of one block."""
    inner = block.get("text")
    if isinstance(inner, str):
        return inner
    parts = [text_of(inner_object, "text") for inner_object in objects([inner])]
    parts += [text_of(item, "text") for key in ("fields", "elements") for item in objects(block.get(key))]
    return " ".join(filter(None, parts))


def _rich_entity(piece: str) -> dict[str, object]:
    target, _, label = piece.partition("|")
    match target[:1]:
        case "@":
            return {"type": "user", "user_id": target[1:]}
        case "#":
            return {"type": "channel", "channel_id": target[1:]}
        case "!" if target.startswith("!subteam^"):
            return {"type": "usergroup", "usergroup_id": target.removeprefix("!subteam^")}
        case "!":
            return {"type": "broadcast", "range": target[1:]}
        case _:
            link: dict[str, object] = {"type": "link", "url": unescaped(target)}
            if label:
                return link | {"text": unescaped(label)}
            return link


def _app_fields(workspace: Workspace, message: Message) -> dict[str, object]:
    if message.bot_id != workspace.bot.bot_id:
        return {}
    profile = {
        "id": workspace.bot.bot_id,
        "app_id": workspace.bot.app_id,
        "name": workspace.bot.name,
        "deleted": False,
        "team_id": workspace.team.id,
    }
    return {"app_id": workspace.bot.app_id, "bot_profile": profile}


def _thread_fields(workspace: Workspace, message: Message) -> dict[str, object]:
    if message.thread_ts is None:
        return {}
    if not message.is_reply:
        return {"thread_ts": message.ts}
    parent = workspace.find(message.channel, message.thread_ts)
    fields: dict[str, object] = {"thread_ts": message.thread_ts}
    if parent and parent.user:
        return fields | {"parent_user_id": parent.user}
    return fields


def _any(names: Iterable[str]) -> str:
    # The longest name comes first, so that "@Release Captain" is not read as "@Release".
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"(?!)"
