"""Signed deliveries of the simulated Notion; events carry ids and no content.

Several changes of one kind to one page within the window become one event with several authors. A test can hold events
back, and later send them in another order or several times.
"""

import asyncio
import hmac
from dataclasses import dataclass, replace

import httpx2
from typing_extensions import override

from gofer_simulators.deliveries import Webhook, answer_within, signature, until_accepted
from gofer_simulators.json_values import JsonObject, compact
from gofer_simulators.notion.workspace import Change, User, Workspace

ATTEMPTS = 8
"""Most attempts for one event. The gaps double, and the last attempt is about 24 hours after the first."""
FIRST_GAP = 680.0
"""Seconds before the first retry."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of Notion's deliveries.

    window         seconds in which changes are gathered
    gap_factor     multiplies the gaps before retries
    answer_within  seconds for which Notion waits for an answer
    """

    window: float = 0.0
    gap_factor: float = 1.0
    answer_within: float = 10.0


@dataclass(frozen=True, slots=True)
class _Gathered:
    change: Change
    authors: tuple[User, ...]

    def merged(self, later: Change) -> "_Gathered":
        properties = tuple(dict.fromkeys((*self.change.properties, *later.properties)))
        blocks = tuple(dict.fromkeys((*self.change.blocks, *later.blocks)))
        authors = tuple(dict.fromkeys((*self.authors, later.author)))
        return _Gathered(replace(later, properties=properties, blocks=blocks), authors)


class Deliveries(Webhook):
    """The webhook of one connection."""

    def __init__(self, workspace: Workspace, http: httpx2.AsyncClient, token: str, pace: Pace) -> None:
        super().__init__("Notion", http)
        self.active = False
        """Whether a person has entered the verification token in Notion."""
        self.sent: list[dict[str, object]] = []
        """The first attempt of every event so far, with events that are held back."""
        self.pace = pace
        self._workspace = workspace
        self._token = token
        self._gathering: dict[tuple[str, str], _Gathered] = {}
        self._held: list[dict[str, object]] | None = None
        self._timers: dict[tuple[str, str], asyncio.TimerHandle] = {}

    def announce(self, change: Change) -> None:
        """Send the event for a change at the end of the window; without an active subscription, do nothing."""
        if not self.url or not self.active:
            return
        if not self.pace.window or change.type.startswith("comment."):
            self._send_or_hold(self._event(_Gathered(change, (change.author,))))
            return
        key = (change.type, change.entity[0])
        gathered = self._gathering.get(key)
        if gathered:
            self._gathering[key] = gathered.merged(change)
            return
        self._gathering[key] = _Gathered(change, (change.author,))
        self._timers[key] = asyncio.get_running_loop().call_later(self.pace.window, self._flush, key)

    def flush(self) -> None:
        """End every open window."""
        for key in list(self._gathering):
            self._flush(key)

    def hold(self) -> None:
        """Hold events back until `release`."""
        self._held = []

    def release(self, *, reverse: bool = False, times: int = 1) -> None:
        """Send the events that are held back, each `times` times, as if earlier attempts had no answer.

        With `reverse`, send the newest event first.
        """
        events = self._held or []
        self._held = None
        if reverse:
            events = events[::-1]
        for event in events:
            for number in range(1, times + 1):
                self.begin(self._deliver(event, number))

    async def handshake(self) -> int:
        """Send the verification token, signed with itself, and return the status."""
        return (await self._post({"verification_token": self._token})).status_code

    def confirms(self, verification_token: str) -> bool:
        """Return whether this is the verification token that Notion sent."""
        return hmac.compare_digest(verification_token.encode(), self._token.encode())

    async def send(self, event: JsonObject) -> int:
        """Make one signed attempt and return the status. Raises httpx2.TransportError without an answer."""
        return (await self._post(event)).status_code

    @override
    async def settled(self) -> None:
        """End every open window, then wait until every delivery has ended."""
        self.flush()
        await super().settled()

    @override
    async def close(self) -> None:
        """Drop the gathered changes and cancel the running deliveries."""
        self._gathering.clear()
        for timer in self._timers.values():
            timer.cancel()
        await super().close()

    def _flush(self, key: tuple[str, str]) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        if gathered := self._gathering.pop(key, None):
            self._send_or_hold(self._event(gathered))

    def _send_or_hold(self, event: dict[str, object]) -> None:
        self.sent.append(event)
        if self._held is not None:
            self._held.append(event)
        else:
            self.begin(self._deliver(event))

    def _event(self, gathered: _Gathered) -> dict[str, object]:
        workspace = self._workspace
        change = gathered.change
        data: dict[str, object] = {"parent": change.parent}
        if change.type == "page.properties_updated":
            data["updated_properties"] = list(change.properties)
        if change.type == "page.content_updated":
            data["updated_blocks"] = [{"id": id_, "type": "block"} for id_ in change.blocks]
        if change.type.startswith("comment."):
            data["page_id"] = change.page
        return {
            "id": workspace.new_id("event"),
            "timestamp": change.at,
            "workspace_id": workspace.id,
            "workspace_name": workspace.name,
            "subscription_id": f"{workspace.id[:-12]}000000000001",
            "integration_id": f"{workspace.id[:-12]}000000000002",
            "api_version": "2026-03-11",
            "authors": [{"id": author.id, "type": "bot" if author.bot else "person"} for author in gathered.authors],
            "attempt_number": 1,
            "type": change.type,
            "entity": {"id": change.entity[0], "type": change.entity[1]},
            "data": data,
        }

    async def _deliver(self, event: JsonObject, first: int = 1) -> None:
        async def attempt(number: int) -> bool:
            sent = self._post({**event, "attempt_number": first + number})
            response = await answer_within(self.pace.answer_within, sent)
            return response is not None and response.is_success

        gap = FIRST_GAP * self.pace.gap_factor
        await until_accepted(attempt, [gap * 2**retry for retry in range(ATTEMPTS - first)])

    async def _post(self, body: JsonObject) -> httpx2.Response:
        raw = compact(body)
        headers = {"Content-Type": "application/json", "X-Notion-Signature": signature(self._token, raw)}
        return await self.post(raw, headers)
