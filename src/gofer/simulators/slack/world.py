"""Which workspace does a world file describe?

Every mistake is a ConfigError that names the place in the file.
"""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass

from gofer.errors import ConfigError
from gofer.simulators.json_values import JsonObject, is_array, is_object
from gofer.simulators.slack.files import uploaded
from gofer.simulators.slack.timestamps import micros
from gofer.simulators.slack.workspace import Bot, Channel, Group, Message, Team, User, Workspace

_TOP = frozenset({"team", "app", "bot", "emoji", "users", "groups", "channels", "messages"})
_REPLY = frozenset({"user", "text", "minutes_ago", "ts", "reactions", "files"})


def load_workspace(world: JsonObject, clock: Callable[[], float]) -> Workspace:
    """The workspace under the key `slack` of a world."""
    top = _Place("slack", world.get("slack")).mapping(_TOP)
    team = top.at("team").mapping({"id", "domain", "name"})
    app = top.at("app").mapping({"id"})
    bot = top.at("bot").mapping({"user", "bot_id", "name", "scopes"})
    scopes = frozenset(bot.at("scopes").strings()) if bot.has("scopes") else None
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


def _user(workspace: Workspace, place: "_Place") -> None:
    place = place.mapping({"id", "name", "real_name", "bot", "restricted", "title", "tz", "deactivated", "external"})
    name = place.text("name")
    user = User(
        id=place.text("id"),
        name=name,
        real_name=place.text("real_name") if place.has("real_name") else name,
        bot=place.flag("bot"),
        restricted=place.flag("restricted"),
        title=place.text("title") if place.has("title") else "",
        tz=place.text("tz") if place.has("tz") else "Etc/UTC",
        deactivated=place.flag("deactivated"),
        external=place.flag("external"),
    )
    if user.id in workspace.users:
        raise place.wrong(f"has the id {user.id}, which another user has already")
    workspace.users[user.id] = user


def _group(workspace: Workspace, place: "_Place") -> None:
    place = place.mapping({"id", "handle", "name", "users"})
    handle = place.text("handle").removeprefix("@")
    users = _people(workspace, place.at("users"), "has the user") if place.has("users") else ()
    name = place.text("name") if place.has("name") else handle
    workspace.groups[place.text("id")] = Group(id=place.text("id"), handle=handle, name=name, users=users)


def _channel(workspace: Workspace, place: "_Place") -> None:
    place = place.mapping({"id", "name", "private", "members", "archived"})
    channel_id, name = place.text("id"), place.text("name").removeprefix("#")
    if channel_id in workspace.channels or workspace.channel_named(name):
        raise place.wrong(f"repeats the id or the name of another channel ({channel_id}, {name})")
    members = _people(workspace, place.at("members"), "has the member") if place.has("members") else ()
    kind = "group" if place.flag("private") else "channel"
    workspace.channels[channel_id] = Channel(channel_id, name, kind, members, place.flag("archived"))


def _thread(workspace: Workspace, place: "_Place") -> None:
    place = place.mapping(_REPLY | {"channel", "replies"})
    name = place.text("channel")
    channel = workspace.channel_named(name)
    if channel is None:
        known = ", ".join(known.name for known in workspace.channels.values()) or "none"
        raise place.wrong(f"is in the channel {name!r}, which this world does not have; it has {known}")
    parent = _message(workspace, place, channel, None)
    replies = place.items("replies")
    for reply in replies:
        _message(workspace, reply.mapping(_REPLY), channel, parent.ts)


def _message(workspace: Workspace, place: "_Place", channel: Channel, thread_ts: str | None) -> Message:
    user_id = place.text("user")
    if user_id not in workspace.users:
        raise place.wrong(f"is by {user_id!r}, who is not among the users")
    ts = place.text("ts") if place.has("ts") else workspace.past_ts(place.number("minutes_ago"))
    if "." not in ts or micros(ts) is None:
        raise place.wrong(f"has the ts {ts!r}; write it like '1763709120.000100', in quotes")
    if workspace.find(channel.id, ts):
        raise place.wrong(f"has the ts {ts}, which another message of the channel has already")
    if thread_ts is not None and (micros(ts) or 0) <= (micros(thread_ts) or 0):
        raise place.wrong("is a reply older than the message it answers")
    reactions = {name: _reacting(workspace, users) for name, users in place.fields("reactions")}
    bot_id = bot_id_of(workspace, user_id)
    text = place.text("text").strip()
    files = [_file(workspace, file, user_id) for file in place.items("files")]
    extra = {"subtype": "file_share", "files": files} if files else {}
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


def _file(workspace: Workspace, place: "_Place", user: str) -> JsonObject:
    place = place.mapping({"name", "mimetype", "text", "base64"})
    mimetype = place.text("mimetype") if place.has("mimetype") else "text/plain"
    try:
        content = b64decode(place.text("base64"), validate=True) if place.has("base64") else place.text("text").encode()
    except ValueError as error:
        raise place.wrong("has a content that is no base64") from error
    return uploaded(workspace, user, place.text("name"), content, mimetype)


def _reacting(workspace: Workspace, place: "_Place") -> tuple[str, ...]:
    return _people(workspace, place, "names")


def _people(workspace: Workspace, place: "_Place", said: str) -> tuple[str, ...]:
    users = place.strings()
    for user in users:
        if user not in workspace.users:
            raise place.wrong(f"{said} {user!r}, who is not among the users")
    return tuple(users)


def bot_id_of(workspace: Workspace, user_id: str) -> str | None:
    """The bot id a user posts under; None for a person."""
    if user_id == workspace.bot.user:
        return workspace.bot.bot_id
    user = workspace.users.get(user_id)
    return f"B{user_id[1:]}" if user and user.bot else None


@dataclass(frozen=True, slots=True)
class _Place:
    """A value of the file and the way to it."""

    path: str
    value: object

    def wrong(self, problem: str) -> ConfigError:
        return ConfigError(f"The world is wrong at {self.path}: it {problem}.")

    def mapping(self, known: frozenset[str] | set[str]) -> "_Place":
        if not is_object(self.value):
            raise self.wrong(f"must be a mapping with {', '.join(sorted(known))}")
        unknown = sorted(set(self.value) - known)
        if unknown:
            raise self.wrong(f"has the unknown key {unknown[0]!r}; it may have {', '.join(sorted(known))}")
        return self

    def at(self, key: str) -> "_Place":
        return _Place(f"{self.path}.{key}", self.value.get(key) if is_object(self.value) else None)

    def has(self, key: str) -> bool:
        return self.at(key).value is not None

    def items(self, key: str) -> list["_Place"]:
        place = self.at(key)
        if place.value is None:
            return []
        if not is_array(place.value):
            raise place.wrong("must be a list")
        return [_Place(f"{place.path}[{index}]", item) for index, item in enumerate(place.value)]

    def fields(self, key: str) -> list[tuple[str, "_Place"]]:
        place = self.at(key)
        if place.value is None:
            return []
        if not is_object(place.value):
            raise place.wrong("must be a mapping")
        return [(name, _Place(f"{place.path}.{name}", item)) for name, item in place.value.items()]

    def text(self, key: str) -> str:
        place = self.at(key)
        if not isinstance(place.value, str) or not place.value.strip():
            raise place.wrong("must be text; it is missing, empty or something else")
        return place.value

    def number(self, key: str) -> float:
        place = self.at(key)
        if isinstance(place.value, bool) or not isinstance(place.value, int | float) or place.value < 0:
            raise place.wrong("must be a number of minutes, 0 or more")
        return float(place.value)

    def flag(self, key: str) -> bool:
        place = self.at(key)
        if not isinstance(place.value, bool | None):
            raise place.wrong("must be true or false")
        return bool(place.value)

    def strings(self) -> list[str]:
        found = [item for item in self.value if isinstance(item, str)] if is_array(self.value) else None
        if found is None or (is_array(self.value) and len(found) < len(self.value)):
            raise self.wrong("must be a list of texts")
        return found
