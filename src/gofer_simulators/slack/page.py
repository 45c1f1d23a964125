"""The page on which people read and write in the simulated Slack.

The page works without JavaScript. With JavaScript, the page refreshes itself and keeps the text that a person types.
"""

import base64
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from gofer_simulators.local_links import LocalLinks
from gofer_simulators.slack.shapes import typed
from gofer_simulators.slack.streams import close_expired
from gofer_simulators.slack.view import View
from gofer_simulators.slack.workspace import Channel, Message, SlackRefusal, Workspace

_PERSON = "as"
"""The cookie with the person who wrote or pressed last, by id."""


class Actions(Protocol):
    """The actions of people on the page."""

    async def say(self, user_id: str, channel_id: str, text: str, thread_ts: str | None = None) -> Message:
        """Write a message. Raises SlackRefusal."""
        ...

    async def react(self, user_id: str, channel_id: str, ts: str, emoji: str, *, added: bool = True) -> Message:
        """Add or remove a reaction. Raises SlackRefusal."""
        ...

    async def press(self, message: Message, action_id: str, user_id: str, value: str = "") -> bool:
        """Press a button. Return whether the app accepted the press. Raises SlackRefusal."""
        ...

    async def stop_session(self, user_id: str, channel_id: str, thread_ts: str, *, only_shown: bool = False) -> Message:
        """Press Stop in a thread. Raises SlackRefusal."""
        ...

    async def open_home(self, user_id: str, tab: str = "home") -> None:
        """Open the Home tab of the app. Raises SlackRefusal."""
        ...

    async def press_home(self, user_id: str, action_id: str, value: str = "") -> bool:
        """Press a button of the Home tab. Return whether the app accepted the press. Raises SlackRefusal."""
        ...

    def shows_stop(self, parent: Message) -> bool:
        """Return whether Slack shows the Stop button in a thread."""
        ...


class Page:
    """The page of one workspace."""

    def __init__(
        self, workspace: Workspace, clock: Callable[[], float], actions: Actions, links: LocalLinks | None = None
    ) -> None:
        self._workspace = workspace
        self._actions = actions
        self._clock = clock
        self._links = links or LocalLinks()
        folder = files("gofer_simulators.slack")
        self._css = folder.joinpath("page.css").read_text("utf-8")
        self._js = folder.joinpath("page.js").read_text("utf-8")

    def routes(self) -> list[Route]:
        """Return the routes of the app."""
        return [
            Route("/", self._show, methods=["GET"]),
            Route("/archives/{channel}/p{instant:int}", self._permalink, methods=["GET"]),
            Route("/post", self._post, methods=["POST"]),
            Route("/react", self._react, methods=["POST"]),
            Route("/press", self._press, methods=["POST"]),
            Route("/stop", self._stop, methods=["POST"]),
            Route("/home", self._home, methods=["POST"]),
            Route("/press-home", self._press_home, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        close_expired(self._workspace)
        channel = self._chosen_channel(request) or self._latest_channel()
        parent = self._open_thread(channel, request.query_params.get("thread", ""))
        home = request.query_params.get("home", "")
        person = request.cookies.get(_PERSON, "")
        view = View(self._workspace, self._clock, self._links, person, self._actions.shows_stop)
        columns = view.columns(channel, parent)
        if home in self._workspace.users:
            columns = view.home(home)
        layout = "plain"
        if parent:
            layout = "split"
        html = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{view.title(channel)}</title><style>{self._css}</style></head>"
            f'<body><main class="{layout}">{columns}</main>'
            f"<script>{self._js}</script></body></html>"
        )
        headers = {"Content-Security-Policy": self._policy(), "Cache-Control": "no-store"}
        return HTMLResponse(html, headers=headers)

    async def _permalink(self, request: Request) -> Response:
        """Open the thread of a message by the link that texts have."""
        channel = request.path_params["channel"]
        digits = str(request.path_params["instant"])
        ts = f"{digits[:-6]}.{digits[-6:]}"
        if self._workspace.find(channel, ts) is None:
            return PlainTextResponse("There is no such message. The demo makes new messages at each start.", 404)
        return RedirectResponse(f"/?{urlencode({'channel': channel, 'thread': ts})}#m{ts}", 302)

    def _policy(self) -> str:
        style = _fingerprint(self._css)
        script = _fingerprint(self._js)
        return (
            f"default-src 'none'; style-src '{style}'; script-src '{script}';"
            " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )

    async def _post(self, request: Request) -> Response:
        form = await _form(request)
        text = form.get("text", "").strip()
        if not text:
            return PlainTextResponse("The message is empty. Type a text first.", 400)
        wire = typed(self._workspace, text)
        thread_ts = form.get("thread_ts") or None

        async def write() -> Message:
            return await self._actions.say(form.get("user", ""), form.get("channel", ""), wire, thread_ts)

        return await self._perform(request, form, write)

    async def _react(self, request: Request) -> Response:
        form = await _form(request)
        user = form.get("user", "")
        channel = form.get("channel", "")
        name = form.get("name", "")

        async def toggle() -> Message:
            message = self._workspace.message(channel, form.get("ts", ""))
            added = user not in message.reactions.get(name, ())
            return await self._actions.react(user, channel, message.ts, name, added=added)

        return await self._perform(request, form, toggle)

    async def _press(self, request: Request) -> Response:
        form = await _form(request)

        async def press() -> Message:
            message = self._workspace.shown(form.get("channel", ""), form.get("ts", ""))
            # Only the person who sees an ephemeral message can press its buttons.
            person = message.only_for or form.get("user", "")
            if not await self._actions.press(message, form.get("action_id", ""), person, form.get("value", "")):
                raise SlackRefusal("the app did not accept the press")
            return message

        return await self._perform(request, form, press)

    async def _stop(self, request: Request) -> Response:
        form = await _form(request)

        async def stop() -> Message:
            place = (form.get("channel", ""), form.get("thread_ts", ""))
            return await self._actions.stop_session(form.get("user", ""), *place, only_shown=True)

        return await self._perform(request, form, stop)

    async def _home(self, request: Request) -> Response:
        form = await _form(request)
        return await self._at_home(request, form, lambda: self._actions.open_home(form.get("user", "")))

    async def _press_home(self, request: Request) -> Response:
        form = await _form(request)
        pressed = (form.get("user", ""), form.get("action_id", ""), form.get("value", ""))
        return await self._at_home(request, form, lambda: self._actions.press_home(*pressed))

    async def _at_home(
        self, request: Request, form: Mapping[str, str], action: Callable[[], Awaitable[object]]
    ) -> Response:
        async def perform() -> None:
            if await action() is False:
                raise SlackRefusal("the app did not accept the press")

        refused = await _refused(request, perform)
        return refused or RedirectResponse("/?" + urlencode({"home": form.get("user", "")}), 303)

    async def _perform(
        self, request: Request, form: Mapping[str, str], action: Callable[[], Awaitable[Message]]
    ) -> Response:
        done: list[Message] = []

        async def perform() -> None:
            done.append(await action())

        if refused := await _refused(request, perform):
            return refused
        (message,) = done
        view = {"channel": message.channel}
        if thread_ts := form.get("thread_ts"):
            view["thread"] = thread_ts
        elif self._asks_the_app(message):
            # The app answers in a thread, which would otherwise stay closed behind "1 reply".
            view["thread"] = message.ts
        response = RedirectResponse("/?" + urlencode(view), 303)
        response.set_cookie(_PERSON, form.get("user", ""), samesite="strict")
        return response

    def _asks_the_app(self, message: Message) -> bool:
        """Return whether a message mentions the app outside a thread."""
        return f"<@{self._workspace.bot.user}>" in message.text and not message.is_reply

    def _open_thread(self, channel: Channel | None, ts: str) -> Message | None:
        """Return the parent of the thread with the message `ts`, or None without a channel or such a message."""
        if channel is None:
            return None
        message = self._workspace.find(channel.id, ts)
        if message is None:
            return None
        return self._workspace.parent(message)

    def _chosen_channel(self, request: Request) -> Channel | None:
        """Return the channel that the address names by id, or the direct conversation of a person with the app."""
        person = request.query_params.get("direct", "")
        if person in self._workspace.users:
            return self._workspace.direct(person)
        return self._workspace.channels.get(request.query_params.get("channel", ""))

    def _latest_channel(self) -> Channel | None:
        channels = self._workspace.channels
        latest = self._workspace.all_messages()[-1:]
        if latest:
            return channels[latest[0].channel]
        return next(iter(channels.values()), None)


async def _refused(request: Request, action: Callable[[], Awaitable[None]]) -> Response | None:
    """Perform an action of the page. Return the answer that refuses it, or None."""
    origin = request.headers.get("origin")
    # A page of another site must not be able to post messages here.
    if origin and urlsplit(origin).netloc != request.headers.get("host"):
        return PlainTextResponse("This form comes from a page of another site. Use the page of this Slack.", 403)
    try:
        await action()
    except SlackRefusal as refusal:
        return PlainTextResponse(f"Slack refuses: {refusal}.", 400)
    return None


async def _form(request: Request) -> dict[str, str]:
    body = await request.body()
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _fingerprint(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
