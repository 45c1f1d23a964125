"""Signed deliveries of the simulated GitHub: one attempt for each event.

GitHub does not retry. For three days, a receiver can ask for a missed delivery again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import httpx2

from gofer_simulators.deliveries import Webhook, answer_within, form, identifier, signature
from gofer_simulators.json_values import JsonObject, compact

KEPT = 3 * 24 * 3600
"""Seconds for which GitHub keeps a delivery."""
ANSWER_WITHIN = 10.0
"""Seconds for which GitHub waits for an answer."""
HOOK = 1001


@dataclass(slots=True)
class Delivery:
    """One delivery as GitHub sent it, with the status of its newest attempt."""

    id: str
    event: str
    body: bytes
    at: float
    status: int | None = None
    """HTTP status of the newest attempt, or None without an answer."""


class Deliveries(Webhook):
    """The webhook of the repositories."""

    def __init__(self, clock: Callable[[], float], http: httpx2.AsyncClient, secret: str) -> None:
        super().__init__("GitHub", http)
        self._clock = clock
        self._secret = secret
        self.form = False
        """Whether the webhook sends forms instead of JSON."""
        self.sent: list[Delivery] = []

    def announce(self, event: str, payload: JsonObject) -> None:
        """Start to deliver an event; without a subscription, do nothing."""
        if self.url:
            self.begin(self._attempt(self._new(event, payload)))

    async def send(self, event: str, payload: JsonObject) -> int:
        """Send one delivery and return the status. Raises httpx2.TransportError without an answer."""
        return await self._deliver(self._new(event, payload))

    async def redeliver(self, delivery: str) -> int:
        """Send a delivery again under its id and return the status. Raises ValueError if it is no longer kept."""
        for one in self.sent:
            if one.id == delivery and self._clock() - one.at <= KEPT:
                return await self._deliver(one)
        raise ValueError(f"The simulated GitHub has no delivery {delivery!r}; it keeps deliveries for three days.")

    def _new(self, event: str, payload: JsonObject) -> Delivery:
        if self.form:
            body = form(payload)
        else:
            body = compact(payload)
        id_ = identifier(f"{len(self.sent)}".encode() + body)
        delivery = Delivery(id_, event, body, self._clock())
        self.sent.append(delivery)
        return delivery

    async def _attempt(self, delivery: Delivery) -> None:
        # GitHub does not retry. The list of deliveries shows the missing status.
        await answer_within(ANSWER_WITHIN, self._deliver(delivery))

    async def _deliver(self, delivery: Delivery) -> int:
        content_type = "application/json"
        if self.form:
            content_type = "application/x-www-form-urlencoded"
        headers = {
            "Accept": "*/*",
            "Content-Type": content_type,
            "User-Agent": "GitHub-Hookshot/044aadd",
            "X-GitHub-Delivery": delivery.id,
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Hook-ID": str(HOOK),
            "X-GitHub-Hook-Installation-Target-Type": "repository",
            "X-Hub-Signature": signature(self._secret, delivery.body, "sha1"),
            "X-Hub-Signature-256": signature(self._secret, delivery.body),
        }
        delivery.status = None
        response = await self.post(delivery.body, headers)
        delivery.status = response.status_code
        return response.status_code
