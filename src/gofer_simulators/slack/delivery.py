"""Signed deliveries of the simulated Slack's Events API, with up to four attempts for each envelope.

Slack posts envelopes to a URL, or sends them through a socket that the app opened. An app that was installed from a
manifest gets only the events of its subscriptions.
"""

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import httpx2

from gofer_simulators.deliveries import Webhook, answer_within, form, until_accepted
from gofer_simulators.json_values import JsonObject, compact, object_of, text_of
from gofer_simulators.slack.socket_mode import SocketMode

RETRY_GAPS = (0.0, 60.0, 300.0)
"""Seconds before each retry."""
ANSWER_WITHIN = 3.0
"""Seconds for which Slack waits for an answer."""
_MESSAGES = {"channel": "message.channels", "group": "message.groups", "im": "message.im", "mpim": "message.mpim"}
"""The event that an app subscribes to for messages, by the kind of conversation."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of Slack's deliveries; with `gap_factor` 0, retries follow at once."""

    gap_factor: float = 1.0
    answer_within: float = ANSWER_WITHIN


def signature(signing_secret: str, timestamp: str, body: bytes) -> str:
    """Return the value of X-Slack-Signature for these bytes."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(signing_secret.encode(), signed, hashlib.sha256).hexdigest()


class Deliveries(Webhook):
    """The deliveries to the app's URL or sockets."""

    def __init__(
        self, clock: Callable[[], float], http: httpx2.AsyncClient, signing_secret: str, pace: Pace, sockets: SocketMode
    ) -> None:
        super().__init__("Slack", http)
        self.interactivity_url = ""
        """The URL for presses of buttons; empty without a subscription."""
        self.interactive = True
        """Whether the app takes presses and shortcuts."""
        self.events: frozenset[str] | None = None
        """The events of the app's subscriptions, or None for all events."""
        self._sockets = sockets
        self._clock = clock
        self._secret = signing_secret
        self._pace = pace

    def announce(self, envelopes: Sequence[JsonObject]) -> None:
        """Start to deliver the subscribed events; without a URL or a socket, do nothing."""
        if self.url or self._sockets.enabled:
            for envelope in filter(self._subscribed, envelopes):
                self.begin(self._deliver(envelope))

    async def send(self, envelope: JsonObject, retry_num: int = 0, retry_reason: str | None = None) -> int:
        """Make one signed attempt and return the status. Raises httpx2.TransportError without an answer."""
        return (await self._post(envelope, retry_num, retry_reason)).status_code

    async def send_press(self, payload: JsonObject) -> bool:
        """Send one press or shortcut, without retries. Return whether the app accepted it.

        If not, Slack shows an error.
        """
        if not self.interactive:
            return False
        if self._sockets.enabled:
            return await self._sockets.attempt(payload, self._pace.answer_within, 0, None, "interactive") is None
        if not self.interactivity_url:
            return False
        body = form(payload)
        headers = {**self._signed(body), "Content-Type": "application/x-www-form-urlencoded"}
        sent = self.post(body, headers, self.interactivity_url)
        response = await answer_within(self._pace.answer_within, sent)
        return response is not None and response.status_code == 200

    async def _deliver(self, envelope: JsonObject) -> None:
        reason: str | None = None

        async def attempt(number: int) -> bool:
            nonlocal reason
            reason = await self._attempt(envelope, number, reason)
            return reason is None

        await until_accepted(attempt, [gap * self._pace.gap_factor for gap in RETRY_GAPS])

    async def _attempt(self, envelope: JsonObject, retry_num: int, retry_reason: str | None) -> str | None:
        """Make one attempt. Return Slack's reason for a retry, or None if no retry should follow."""
        if self._sockets.enabled:
            return await self._sockets.attempt(envelope, self._pace.answer_within, retry_num, retry_reason)
        try:
            async with asyncio.timeout(self._pace.answer_within):
                response = await self._post(envelope, retry_num, retry_reason)
        except (TimeoutError, httpx2.TimeoutException):
            return "http_timeout"
        except httpx2.TransportError:
            return "connection_failed"
        if response.is_success or response.headers.get("X-Slack-No-Retry") == "1":
            return None
        return "http_error"

    async def _post(self, envelope: JsonObject, retry_num: int, retry_reason: str | None) -> httpx2.Response:
        body = compact(envelope)
        headers = {**self._signed(body), "Content-Type": "application/json"}
        if retry_num:
            headers |= {
                "X-Slack-Retry-Num": str(retry_num),
                "X-Slack-Retry-Reason": retry_reason or "unknown_error",
            }
        return await self.post(body, headers)

    def _signed(self, body: bytes) -> dict[str, str]:
        timestamp = str(int(self._clock()))
        return {
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self._secret, timestamp, body),
        }

    def _subscribed(self, envelope: JsonObject) -> bool:
        event = object_of(envelope, "event")
        name = text_of(event, "type")
        if name == "message":
            name = _MESSAGES.get(text_of(event, "channel_type"), name)
        return self.events is None or name in self.events
