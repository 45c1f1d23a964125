"""Signed deliveries of the simulated Jira's admin webhook, with up to six attempts under one identifier."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import httpx2

from gofer_simulators.deliveries import Webhook, answer_within, identifier, signature, until_accepted
from gofer_simulators.json_values import JsonObject, compact

Flavour = Literal["cloud", "server"]
"""Jira Cloud, or Jira Data Center (`server`)."""
RETRIES = 5
GAP = 300.0
"""Seconds before each retry."""
ANSWER_WITHIN = 20.0
"""Seconds for which Jira waits for an answer."""
_AGAIN = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which Jira retries. Any other status below 500 ends the delivery."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of Jira's deliveries; with `gap_factor` 0, retries follow at once."""

    gap_factor: float = 1.0
    answer_within: float = ANSWER_WITHIN


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt as Jira sent it, with its status."""

    identifier: str
    body: bytes
    retry: int
    status: int | None
    """HTTP status of the answer, or None without an answer."""


class Deliveries(Webhook):
    """The one admin webhook of the site."""

    def __init__(self, http: httpx2.AsyncClient, secret: str, pace: Pace, clock: Callable[[], float]) -> None:
        super().__init__("Jira", http)
        self._secret = secret
        self._pace = pace
        self._clock = clock
        self.flavour: Flavour = "cloud"
        self.sent: list[Sent] = []

    def announce(self, payload: JsonObject) -> None:
        """Start to deliver an event; without a subscription, do nothing."""
        if self.url:
            self.begin(self._deliver({"timestamp": int(self._clock() * 1000), **payload}))

    async def send(self, payload: JsonObject, retry: int = 0) -> int:
        """Make one attempt and return the status. Raises httpx2.TransportError without an answer."""
        body = compact(payload)
        id_ = identifier(body)
        headers = {
            "Content-Type": "application/json; charset=UTF-8",
            "User-Agent": "Atlassian Webhook HTTP Client",
            "X-Hub-Signature": signature(self._secret, body),
        }
        if self.flavour == "cloud":
            headers |= {"X-Atlassian-Webhook-Identifier": id_, "X-Atlassian-Webhook-Flow": "Primary"}
            if retry:
                headers["X-Atlassian-Webhook-Retry"] = str(retry)
        place = len(self.sent)
        self.sent.append(Sent(id_, body, retry, None))
        response = await self.post(body, headers)
        self.sent[place] = Sent(id_, body, retry, response.status_code)
        return response.status_code

    async def _deliver(self, payload: JsonObject) -> None:
        async def attempt(retry: int) -> bool:
            status = await answer_within(self._pace.answer_within, self.send(payload, retry))
            return status is not None and status < 500 and status not in _AGAIN

        await until_accepted(attempt, [GAP * self._pace.gap_factor] * RETRIES)
