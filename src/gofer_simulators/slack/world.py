"""The Slack workspace that a world file describes under its key `slack`."""

from base64 import b64decode
from collections.abc import Callable

from gofer_simulators.json_values import JsonObject
from gofer_simulators.slack.shared_files import store_file
from gofer_simulators.slack.timestamps import micros
from gofer_simulators.slack.workspace import Bot, Channel, Group, Message, Team, User, Workspace
from gofer_simulators.world_file import Place

_TOP = frozenset({"team", "app", "bot", "emoji", "users", "groups", "channels", "messages"})
_REPLY = frozenset({"user", "text", "minutes_ago", "ts", "reactions", "files"})


def load_workspace(world: JsonObject, clock: Callable[[], float]) -> Workspace:
    """Return the workspace under the key `slack` of a world. Raises ConfigError."""
    top = Place("slack", world.get("slack")).mapping(_TOP)
    team = top.at("team").mapping({"id", "domain", "name"})
    app = top.at("app").mapping({"id"})
    bot = top.at("bot").mapping({"user", "bot_id", "name", "scopes"})
    scopes = None
    if bot.has("scopes"):
        scopes = frozenset(bot.at("scopes").strings())
    workspace = Workspace(
        Team(id=team.text("id"), domain=team.text("domain"), name=team.text("name")),
        Bot(
            user=bot.text("user"),
            bot_id=bot.text("bot_id"),
            name=bot.text("name"),
            app_id=app.text("id"),
            scopes=scopes,
        ),
        clock,
    )
    if top.has("emoji"):
        workspace.emoji = frozenset(top.at("emoji").strings())
    own = workspace.bot
    workspace.users[own.user] = User(id=own.user, name=own.name, real_name=own.name, bot=True)
    for place in top.items("users"):
        _user(workspace, place)
    for place in top.items("groups"):
        _group(workspace, place)
    for place in top.items("channels"):
        _channel(workspace, place)
    for place in top.items("messages"):
        _thread(workspace, place)
    return workspace


def _user(workspace: Workspace, place: Place) -> None:
    place = place.mapping({"id", "name", "real_name", "bot", "restricted", "title", "tz", "deactivated", "external"})
    name = place.text("name")
    user = User(
        id=place.text("id"),
        name=name,
        real_name=place.text("real_name", name),
        bot=place.flag("bot"),
        restricted=place.flag("restricted"),
        title=place.text("title", ""),
        tz=place.text("tz", "Etc/UTC"),
        deactivated=place.flag("deactivated"),
        external=place.flag("external"),
    )
    if user.id in workspace.users:
        raise place.wrong(f"has the id {user.id}, which another user has already")
    workspace.users[user.id] = user


def _group(workspace: Workspace, place: Place) -> None:
    place = place.mapping({"id", "handle", "name", "users"})
    handle = place.text("handle").removeprefix("@")
    users = _user_ids(workspace, place.at("users"), "has the user")
    name = place.text("name", handle)
    workspace.groups[place.text("id")] = Group(id=place.text("id"), handle=handle, name=name, users=users)


def _channel(workspace: Workspace, place: Place) -> None:
    place = place.mapping({"id", "name", "private", "members", "archived", "shared"})
    channel_id = place.text("id")
    name = place.text("name").removeprefix("#")
    if channel_id in workspace.channels or workspace.channel_named(name):
        raise place.wrong(f"repeats the id or the name of another channel ({channel_id}, {name})")
    members = _user_ids(workspace, place.at("members"), "has the member")
    kind = "group" if place.flag("private") else "channel"
    archived = place.flag("archived")
    workspace.channels[channel_id] = Channel(channel_id, name, kind, members, archived, shared=place.flag("shared"))


def _thread(workspace: Workspace, place: Place) -> None:
    place = place.mapping(_REPLY | {"channel", "replies"})
    name = place.text("channel")
    channel = workspace.channel_named(name)
    if channel is None:
        known = ", ".join(known.name for known in workspace.channels.values()) or "none"
        raise place.wrong(f"is in the channel {name!r}, which this world does not have; it has {known}")
    parent = _message(workspace, place, channel, None)
    for reply in place.items("replies"):
        _message(workspace, reply.mapping(_REPLY), channel, parent.ts)


def _message(workspace: Workspace, place: Place, channel: Channel, thread_ts: str | None) -> Message:
    user_id = place.text("user")
    if user_id not in workspace.users:
        raise place.wrong(f"is by {user_id!r}, who is not among the users")
    if place.has("ts"):
        ts = place.text("ts")
    else:
        ts = workspace.past_ts(place.number("minutes_ago"))
    if "." not in ts or micros(ts) is None:
        raise place.wrong(f"has the ts {ts!r}; write it like '1763709120.000100', in quotes")
    if workspace.find(channel.id, ts):
        raise place.wrong(f"has the ts {ts}, which another message of the channel has already")
    if thread_ts is not None and (micros(ts) or 0) <= (micros(thread_ts) or 0):
        raise place.wrong("is a reply older than the message it answers")
    reactions = {name: _user_ids(workspace, users, "names") for name, users in place.fields("reactions")}
    bot_id = bot_id_of(workspace, user_id)
    text = place.text("text").strip()
    files = [_file(workspace, file, user_id) for file in place.items("files")]
    extra: dict[str, object] = {}
    if files:
        extra = {"subtype": "file_share", "files": files}
    return workspace.put(
        Message(
            channel=channel.id,
            ts=ts,
            user=user_id,
            text=text,
            thread_ts=thread_ts,
            bot_id=bot_id,
            reactions=reactions,
            extra=extra,
        )
    )


def _file(workspace: Workspace, place: Place, user: str) -> JsonObject:
    place = place.mapping({"name", "mimetype", "text", "base64"})
    mimetype = place.text("mimetype", "text/plain")
    try:
        if place.has("base64"):
            content = b64decode(place.text("base64"), validate=True)
        else:
            content = place.text("text").encode()
    except ValueError as error:
        raise place.wrong("has content that is not valid base64") from error
    return store_file(workspace, user, place.text("name"), content, mimetype)


def _user_ids(workspace: Workspace, place: Place, problem: str) -> tuple[str, ...]:
    if place.value is None:
        return ()
    users = place.strings()
    for user in users:
        if user not in workspace.users:
            raise place.wrong(f"{problem} {user!r}, who is not among the users")
    return tuple(users)


def bot_id_of(workspace: Workspace, user_id: str) -> str | None:
    """Return the bot id of a user's messages, or None for a person."""
    if user_id == workspace.bot.user:
        return workspace.bot.bot_id
    user = workspace.users.get(user_id)
    if user and user.bot:
        return f"B{user_id[1:]}"
    return None
