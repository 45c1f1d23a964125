"""What does GitHub send when something happens, and how?

One signed request for each event, and no second attempt; whoever missed one asks for it again within three days.
"""

import asyncio
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

import httpx2

from gofer.simulators.json_values import JsonObject

KEPT = 3 * 24 * 3600
"""Seconds a delivery can be asked for again."""
ANSWER_WITHIN = 10.0
"""Seconds GitHub waits for an answer."""
HOOK = 1001


@dataclass(slots=True)
class Delivery:
    """One request as it was sent, and what came of it."""

    id: str
    event: str
    body: bytes
    at: float
    status: int | None = None
    """Of the newest attempt; None while there was no answer."""


def signature(secret: str, body: bytes, algorithm: Literal["sha256", "sha1"] = "sha256") -> str:
    """`sha256=` and the HMAC of the body in hex."""
    return f"{algorithm}={hmac.new(secret.encode(), body, algorithm).hexdigest()}"


class Deliveries:
    """A webhook of the repositories."""

    def __init__(self, clock: Callable[[], float], http: httpx2.AsyncClient, secret: str) -> None:
        self._clock = clock
        self._http = http
        self._secret = secret
        self._tasks: set[asyncio.Task[int]] = set()
        self.url = ""
        self.form = False
        """Whether the content type is set to a form."""
        self.sent: list[Delivery] = []

    def announce(self, event: str, payload: JsonObject) -> None:
        """Begin to deliver; without a subscription nothing is sent."""
        if self.url:
            task = asyncio.create_task(self._attempt(self._new(event, payload)))
            self._tasks.add(task)

    async def send(self, event: str, payload: JsonObject) -> int:
        """One delivery; returns the status. Raises httpx2.TransportError where there was no answer."""
        return await self._post(self._new(event, payload))

    async def redeliver(self, delivery: str) -> int:
        """The same delivery once more, id included; returns the status. Raises ValueError for one that is not kept."""
        for one in self.sent:
            if one.id == delivery and self._clock() - one.at <= KEPT:
                return await self._post(one)
        raise ValueError(f"The simulated GitHub keeps no delivery {delivery!r}; deliveries are kept for three days.")

    async def settled(self) -> None:
        """Wait until no delivery is under way."""
        while self._tasks:
            under_way = list(self._tasks)
            await asyncio.gather(*under_way)
            self._tasks.difference_update(under_way)

    async def close(self) -> None:
        """Give up what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    def _new(self, event: str, payload: JsonObject) -> Delivery:
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        body = urlencode({"payload": text}).encode() if self.form else text.encode()
        number = hashlib.sha256(f"{len(self.sent)}".encode() + body).digest()[:16]
        delivery = Delivery(str(uuid.UUID(bytes=number)), event, body, self._clock())
        self.sent.append(delivery)
        return delivery

    async def _attempt(self, delivery: Delivery) -> int:
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                return await self._post(delivery)
        except (TimeoutError, httpx2.TransportError):
            # Nobody tries again; the list of deliveries shows that it failed.
            return 0

    async def _post(self, delivery: Delivery) -> int:
        if not self.url:
            raise ValueError("Nothing is subscribed to the simulated GitHub; call subscribe(url) first.")
        headers = {
            "Accept": "*/*",
            "Content-Type": "application/x-www-form-urlencoded" if self.form else "application/json",
            "User-Agent": "GitHub-Hookshot/044aadd",
            "X-GitHub-Delivery": delivery.id,
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Hook-ID": str(HOOK),
            "X-GitHub-Hook-Installation-Target-Type": "repository",
            "X-Hub-Signature": signature(self._secret, delivery.body, "sha1"),
            "X-Hub-Signature-256": signature(self._secret, delivery.body),
        }
        delivery.status = None
        response = await self._http.post(self.url, content=delivery.body, headers=headers, follow_redirects=False)
        delivery.status = response.status_code
        return response.status_code
