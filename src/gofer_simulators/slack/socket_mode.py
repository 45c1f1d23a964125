"""Socket Mode: deliveries over WebSockets that the app opens.

`apps.connections.open` returns a ticket for one connection. Slack sends each envelope over one of the open connections,
and the app acknowledges the envelope on the same connection.
"""

import asyncio
import json
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from gofer_simulators.json_values import JsonObject, is_object, parsed, text_of
from gofer_simulators.slack.shapes import stable_id

LIFETIME_SECONDS = 18_060
"""Approximate lifetime of a connection, as Slack announces it; the simulator does not end connections."""


class SocketMode:
    """The connections of one app."""

    def __init__(self, app_id: str, token: str) -> None:
        self._app_id = app_id
        self._token = token
        self._tickets: set[str] = set()
        self._links: list[_Link] = []
        self._connected = asyncio.Event()
        self._count = 0
        self.enabled = False
        """Whether the app has asked for a connection. From then on, Slack sends events only over sockets."""
        self.acknowledged: list[str] = []
        """The ids of acknowledged events, in the order of the acknowledgements."""
        self.refusals = 0
        """How many of the next connections Slack refuses; a refused connection uses up its ticket."""

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes of the app."""
        return [
            Route("/api/apps.connections.open", self._open, methods=["POST"]),
            WebSocketRoute("/link/", self._serve, name="link"),
        ]

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return len(self._links)

    async def attempt(
        self, envelope: JsonObject, answer_within: float, retry_num: int, reason: str | None, kind: str = "events_api"
    ) -> str | None:
        """Send an envelope over one connection. Return Slack's reason for a retry, or None if it was acknowledged."""
        try:
            async with asyncio.timeout(answer_within):
                while not self._links:
                    await self._connected.wait()
                # The connections take turns.
                link = self._links.pop(0)
                self._links.append(link)
                await link.deliver(self._frame(kind, envelope, retry_num, reason))
        except TimeoutError:
            return "timeout"
        except ConnectionError:
            return "connection_failed"
        if kind == "events_api":
            self.acknowledged.append(text_of(envelope, "event_id"))
        return None

    async def disconnect(self, reason: str) -> None:
        """Announce the end of every connection; `reason` is `warning`, `refresh_requested` or `link_disabled`."""
        for link in list(self._links):
            await link.send({"type": "disconnect", "reason": reason, "debug_info": {"host": "simulated"}})

    async def cut(self) -> None:
        """Close every connection without an announcement."""
        for link in list(self._links):
            await link.socket.close(1011)

    async def _open(self, request: Request) -> Response:
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not bearer:
            return JSONResponse({"ok": False, "error": "not_authed"})
        if bearer != self._token:
            code = "invalid_auth"
            if bearer.startswith("xoxb-"):
                code = "not_allowed_token_type"
            return JSONResponse({"ok": False, "error": code})
        self.enabled = True
        ticket = stable_id("ticket", str(self._next()))
        self._tickets.add(ticket)
        url = request.url_for("link").include_query_params(ticket=ticket, app_id=self._app_id)
        return JSONResponse({"ok": True, "url": str(url)})

    async def _serve(self, socket: WebSocket) -> None:
        ticket = socket.query_params.get("ticket", "")
        known = ticket in self._tickets
        self._tickets.discard(ticket)
        if not known or self.refusals:
            self.refusals -= known
            await socket.close()
            return
        await socket.accept()
        link = _Link(socket)
        await link.send(self._hello())
        self._links.append(link)
        self._connected.set()
        try:
            async for text in socket.iter_text():
                link.receive(text)
        finally:
            self._links.remove(link)
            if not self._links:
                self._connected.clear()
            link.fail_waiting()

    def _hello(self) -> dict[str, object]:
        debug = {"host": "simulated", "build_number": 1, "approximate_connection_time": LIFETIME_SECONDS}
        return {
            "type": "hello",
            "num_connections": len(self._links) + 1,
            "connection_info": {"app_id": self._app_id},
            "debug_info": debug,
        }

    def _frame(self, kind: str, envelope: JsonObject, retry_num: int, reason: str | None) -> dict[str, object]:
        return {
            "envelope_id": stable_id("envelope", str(self._next())),
            "type": kind,
            "payload": dict(envelope),
            "accepts_response_payload": False,
            "retry_attempt": retry_num,
            "retry_reason": reason or "",
        }

    def _next(self) -> int:
        self._count += 1
        return self._count


class _Link:
    """One connection, and the frames that wait for an acknowledgement."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def send(self, frame: JsonObject) -> None:
        """Send a frame. Raises ConnectionError when the connection has ended."""
        try:
            await self.socket.send_text(json.dumps(frame, ensure_ascii=False))
        except (WebSocketDisconnect, RuntimeError) as error:
            raise ConnectionError("the connection ended") from error

    async def deliver(self, frame: JsonObject) -> None:
        """Send a frame and wait for its acknowledgement. Raises ConnectionError if the connection ends first."""
        envelope_id = text_of(frame, "envelope_id")
        acknowledged = self._waiting[envelope_id] = asyncio.get_running_loop().create_future()
        try:
            await self.send(frame)
            await acknowledged
        finally:
            del self._waiting[envelope_id]

    def receive(self, text: str) -> None:
        frame = parsed(text)
        if not is_object(frame):
            return
        waiting = self._waiting.get(text_of(frame, "envelope_id"))
        if waiting and not waiting.done():
            waiting.set_result(None)

    def fail_waiting(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the connection ended"))
