"""What does Slack send when something happens, and how often does it try?

The Events API: `event_callback` envelopes, up to four attempts for each, signed over the raw bytes and posted to a URL
or sent through a socket the app opened. An app installed from a manifest gets only the events it subscribed to.
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import httpx2

from gofer.simulators.json_values import JsonObject, object_of, text_of
from gofer.simulators.slack.socket_mode import SocketMode

RETRY_GAPS = (0.0, 60.0, 300.0)
"""Seconds before each retry."""
ANSWER_WITHIN = 3.0
"""Seconds a receiver has to answer 2xx."""
_MESSAGES = {"channel": "message.channels", "group": "message.groups", "im": "message.im", "mpim": "message.mpim"}
"""The subscription that brings messages, by the kind of their conversation."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How patient Slack is; `gap_factor` 0 makes its retries follow at once."""

    gap_factor: float = 1.0
    answer_within: float = ANSWER_WITHIN


def signature(signing_secret: str, timestamp: str, body: bytes) -> str:
    """The value of X-Slack-Signature for these bytes."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(signing_secret.encode(), signed, hashlib.sha256).hexdigest()


class Delivery:
    """Sends envelopes to the one subscribed URL or through the app's sockets, in background tasks it owns."""

    def __init__(
        self,
        clock: Callable[[], float],
        http: httpx2.AsyncClient,
        signing_secret: str,
        pace: Pace,
        sockets: SocketMode,
    ) -> None:
        self.url: str | None = None
        self.interactivity_url: str | None = None
        """Where presses of buttons go."""
        self.events: frozenset[str] | None = None
        """What the app subscribed to; None: everything."""
        self._sockets = sockets
        self._clock = clock
        self._http = http
        self._secret = signing_secret
        self._pace = pace
        self._tasks: set[asyncio.Task[None]] = set()

    def announce(self, envelopes: Sequence[JsonObject]) -> None:
        """Begin to deliver; without a subscription nothing is sent."""
        if self.url is None and not self._sockets.enabled:
            return
        for one in filter(self._subscribed, envelopes):
            task = asyncio.create_task(self._deliver_until_accepted(one))
            self._tasks.add(task)
            task.add_done_callback(self._forget_if_fine)

    async def send(self, one: JsonObject, retry_num: int = 0, retry_reason: str | None = None) -> int:
        """One signed attempt; returns the status. Raises httpx2.TransportError where there was no answer."""
        return (await self._post(one, retry_num, retry_reason)).status_code

    async def send_press(self, payload: JsonObject, body: bytes) -> bool:
        """One press, once; whether the app took it. The person sees an error when it did not."""
        if self._sockets.enabled:
            return await self._sockets.attempt(payload, self._pace.answer_within, 0, None, "interactive") is None
        if self.interactivity_url is None:
            return False
        headers = {**self._signed(body), "Content-Type": "application/x-www-form-urlencoded"}
        try:
            async with asyncio.timeout(self._pace.answer_within):
                response = await self._http.post(
                    self.interactivity_url, content=body, headers=headers, follow_redirects=False
                )
        except (TimeoutError, httpx2.TransportError):
            return False
        return response.status_code == 200

    async def settled(self) -> None:
        """Wait until no delivery is under way."""
        while self._tasks:
            under_way = list(self._tasks)
            try:
                await asyncio.gather(*under_way)
            finally:
                self._tasks.difference_update(task for task in under_way if task.done())

    async def close(self) -> None:
        """Give up what is not delivered yet."""
        under_way = list(self._tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self._tasks.clear()

    async def _deliver_until_accepted(self, one: JsonObject) -> None:
        reason = await self._attempt(one, 0, None)
        for number, gap in enumerate(RETRY_GAPS, start=1):
            if reason is None:
                return
            await asyncio.sleep(gap * self._pace.gap_factor)
            reason = await self._attempt(one, number, reason)

    async def _attempt(self, one: JsonObject, retry_num: int, retry_reason: str | None) -> str | None:
        """Why this attempt failed, in Slack's words, or None when no other one is to follow."""
        if self._sockets.enabled:
            return await self._sockets.attempt(one, self._pace.answer_within, retry_num, retry_reason)
        try:
            async with asyncio.timeout(self._pace.answer_within):
                response = await self._post(one, retry_num, retry_reason)
        except (TimeoutError, httpx2.TimeoutException):
            return "http_timeout"
        except httpx2.TransportError:
            return "connection_failed"
        if response.is_success or response.headers.get("X-Slack-No-Retry") == "1":
            return None
        return "http_error"

    async def _post(self, one: JsonObject, retry_num: int, retry_reason: str | None) -> httpx2.Response:
        if self.url is None:
            raise ValueError("Nothing is subscribed to the simulated Slack; call subscribe(url) first.")
        body = json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {**self._signed(body), "Content-Type": "application/json"}
        if retry_num:
            headers |= {
                "X-Slack-Retry-Num": str(retry_num),
                "X-Slack-Retry-Reason": retry_reason or "unknown_error",
            }
        return await self._http.post(self.url, content=body, headers=headers, follow_redirects=False)

    def _signed(self, body: bytes) -> dict[str, str]:
        timestamp = str(int(self._clock()))
        return {
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self._secret, timestamp, body),
        }

    def _subscribed(self, one: JsonObject) -> bool:
        event = object_of(one, "event")
        name = text_of(event, "type")
        if name == "message":
            name = _MESSAGES.get(text_of(event, "channel_type"), name)
        return self.events is None or name in self.events

    def _forget_if_fine(self, task: asyncio.Task[None]) -> None:
        # A failed task stays, so that settled() raises what went wrong.
        if task.cancelled() or task.exception() is None:
            self._tasks.discard(task)
