"""Channels, threads and reactions as HTML."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape

from gofer_simulators.json_values import objects
from gofer_simulators.local_links import LocalLinks
from gofer_simulators.slack.rendering import Renderer, emoji, hidden
from gofer_simulators.slack.sessions import shown_status
from gofer_simulators.slack.streams import seen_by
from gofer_simulators.slack.timestamps import order
from gofer_simulators.slack.workspace import Channel, Message, SessionStatus, User, Workspace

_QUICK = ("jira", "eyes", "white_check_mark", "+1", "-1", "merged", "octagonal_sign")
_COLOURS = 8
_STATUS_WORDS: Mapping[SessionStatus, str] = {
    "processing": "is working…",
    "suspended": "waits for a person",
    "active": "",
    "closed": "",
}
"""The words that people see for each status of a session."""


class View:
    """The columns of the page, rendered from the current state."""

    def __init__(
        self,
        workspace: Workspace,
        clock: Callable[[], float],
        links: LocalLinks,
        person: str,
        stoppable: Callable[[Message], bool],
    ) -> None:
        """Render for the `person` who reads and writes, by id; empty for the first person of each channel.

        `stoppable` says whether Slack shows the Stop button in a thread.
        """
        self._stoppable = stoppable
        self._workspace = workspace
        self._person = person
        self._clock = clock
        self._renderer = Renderer(workspace, links)

    def title(self, channel: Channel | None) -> str:
        """Return the title of the window."""
        title = f"{self._workspace.team.name} · simulated Slack"
        if channel:
            title = f"{_title(channel)} · {title}"
        return escape(title)

    def columns(self, channel: Channel | None, parent: Message | None) -> str:
        """Return the sidebar, the open channel if any, and the open thread if any."""
        columns = [self._sidebar(channel)]
        if channel:
            columns.append(self._timeline(channel))
        if channel and parent:
            columns.append(self._thread(channel, parent))
        return "".join(columns)

    def home(self, person: str) -> str:
        """Return the sidebar and the Home tab of a person."""
        view = self._workspace.homes.get(person, {})
        place = Message("", ts="", user=self._workspace.bot.user, text="", only_for=person)
        blocks = "".join(self._renderer.block(block, place) for block in objects(view.get("blocks")))
        shown = blocks or '<p class="empty">The app has not published a Home tab for this person.</p>'
        name = escape(self._workspace.name_of(person))
        return (
            f'{self._sidebar(None)}<section class="column timeline"><div class="bar">Home <small>{name}</small></div>'
            f'<div class="scroll" id="home" data-live><div class="body home">{shown}</div></div></section>'
        )

    def _sidebar(self, here: Channel | None) -> str:
        channels = "".join(
            f'<a href="/?channel={escape(channel.id)}" class="{"here" if channel == here else "there"}">'
            f"{_sign(channel)}{escape(channel.name)}</a>"
            for channel in self._workspace.channels.values()
            if channel.kind != "im"
        )
        people = "".join(
            f'<div class="person">{self._avatar(user.id)}{escape(user.name)}</div>'
            for user in self._workspace.users.values()
            if user.bot
        )
        direct = "".join(self._direct_link(user, here) for user in self._people(None))
        return (
            f'<nav class="column"><div class="bar">{escape(self._workspace.team.name)}</div>'
            '<div class="scroll" id="places" data-live>'
            f"{self._home_button()}<h2>Channels</h2>{channels}"
            f"<h2>Direct messages with {escape(self._workspace.bot.name)}</h2>{direct}{people}</div>"
            '<div id="status">Simulated Slack · reload the page for new messages</div></nav>'
        )

    def _home_button(self) -> str:
        people = self._people(None)
        if not (self._workspace.bot.home and people):
            return ""
        chosen = next((user.id for user in people if user.id == self._person), people[0].id)
        button = f'<button class="tohome" name="user" value="{escape(chosen)}">Home</button>'
        return f'<form method="post" action="/home">{button}</form>'

    def _direct_link(self, user: User, here: Channel | None) -> str:
        shown = "person there"
        if here and here.kind == "im" and user.id in here.members:
            shown = "person here"
        address = f"/?direct={escape(user.id)}"
        return f'<a href="{address}" class="{shown}">{self._avatar(user.id)}{escape(user.name)}</a>'

    def _timeline(self, channel: Channel) -> str:
        whispers = [one for one in self._workspace.whispers if one.channel == channel.id and not one.thread_ts]
        listed = sorted([*self._workspace.timeline(channel.id), *whispers], key=lambda one: order(one.ts))
        messages = [self._message(message) for message in listed]
        shown = "".join(messages) or '<p class="empty">No messages yet.</p>'
        notes = [f"{len(channel.members)} members"]
        notes += ["private"] * (channel.kind != "channel") + ["archived"] * channel.archived
        return (
            '<section class="column timeline"><div class="bar">'
            f"{escape(_title(channel))} <small>{' · '.join(notes)}</small></div>"
            f'<div class="scroll" id="timeline" data-live>{shown}</div>'
            f"{self._composer(channel, None)}</section>"
        )

    def _thread(self, channel: Channel, parent: Message) -> str:
        replies = self._workspace.replies(parent)
        count = ""
        if replies:
            count = f'<div class="count">{_counted(len(replies), "reply", "replies")}</div>'
        whispers = [one for one in self._workspace.whispers if (one.channel, one.thread_ts) == (channel.id, parent.ts)]
        listed = sorted([*replies, *whispers], key=lambda one: order(one.ts))
        shown = "".join(self._message(reply, in_thread=True) for reply in listed)
        session = self._workspace.sessions.get((channel.id, parent.ts))
        title = "Thread"
        if session and session.title:
            title = session.title
        return (
            f'<section class="column"><div class="bar">{escape(title)} <small>{escape(_title(channel))}</small>'
            f'<a class="close" href="/?channel={escape(channel.id)}" title="Close">&times;</a></div>'
            '<div class="scroll" id="thread" data-live>'
            f"{self._message(parent, in_thread=True)}{count}{shown}{self._session(parent, in_thread=True)}</div>"
            f"{self._composer(channel, parent)}</section>"
        )

    def _session(self, parent: Message, *, in_thread: bool = False) -> str:
        """Return the status of the agent in a thread, with the Stop button in the thread itself."""
        status, line = shown_status(self._workspace, parent)
        words = line or _STATUS_WORDS[status]
        if not words:
            return ""
        stop = ""
        if in_thread and self._stoppable(parent):
            fields = f"{self._message_fields(parent)}{hidden({'thread_ts': parent.ts})}"
            stop = f'<form method="post" action="/stop">{fields}<button class="stop">Stop</button></form>'
        name = escape(self._workspace.bot.name)
        return f'<div class="session {status}"><span><b>{name}</b> {escape(words)}</span>{stop}</div>'

    def _message(self, message: Message, *, in_thread: bool = False) -> str:
        message = seen_by(self._workspace, message, self._reader(message.channel))
        edited = ""
        if message.edited_ts:
            edited = '<span class="edited">(edited)</span>'
        if (message.channel, message.ts) in self._workspace.streams:
            edited = '<span class="edited">writing…</span>'
        # Both columns can show the same message, and an id may occur only once in a page.
        anchor = ""
        if message.is_reply == in_thread:
            anchor = f' id="m{message.ts}"'
        # Slack does not store an ephemeral message, so people cannot react or reply to it.
        stored = not message.only_for
        thread_link = ""
        if stored and not in_thread:
            thread_link = self._thread_link(message)
            if not message.is_reply:
                thread_link += self._session(message)
        quick_reactions = ""
        if stored:
            quick_reactions = self._quick_reactions(message)
        return (
            f'<article class="message"{anchor}>{self._avatar(message.user)}<div>'
            f'<div class="who"><b>{escape(self._workspace.name_of(message.user) or "Integration")}</b>'
            f"{self._badge(message)}{self._time(message.ts)}{edited}</div>"
            f'<div class="body">{self._renderer.message(message)}</div>'
            f"{self._reactions(message)}{thread_link}</div>{quick_reactions}</article>"
        )

    def _thread_link(self, message: Message) -> str:
        parent = self._workspace.parent(message)
        replies = self._workspace.replies(parent)
        address = f"/?channel={escape(message.channel)}&amp;thread={escape(parent.ts)}"
        if not replies:
            return f'<a class="threadlink" href="{address}"><span>Reply in thread</span></a>'
        last = self._clock_time(replies[-1].ts)
        count = _counted(len(replies), "reply", "replies")
        return f'<a class="threadlink" href="{address}">{count} <span>· last {last}</span></a>'

    def _reactions(self, message: Message) -> str:
        chips = "".join(
            f'<button name="name" value="{escape(name)}"'
            f' title="{escape(self._names(users))} · :{escape(name)}:">'
            f"{escape(emoji(name))} {len(users)}</button>"
            for name, users in message.reactions.items()
        )
        if chips:
            return f'<form class="chips" method="post" action="/react">{self._message_fields(message)}{chips}</form>'
        return ""

    def _quick_reactions(self, message: Message) -> str:
        buttons = "".join(
            f'<button name="name" value="{name}" title=":{name}:">{emoji(name)}</button>' for name in _QUICK
        )
        return f'<form class="quick" method="post" action="/react">{self._message_fields(message)}{buttons}</form>'

    def _message_fields(self, message: Message) -> str:
        fields = {"user": self._reader(message.channel), "channel": message.channel, "ts": message.ts}
        if message.is_reply and message.thread_ts:
            fields["thread_ts"] = message.thread_ts
        return hidden(fields)

    def _reader(self, channel: str) -> str:
        """Return the person who reads a channel: the chosen one if they may write there, else the first who may."""
        people = [user.id for user in self._people(self._workspace.channels.get(channel))]
        if self._person in people:
            return self._person
        return next(iter(people), "")

    def _composer(self, channel: Channel, parent: Message | None) -> str:
        options = "".join(
            f'<option value="{escape(user.id)}"{" selected" * (user.id == self._person)}>{escape(user.name)}</option>'
            for user in self._people(channel)
        )
        place = f"Message {_title(channel)}"
        fields = {"channel": channel.id}
        if parent:
            place = "Reply"
            fields["thread_ts"] = parent.ts
        hint = f"{place}. @{self._workspace.bot.name} asks the agent."
        if channel.kind == "im":
            hint = f"Message {self._workspace.bot.name}. It answers each message here."
        return (
            f'<form class="composer" method="post" action="/post">{hidden(fields)}'
            f'<textarea name="text" required aria-label="{escape(place)}" placeholder="{escape(hint)}">'
            f'</textarea><footer><label>as <select name="user">{options}</select></label>'
            "<button>Send</button></footer></form>"
        )

    def _people(self, channel: Channel | None) -> list[User]:
        """Return the people who may write in a channel: its members if it is not public, and otherwise all."""
        people = [user for user in self._workspace.users.values() if not user.bot]
        if channel is None or channel.kind == "channel":
            return people
        return [user for user in people if user.id in channel.members]

    def _names(self, users: Sequence[str]) -> str:
        return ", ".join(map(self._workspace.name_of, users))

    def _avatar(self, user: str) -> str:
        words = (self._workspace.name_of(user) or "?").replace("-", " ").split()
        initials = "".join(word[0] for word in words[:2]).upper()
        users = [*self._workspace.users, user]
        colour = f"c{users.index(user) % _COLOURS}"
        if user == self._workspace.bot.user:
            colour = "own"
        return f'<span class="face {colour}" aria-hidden="true">{escape(initials)}</span>'

    def _badge(self, message: Message) -> str:
        user = self._workspace.users.get(message.user)
        if message.only_for:
            return f'<span class="badge">ONLY VISIBLE TO {escape(self._workspace.name_of(message.only_for))}</span>'
        if message.bot_id:
            return '<span class="badge">APP</span>'
        if user and user.restricted:
            return '<span class="badge">GUEST</span>'
        return ""

    def _time(self, ts: str) -> str:
        moment = _moment(ts)
        title = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
        return f'<time datetime="{moment.isoformat()}" title="{title}">{self._clock_time(ts)}</time>'

    def _clock_time(self, ts: str) -> str:
        moment = _moment(ts)
        now = datetime.fromtimestamp(self._clock(), UTC)
        if moment.date() == now.date():
            return f"{moment:%H:%M}"
        return f"{moment:%d %b %H:%M}".lstrip("0")


def _sign(channel: Channel) -> str:
    if channel.kind == "group":
        return '<span class="sign lock" title="private"></span>'
    return f'<span class="sign">{"#" if channel.kind == "channel" else "@"}</span>'


def _title(channel: Channel) -> str:
    match channel.kind:
        case "channel":
            return f"#{channel.name}"
        case "im":
            return f"Direct message: {channel.name}"
        case _:
            return channel.name


def _counted(number: int, one: str, many: str) -> str:
    if number == 1:
        return f"{number} {one}"
    return f"{number} {many}"


def _moment(ts: str) -> datetime:
    return datetime.fromtimestamp(order(ts) / 1_000_000, UTC)
