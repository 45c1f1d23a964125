"""What does Jira send when something happens, and how often does it try?

Admin webhooks: up to five further attempts, signed over the raw bytes, all under the same identifier.
"""

import asyncio
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import httpx2

from gofer.simulators.json_values import JsonObject

Flavour = Literal["cloud", "server"]
"""Jira Cloud, or Data Center as companies run it themselves."""
RETRIES, GAP = 5, 300.0
"""Further attempts, and seconds before each."""
ANSWER_WITHIN = 20.0
"""Seconds a receiver has to answer."""
_AGAIN = frozenset({408, 409, 425, 429})
"""Statuses, beside 5xx, after which Jira tries again; any other refusal loses the delivery."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How patient Jira is; `gap_factor` 0 makes its retries follow at once."""

    gap_factor: float = 1.0
    answer_within: float = ANSWER_WITHIN


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt as it was sent, and what came of it."""

    identifier: str
    body: bytes
    retry: int
    status: int | None
    """None while there was no answer."""


def signature(secret: str, body: bytes) -> str:
    """The value of X-Hub-Signature for these bytes."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class Deliveries:
    """One admin webhook of the site, and the deliveries under way."""

    def __init__(self, http: httpx2.AsyncClient, secret: str, pace: Pace, clock: Callable[[], float]) -> None:
        self._http = http
        self._secret = secret
        self._pace = pace
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""
        self.flavour: Flavour = "cloud"
        self.sent: list[Sent] = []

    def announce(self, payload: JsonObject) -> None:
        """Begin to deliver; without a subscription nothing is sent."""
        if self.url:
            body = {"timestamp": int(self._clock() * 1000), **payload}
            self._tasks.add(asyncio.create_task(self._until_accepted(body)))

    async def send(self, payload: JsonObject, retry: int = 0) -> int:
        """One attempt; returns the status. Raises httpx2.TransportError where there was no answer."""
        if not self.url:
            raise ValueError("Nothing is subscribed to the simulated Jira; call subscribe(url) first.")
        body = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
        identifier = str(uuid.UUID(bytes=hashlib.sha256(body).digest()[:16]))
        headers = {
            "Content-Type": "application/json; charset=UTF-8",
            "User-Agent": "Atlassian Webhook HTTP Client",
            "X-Hub-Signature": signature(self._secret, body),
        }
        if self.flavour == "cloud":
            headers |= {"X-Atlassian-Webhook-Identifier": identifier, "X-Atlassian-Webhook-Flow": "Primary"}
            headers |= {"X-Atlassian-Webhook-Retry": str(retry)} if retry else {}
        place = len(self.sent)
        self.sent.append(Sent(identifier, body, retry, None))
        response = await self._http.post(self.url, content=body, headers=headers, follow_redirects=False)
        self.sent[place] = Sent(identifier, body, retry, response.status_code)
        return response.status_code

    async def settled(self) -> None:
        """Wait until no delivery is under way."""
        while self._tasks:
            under_way = list(self._tasks)
            await asyncio.gather(*under_way)
            self._tasks.difference_update(under_way)

    async def close(self) -> None:
        """Give up what is not delivered yet."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def _until_accepted(self, payload: JsonObject) -> None:
        for retry in range(RETRIES + 1):
            if retry:
                await asyncio.sleep(GAP * self._pace.gap_factor)
            try:
                async with asyncio.timeout(self._pace.answer_within):
                    status = await self.send(payload, retry)
            except (TimeoutError, httpx2.TransportError):
                continue
            if status < 500 and status not in _AGAIN:
                return
