"""The state of the simulated Slack workspace, as frozen values that changes replace."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gofer_simulators.json_values import JsonObject
from gofer_simulators.slack.timestamps import STEP, order, rounded, written

MAX_REACTIONS_PER_USER = 23
ChannelKind = Literal["channel", "group", "im", "mpim"]
MessagesTab = Literal["open", "read-only", "off"]
"""Whether people can write in the messages tab of an app, can only read it, or do not have it."""
SessionStatus = Literal["active", "processing", "suspended", "closed"]


class SlackRefusal(Exception):
    """A refusal of Slack; `code` is the vendor's error code."""

    def __init__(self, code: str, hint: str = "") -> None:
        super().__init__(f"{code}: {hint}" if hint else code)
        self.code = code
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Team:
    """The id, domain and name of a workspace."""

    id: str
    domain: str
    name: str


@dataclass(frozen=True, slots=True)
class Bot:
    """The app's own bot user."""

    user: str
    bot_id: str
    name: str
    app_id: str
    scopes: frozenset[str] | None = None
    """The scopes of the token, or None for all scopes."""
    messages: MessagesTab = "open"
    agent: bool = True
    """Whether the app is declared with `agent_view`; an app without a manifest is an agent."""
    home: bool = True
    """Whether people have the Home tab of the app."""
    shortcuts: frozenset[str] | None = None
    """The callback ids of the app's shortcuts, or None for any."""


@dataclass(frozen=True, slots=True)
class User:
    """A person, or another app's bot."""

    id: str
    name: str
    real_name: str
    bot: bool = False
    restricted: bool = False
    """Whether the person is a guest."""
    title: str = ""
    tz: str = "Etc/UTC"
    deactivated: bool = False
    external: bool = False
    """Whether the person belongs to another company and is here through a shared channel."""


@dataclass(frozen=True, slots=True)
class Group:
    """A user group."""

    id: str
    handle: str
    name: str
    users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation of any kind."""

    id: str
    name: str
    kind: ChannelKind = "channel"
    members: tuple[str, ...] = ()
    archived: bool = False
    shared: bool = False
    """Whether the channel is shared with another company."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `(channel, ts)` is its identity."""

    channel: str
    ts: str
    user: str
    """The id of the author; empty for an integration without a user."""
    text: str
    thread_ts: str | None = None
    bot_id: str | None = None
    blocks: tuple[JsonObject, ...] = ()
    metadata: JsonObject | None = None
    reactions: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    edited_ts: str | None = None
    extra: JsonObject = field(default_factory=dict[str, object])
    """Further fields in wire form, such as subtype, files and attachments."""
    paged: frozenset[str] = frozenset()
    """The people and groups that the app's message pages, as `@U…`, `!here` or `!subteam^S…`."""
    only_for: str = ""
    """The only person who sees the message; empty for a message to all. Slack does not store such a message."""

    @property
    def is_reply(self) -> bool:
        """Whether the message is a reply in a thread, and not its parent."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def in_timeline(self) -> bool:
        """Whether the channel itself shows the message."""
        return not self.is_reply or self.extra.get("subtype") == "thread_broadcast"


@dataclass(frozen=True, slots=True)
class AgentSession:
    """The session of an agent in a thread, with one slot for the status."""

    status: SessionStatus
    title: str
    since: int
    """The time of the status, in microseconds since 1970."""
    line: str = ""
    """The free text of `assistant.threads.setStatus`; empty after `agents.sessions.setStatus`."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A message that still streams; its parts become the blocks of the message."""

    recipient: str
    """The only person who watches the message grow; empty in a direct message."""
    started: int
    """The time of the first chunk, in microseconds since 1970."""
    mode: str
    kind: str = ""
    """`markdown_text` or `chunks`, by the first call that had either."""
    parts: tuple[JsonObject, ...] = ()
    first: tuple[JsonObject, ...] = ()
    """The blocks that others see until the stream ends."""
    stopped: bool = False
    """Whether a person pressed Stop."""


@dataclass(frozen=True, slots=True)
class File:
    """A file; `content` is None before the upload and after a deletion, `shared` says whether messages can show it."""

    id: str
    name: str
    length: int
    content: bytes | None = None
    shared: bool = False
    mimetype: str = "text/plain"
    user: str = ""
    """The id of the owner; empty for a file of the app."""
    mode: str = "hosted"
    """`hosted`, `external`, `hidden_by_limit`, or `tombstone` for a deleted file."""
    title: str = ""
    created: int = 0


class Workspace:
    """The state of one simulated workspace."""

    def __init__(self, team: Team, bot: Bot, clock: Callable[[], float]) -> None:
        self.team = team
        self.bot = bot
        self.users: dict[str, User] = {}
        self.groups: dict[str, Group] = {}
        self.channels: dict[str, Channel] = {}
        self.whispers: list[Message] = []
        """The messages that only one person saw, oldest first."""
        self.sessions: dict[tuple[str, str], AgentSession] = {}
        """The sessions of the app, by channel and thread."""
        self.streams: dict[tuple[str, str], Stream] = {}
        """The streams that did not end, by channel and `ts` of their messages."""
        self.homes: dict[str, JsonObject] = {}
        """The published view of the Home tab, by person."""
        self.files: dict[str, File] = {}
        self.emoji: frozenset[str] = frozenset()
        """The names of the workspace's own emoji."""
        self._clock = clock
        self._messages: dict[tuple[str, str], Message] = {}
        self._instants: set[int] = set()
        self._latest = 0

    def now(self) -> int:
        """Return the time in microseconds since 1970."""
        return rounded(self._clock())

    def next_ts(self) -> str:
        """Return a `ts` for now that is later than all others in the workspace."""
        self._latest = max(self.now(), self._latest + STEP)
        return written(self._latest)

    def past_ts(self, minutes_ago: float) -> str:
        """Return the first unused `ts` from `minutes_ago` on."""
        instant = rounded(self._clock() - minutes_ago * 60)
        while instant in self._instants:
            instant += STEP
        return written(instant)

    def put(self, message: Message) -> Message:
        """Store a message, and replace its earlier state if there is one."""
        instant = order(message.ts)
        self._instants.add(instant)
        self._latest = max(self._latest, instant)
        self._messages[message.channel, message.ts] = message
        return message

    def find(self, channel: str, ts: str) -> Message | None:
        """Return the message with this channel and `ts`, or None."""
        return self._messages.get((channel, ts))

    def message(self, channel: str, ts: str) -> Message:
        """Return the message with this channel and `ts`. Raises SlackRefusal(message_not_found)."""
        found = self.find(channel, ts)
        if found is None:
            raise SlackRefusal("message_not_found")
        return found

    def shown(self, channel: str, ts: str) -> Message:
        """Return the message with this channel and `ts`, also if only one person sees it. Raises SlackRefusal."""
        whispered = (one for one in self.whispers if (one.channel, one.ts) == (channel, ts))
        return next(whispered, None) or self.message(channel, ts)

    def channel(self, channel: str) -> Channel:
        """Return the channel with this id. Raises SlackRefusal(channel_not_found)."""
        found = self.channels.get(channel)
        if found is None:
            raise SlackRefusal("channel_not_found", channel)
        return found

    def channel_named(self, name: str) -> Channel | None:
        """Return the channel with this name, given with or without `#`, or None."""
        return next((channel for channel in self.channels.values() if channel.name == name.removeprefix("#")), None)

    def timeline(self, channel: str) -> list[Message]:
        """Return the messages that the channel itself shows, oldest first."""
        return [message for message in self._in(channel) if message.in_timeline]

    def replies(self, parent: Message) -> list[Message]:
        """Return the replies of a thread, oldest first, without the parent."""
        return [message for message in self._in(parent.channel) if message.is_reply and message.thread_ts == parent.ts]

    def parent(self, message: Message) -> Message:
        """Return the first message of a message's thread; for a message that is no reply, the message itself."""
        if not message.is_reply or message.thread_ts is None:
            return message
        return self.find(message.channel, message.thread_ts) or message

    def all_messages(self) -> list[Message]:
        """Return every message, oldest first."""
        return sorted(self._messages.values(), key=lambda message: order(message.ts))

    def post(self, draft: Message) -> Message:
        """Store a draft as a new message with a `ts`. Raises SlackRefusal.

        If `thread_ts` names a reply, the new message goes into the thread of that reply.
        """
        channel = self.channel(draft.channel)
        if channel.archived:
            raise SlackRefusal("is_archived")
        thread_ts = draft.thread_ts
        if thread_ts is not None:
            answered = self.find(draft.channel, thread_ts)
            if answered is None:
                raise SlackRefusal("thread_not_found")
            thread_ts = self.parent(answered).ts
        return self.put(replace(draft, ts=self.next_ts(), thread_ts=thread_ts))

    def remove(self, message: Message) -> None:
        """Remove a message; the replies in its thread stay."""
        del self._messages[message.channel, message.ts]
        self.streams.pop((message.channel, message.ts), None)

    def join(self, channel: Channel, user: str) -> Channel:
        """Add a user to a channel. Raises SlackRefusal for an archived channel."""
        if channel.archived:
            raise SlackRefusal("is_archived")
        if user in channel.members:
            return self.put_channel(channel)
        return self.put_channel(replace(channel, members=(*channel.members, user)))

    def put_channel(self, channel: Channel) -> Channel:
        """Store a channel, and replace its earlier state if there is one."""
        self.channels[channel.id] = channel
        return channel

    def direct(self, user: str) -> Channel:
        """Return the direct conversation of the bot with a user; open it if there is none."""
        for channel in self.channels.values():
            if channel.kind == "im" and user in channel.members:
                return channel
        return self.put_channel(Channel(f"D{user[1:]}", self.name_of(user), "im", (self.bot.user, user)))

    def own_draft(self, channel: Channel, text: str, thread_ts: str | None) -> Message:
        """Return a message of the bot that is not posted yet."""
        bot = self.bot
        return Message(channel.id, ts="", user=bot.user, text=text, thread_ts=thread_ts, bot_id=bot.bot_id)

    def whisper(self, draft: Message) -> Message:
        """Store a message that only one person sees."""
        message = replace(draft, ts=self.next_ts())
        self.whispers.append(message)
        return message

    def react(self, message: Message, name: str, user: str) -> Message:
        """Add a user's reaction. Raises SlackRefusal."""
        users = message.reactions.get(name, ())
        if user in users:
            raise SlackRefusal("already_reacted")
        if sum(user in others for others in message.reactions.values()) >= MAX_REACTIONS_PER_USER:
            raise SlackRefusal("too_many_reactions")
        return self.put(replace(message, reactions={**message.reactions, name: (*users, user)}))

    def unreact(self, message: Message, name: str, user: str) -> Message:
        """Remove a user's reaction. Raises SlackRefusal."""
        users = message.reactions.get(name, ())
        if user not in users:
            raise SlackRefusal("no_reaction")
        left = tuple(other for other in users if other != user)
        reactions = {**message.reactions, name: left}
        if not left:
            del reactions[name]
        return self.put(replace(message, reactions=reactions))

    def permalink(self, message: Message) -> str:
        """Return the address of a message as Slack writes it."""
        place = f"https://{self.team.domain}.slack.com/archives/{message.channel}"
        link = f"{place}/p{message.ts.replace('.', '')}"
        if message.is_reply:
            return f"{link}?thread_ts={message.thread_ts}&cid={message.channel}"
        return link

    def name_of(self, user: str) -> str:
        """Return the display name of a user, or the id of an unknown user."""
        if user == self.bot.user:
            return self.bot.name
        known = self.users.get(user)
        if known:
            return known.name
        return user

    def mentions_bot(self, text: str) -> bool:
        """Return whether a text in wire form mentions the bot."""
        return f"<@{self.bot.user}>" in text or f"<@{self.bot.user}|" in text

    def state(self) -> dict[str, object]:
        """Return channels, messages and reactions in plain JSON, in a stable order."""
        return {
            "team": self.team.id,
            "channels": {channel.name: self._channel_state(channel) for channel in self.channels.values()},
        }

    def _channel_state(self, channel: Channel) -> dict[str, object]:
        return {
            "id": channel.id,
            "private": channel.kind != "channel",
            "archived": channel.archived,
            "members": sorted(channel.members),
            "messages": [_message_state(message) for message in self._in(channel.id)],
        }

    def _in(self, channel: str) -> list[Message]:
        return [message for message in self.all_messages() if message.channel == channel]


def _message_state(message: Message) -> dict[str, object]:
    shown: dict[str, object] = {"ts": message.ts, "user": message.user, "text": message.text}
    shown["reactions"] = {name: list(users) for name, users in sorted(message.reactions.items())}
    optional: dict[str, object] = {
        "thread_ts": message.thread_ts,
        "bot_id": message.bot_id,
        "blocks": [dict(block) for block in message.blocks],
        "metadata": message.metadata,
        "edited_ts": message.edited_ts,
        "subtype": message.extra.get("subtype"),
        "files": message.extra.get("files"),
    }
    return shown | {key: value for key, value in optional.items() if value}
