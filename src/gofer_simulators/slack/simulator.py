"""The simulated Slack for tests, evals and the demo: workspace, Web API, deliveries and page."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import httpx2
from typing_extensions import override

from gofer_simulators.http_server import Vendor
from gofer_simulators.json_values import JsonObject
from gofer_simulators.local_links import LocalLinks
from gofer_simulators.slack.adopt import add_recorded
from gofer_simulators.slack.backend import Backend
from gofer_simulators.slack.block_forms import RECEIVED, check_forms
from gofer_simulators.slack.delivery import Deliveries, Pace
from gofer_simulators.slack.envelopes import (
    change_envelopes,
    created_envelopes,
    home_envelopes,
    joined_envelopes,
    message_envelopes,
    stopped_envelopes,
    title_envelopes,
)
from gofer_simulators.slack.interactivity import home_press_payload, press_payload, shortcut_payload
from gofer_simulators.slack.manifest import read_manifest
from gofer_simulators.slack.methods import change_reaction, remove
from gofer_simulators.slack.openid import OpenId
from gofer_simulators.slack.page import Page
from gofer_simulators.slack.sessions import shown_status, stop_delivered
from gofer_simulators.slack.shapes import message_body, shared_message, stable_id, typed
from gofer_simulators.slack.shared_files import delete_file, store_file
from gofer_simulators.slack.socket_mode import SocketMode
from gofer_simulators.slack.streams import stopped_by_person
from gofer_simulators.slack.web_api import Failure, WebApi
from gofer_simulators.slack.workspace import Channel, Message, SlackRefusal
from gofer_simulators.slack.world import bot_id_of, load_workspace


class SlackSimulator(Vendor):
    """One Slack workspace as a web app with state. Use the simulator inside a running event loop."""

    def __init__(
        self,
        world: Mapping[str, object],
        *,
        clock: Callable[[], float],
        http: httpx2.AsyncClient,
        token: str = "xoxb-simulated",  # noqa: S107 - opens nothing but this simulator
        secret: str = "simulated-signing-secret",  # noqa: S107 - likewise
        app_token: str = "xapp-simulated",  # noqa: S107 - likewise
        client_id: str = "1111.2222",
        client_secret: str = "simulated-client-secret",  # noqa: S107 - likewise
        pace: Pace | None = None,
        limited: bool = False,
    ) -> None:
        """Start a workspace; `limited` says whether it refuses calls above the tier of their method."""
        self._token = token
        self._secret = secret
        self.workspace = load_workspace(world, clock)
        self.sockets = SocketMode(self.workspace.bot.app_id, app_token)
        self._deliveries = Deliveries(clock, http, secret, pace or Pace(), self.sockets)
        self._backend = Backend(self.workspace, self._deliveries)
        self._web_api = WebApi(self._backend, token, limited=limited)
        self.openid = OpenId(self.workspace, clock, client_id, client_secret)
        links = LocalLinks()
        page = Page(self.workspace, clock, self, links)
        routes = [*page.routes(), *self.sockets.routes(), *self.openid.routes(), *self._web_api.routes()]
        super().__init__(self._deliveries, routes, links)

    def install(self, manifest: object) -> None:
        """Install the app of a manifest: its name, scopes, events and messages tab. Raises ConfigError."""
        app = read_manifest(manifest)
        self.workspace.bot = replace(
            self.workspace.bot,
            name=app.name,
            scopes=app.scopes,
            messages=app.messages,
            agent=app.agent,
            home=app.home,
            shortcuts=app.shortcuts,
        )
        self._deliveries.interactive = app.interactive
        self._deliveries.events = app.events
        self._web_api.scopes_used.clear()

    @override
    def subscribe(self, url: str) -> None:
        """Deliver events to this URL from now on, and presses of buttons to `/interactivity` in the same folder."""
        self._deliveries.url = url
        self._deliveries.interactivity_url = f"{url.rpartition('/')[0]}/interactivity"

    async def say(
        self,
        user_id: str,
        channel_id: str,
        text: str,
        thread_ts: str | None = None,
        *,
        blocks: Sequence[JsonObject] = (),
        attachments: Sequence[JsonObject] = (),
    ) -> Message:
        """Write a message as a user; `text` is in wire form, with mentions as `<@U…>`. Raises SlackRefusal.

        Apps write blocks and attachments, and so do people who paste a table.
        """
        check_forms(blocks, RECEIVED)
        extra: JsonObject = {"attachments": list(attachments)} if attachments else {}
        draft = Message(channel=channel_id, ts="", user=user_id, text=text, thread_ts=thread_ts)
        return self._write(replace(draft, blocks=tuple(blocks), extra=extra))

    async def forward(self, user_id: str, channel_id: str, message: Message, text: str = "") -> Message:
        """Forward a message as a user, with or without a text of their own. Raises SlackRefusal."""
        shared = shared_message(self.workspace, message)
        return await self.say(user_id, channel_id, text, attachments=[shared])

    async def say_again(self, message: Message) -> Message:
        """Write a message of a user again, as Slack's programs do after a bad connection: another ts, the same id."""
        sent = message_body(self.workspace, message)["client_msg_id"]
        return self._write(replace(message, ts="", extra={**message.extra, "client_msg_id": sent}))

    async def deliver_again(self, message: Message, team: str) -> None:
        """Deliver a message for another workspace too, as Slack may do in a channel that both share."""
        own = self.envelopes(message)
        shared = {"team_id": team, "is_ext_shared_channel": True}
        self._deliveries.announce([{**one, **shared, "event_id": f"{one['event_id']}2"} for one in own])

    async def upload(
        self,
        user_id: str,
        channel_id: str,
        name: str,
        content: bytes,
        text: str = "",
        thread_ts: str | None = None,
        mimetype: str = "text/plain",
        mode: str = "hosted",
        transcript: str = "",
    ) -> Message:
        """Share a file as a user, with or without a text; `mode` is Slack's, such as `external`.

        A clip of sound or video has the `transcript` that Slack made.
        """
        shown = dict(store_file(self.workspace, user_id, name, content, mimetype, mode))
        if transcript:
            preview = {"content": transcript, "has_more": False}
            shown["transcription"] = {"status": "complete", "locale": "en-US", "preview": preview}
        extra = {"subtype": "file_share", "files": [shown], "upload": False, "display_as_bot": False}
        return self._write(
            Message(channel=channel_id, ts="", user=user_id, text=text, thread_ts=thread_ts, extra=extra)
        )

    async def edit(self, user_id: str, channel_id: str, ts: str, text: str) -> Message:
        """Edit a user's own message. Raises SlackRefusal."""
        before = self._own(user_id, channel_id, ts)
        after = self.workspace.put(replace(before, text=text, edited_ts=self.workspace.next_ts()))
        self._deliveries.announce(change_envelopes(self.workspace, before, after))
        return after

    async def unfurl(self, channel_id: str, ts: str) -> Message:
        """Add the preview of a link to a message, as Slack does by itself; the text stays the same."""
        before = self.workspace.message(channel_id, ts)
        preview = {"attachments": [{"id": 1, "title": "A page", "from_url": "https://example.com"}]}
        after = self.workspace.put(replace(before, extra={**before.extra, **preview}))
        self._deliveries.announce(change_envelopes(self.workspace, before, after))
        return after

    async def delete(self, user_id: str, channel_id: str, ts: str) -> None:
        """Delete a user's own message. Raises SlackRefusal."""
        remove(self._backend, self._own(user_id, channel_id, ts))

    async def delete_file(self, file_id: str) -> None:
        """Delete a file; the messages that show it stay."""
        delete_file(self.workspace, file_id)

    async def create_channel(self, user_id: str, name: str) -> Channel:
        """Create a public channel with the user as its member. Raises SlackRefusal."""
        if self.workspace.channel_named(name):
            raise SlackRefusal("name_taken", name)
        channel = Channel(f"C{stable_id('channel', name)}", name, members=(self._known(user_id),))
        self.workspace.put_channel(channel)
        self._deliveries.announce(created_envelopes(self.workspace, channel, user_id))
        return channel

    async def join(self, user_id: str, channel_id: str, inviter: str = "") -> Channel:
        """Add a user or the bot to a channel; `inviter` is the user who invited them, if any."""
        channel = self.workspace.join(self.workspace.channel(channel_id), self._known(user_id))
        self._deliveries.announce(joined_envelopes(self.workspace, channel, user_id, inviter))
        return channel

    def direct(self, user_id: str) -> Channel:
        """Return the direct conversation of a user with the bot; open it if there is none."""
        return self.workspace.direct(self._known(user_id))

    async def stop_session(self, user_id: str, channel_id: str, thread_ts: str, *, only_shown: bool = False) -> Message:
        """Press Stop in a thread. With `only_shown`, raises SlackRefusal if Slack shows no Stop button there."""
        parent = self.workspace.parent(self.workspace.message(channel_id, thread_ts))
        if only_shown and not self.shows_stop(parent):
            raise SlackRefusal("no_stop_button", thread_ts)
        self._deliveries.announce(stopped_envelopes(self.workspace, parent, self._known(user_id)))
        stopped_by_person(self.workspace, parent)
        return parent

    def shows_stop(self, parent: Message) -> bool:
        """Return whether Slack shows the Stop button in a thread."""
        return shown_status(self.workspace, parent)[0] == "processing" and stop_delivered(self._backend)

    async def rename_session(self, user_id: str, channel_id: str, thread_ts: str, title: str) -> None:
        """Rename the session of a thread as a user. Raises SlackRefusal without a session."""
        parent = self.workspace.parent(self.workspace.message(channel_id, thread_ts))
        session = self.workspace.sessions.get((channel_id, parent.ts))
        if session is None:
            raise SlackRefusal("session_not_found")
        self.workspace.sessions[channel_id, parent.ts] = replace(session, title=title)
        user = self._known(user_id)
        self._deliveries.announce(title_envelopes(self.workspace, parent, user, title=title, previous=session.title))

    async def react(self, user_id: str, channel_id: str, ts: str, emoji: str, *, added: bool = True) -> Message:
        """Add or remove a user's reaction. Raises SlackRefusal."""
        message = self.workspace.message(channel_id, ts)
        return change_reaction(self._backend, message, emoji.strip(":"), self._known(user_id), added=added)

    def _write(self, draft: Message) -> Message:
        bot = self.workspace.bot
        if draft.user != bot.user and bot.messages != "open" and self.workspace.channel(draft.channel).kind == "im":
            raise SlackRefusal("messages_tab_disabled", draft.channel)
        bot_id = bot_id_of(self.workspace, self._known(draft.user))
        message = self.workspace.post(replace(draft, bot_id=bot_id))
        self._deliveries.announce(self.envelopes(message))
        return message

    def _own(self, user_id: str, channel_id: str, ts: str) -> Message:
        message = self.workspace.message(channel_id, ts)
        if message.user != user_id:
            raise SlackRefusal("cant_update_message", user_id)
        return message

    def _known(self, user_id: str) -> str:
        if user_id not in self.workspace.users:
            raise SlackRefusal("user_not_found", user_id)
        return user_id

    async def press(self, message: Message, action_id: str, user_id: str, value: str = "") -> bool:
        """Press a button; `value` chooses one of feedback buttons, or an option of a menu.

        Returns whether the app accepted the press. Raises SlackRefusal for a missing button.
        """
        current = message
        if not message.only_for:
            current = self.workspace.message(message.channel, message.ts)
        payload = press_payload(self.workspace, current, action_id, user_id, value)
        return await self._deliveries.send_press(payload)

    async def press_home(self, user_id: str, action_id: str, value: str = "") -> bool:
        """Press a button of the person's Home tab. Raises SlackRefusal for a missing button."""
        return await self._deliveries.send_press(home_press_payload(self.workspace, action_id, user_id, value))

    async def open_home(self, user_id: str, tab: str = "home") -> None:
        """Open the app's `home` or `messages` tab as a user. Raises SlackRefusal for a missing tab."""
        if not {"home": self.workspace.bot.home, "messages": self.workspace.bot.messages != "off"}[tab]:
            raise SlackRefusal("not_enabled", tab)
        self._deliveries.announce(home_envelopes(self.workspace, self._known(user_id), tab))

    async def use_shortcut(self, user_id: str, callback_id: str, message: Message | None = None) -> bool:
        """Use a shortcut of the app, on a message or from anywhere. Raises SlackRefusal for an unknown one."""
        payload = shortcut_payload(self.workspace, callback_id, self._known(user_id), message)
        return await self._deliveries.send_press(payload)

    def restart_program(self, user_id: str) -> None:
        """Restart the Slack program of a person: the messages that only this person saw are gone."""
        whispers = self.workspace.whispers
        whispers[:] = [message for message in whispers if message.only_for != user_id]

    def whispers(self, user_id: str) -> list[Message]:
        """Return the messages that only this person saw, oldest first."""
        return [message for message in self.workspace.whispers if message.only_for == user_id]

    def typed(self, text: str) -> str:
        """Return the wire form of a typed text: escaped, with a mention for `@Gofer`, and with links."""
        return typed(self.workspace, text)

    def envelopes(self, message: Message) -> list[dict[str, object]]:
        """Return the envelopes for a new message. The same message gets the same event ids."""
        return message_envelopes(self.workspace, message)

    async def deliver(self, envelope: JsonObject, *, retry_num: int = 0, retry_reason: str | None = None) -> int:
        """Make one signed delivery and return the status. Raises httpx2.TransportError without an answer."""
        return await self._deliveries.send(envelope, retry_num, retry_reason)

    def adopt(self, envelope: JsonObject) -> None:
        """Add the channel, the people and the message of a recorded `event_callback` if they are missing."""
        add_recorded(self.workspace, envelope)

    @override
    def settings(self, url: str) -> Mapping[str, str]:
        return {"SLACK_API_URL": f"{url}/api", "SLACK_BOT_TOKEN": self._token, "SLACK_SIGNING_SECRET": self._secret}

    @property
    @override
    def written_origin(self) -> str:
        return f"https://{self.workspace.team.domain}.slack.com"

    @override
    def state(self) -> dict[str, object]:
        return self.workspace.state()

    @property
    def scopes_used(self) -> frozenset[str]:
        """The scopes that the app's calls have needed since the last installation."""
        return frozenset(self._web_api.scopes_used)

    def hold_next(self, method: str) -> asyncio.Event:
        """Hold the next call of a Web API method: Slack does the work, sets the returned event and never answers."""
        return self._web_api.hold_next(method)

    def fail_next(self, method: str, *failures: Failure, after_effect: bool = False) -> None:
        """Let the next calls of a Web API method fail, each with one error code or HTTP status.

        With `after_effect`, Slack does the work of the call before it answers with the failure.
        """
        self._web_api.fail_next(method, *failures, after_effect=after_effect)
