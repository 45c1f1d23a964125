"""What does Notion send when something happens, when, and how often does it try?

Events hold ids and no contents. Those of pages are gathered for a while: several changes of one kind to one page are
one event with several authors. On request events are held back, and then come in another order or several times.
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any

import httpx2

from gofer.simulators.json_values import JsonObject
from gofer.simulators.notion.workspace import Change, User, Workspace

ATTEMPTS = 8
"""How often an event is sent at most; the gaps double, and the last is about 24 hours after the first."""
FIRST_GAP = 680.0
"""Seconds before the first retry."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How patient Notion is: seconds in which changes are gathered, a factor for its gaps, seconds it waits."""

    window: float = 0.0
    gap_factor: float = 1.0
    answer_within: float = 10.0


@dataclass(frozen=True, slots=True)
class _Gathered:
    change: Change
    authors: tuple[User, ...]

    def with_(self, later: Change) -> "_Gathered":
        properties = tuple(dict.fromkeys((*self.change.properties, *later.properties)))
        blocks = tuple(dict.fromkeys((*self.change.blocks, *later.blocks)))
        authors = tuple(dict.fromkeys((*self.authors, later.author)))
        return _Gathered(replace(later, properties=properties, blocks=blocks), authors)


def signature(verification_token: str, body: bytes) -> str:
    """The value of X-Notion-Signature for these bytes."""
    return "sha256=" + hmac.new(verification_token.encode(), body, hashlib.sha256).hexdigest()


class Delivery:
    """The webhook of one connection."""

    def __init__(self, workspace: Workspace, http: httpx2.AsyncClient, token: str, pace: Pace) -> None:
        self.url: str | None = None
        self.active = False
        """Whether somebody has pasted the verification token into Notion."""
        self.sent: list[dict[str, object]] = []
        """Every event so far, as its first attempt said it, also those that are held back."""
        self._workspace = workspace
        self._http = http
        self._token = token
        self.pace = pace
        self._gathering: dict[tuple[str, str], _Gathered] = {}
        self._held: list[dict[str, object]] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: dict[tuple[str, str], asyncio.TimerHandle] = {}

    def announce(self, change: Change) -> None:
        """Something happened; its event is sent when the time of gathering is over."""
        if self.url is None or not self.active:
            return
        if not self.pace.window or change.type.startswith("comment."):
            self._begin(self._event(_Gathered(change, (change.author,))))
            return
        key = (change.type, change.entity[0])
        gathered = self._gathering.get(key)
        self._gathering[key] = gathered.with_(change) if gathered else _Gathered(change, (change.author,))
        if gathered is None:
            self._timers[key] = asyncio.get_running_loop().call_later(self.pace.window, self._flush, key)

    def flush(self) -> None:
        """Ends the time of gathering for everything."""
        for key in list(self._gathering):
            self._flush(key)

    def hold(self) -> None:
        """Send nothing until `release`."""
        self._held = []

    def release(self, *, reverse: bool = False, times: int = 1) -> None:
        """Sends what was held back, newest first if wanted, each `times` times as if nobody had answered."""
        held, self._held = self._held or [], None
        for event in reversed(held) if reverse else held:
            for number in range(1, times + 1):
                self._spawn(self._deliver_until_accepted(event | {"attempt_number": number}))

    async def handshake(self) -> int:
        """Sends the verification token, signed with itself; returns the status."""
        return (await self._post({"verification_token": self._token})).status_code

    def confirms(self, verification_token: str) -> bool:
        """Whether this is the token that was sent."""
        return hmac.compare_digest(verification_token.encode(), self._token.encode())

    async def send(self, event: JsonObject) -> int:
        """One signed attempt; returns the status. Raises httpx2.TransportError where there was no answer."""
        return (await self._post(event)).status_code

    async def settled(self) -> None:
        """Wait until no delivery is under way; what is being gathered is sent first."""
        self.flush()
        while self._tasks:
            under_way = list(self._tasks)
            try:
                await asyncio.gather(*under_way)
            finally:
                self._tasks.difference_update(task for task in under_way if task.done())

    async def close(self) -> None:
        """Give up what is not delivered yet."""
        self._gathering.clear()
        for timer in self._timers.values():
            timer.cancel()
        under_way = list(self._tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self._tasks.clear()

    def _flush(self, key: tuple[str, str]) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        if gathered := self._gathering.pop(key, None):
            self._begin(self._event(gathered))

    def _begin(self, event: dict[str, object]) -> None:
        self.sent.append(event)
        if self._held is not None:
            self._held.append(event)
        else:
            self._spawn(self._deliver_until_accepted(event))

    def _event(self, gathered: _Gathered) -> dict[str, object]:
        workspace, change = self._workspace, gathered.change
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

    async def _deliver_until_accepted(self, event: JsonObject) -> None:
        first = event.get("attempt_number")
        gap = FIRST_GAP * self.pace.gap_factor
        for number in range(first if isinstance(first, int) else 1, ATTEMPTS + 1):
            try:
                async with asyncio.timeout(self.pace.answer_within):
                    response = await self._post({**event, "attempt_number": number})
                if response.is_success:
                    return
            except (TimeoutError, httpx2.TransportError):
                pass
            await asyncio.sleep(gap)
            gap *= 2

    async def _post(self, body: JsonObject) -> httpx2.Response:
        if self.url is None:
            raise ValueError("Nothing is subscribed to the simulated Notion; call subscribe(url) first.")
        raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json", "X-Notion-Signature": signature(self._token, raw)}
        return await self._http.post(self.url, content=raw, headers=headers, follow_redirects=False)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget_if_fine)

    def _forget_if_fine(self, task: asyncio.Task[None]) -> None:
        # A failed task stays, so that settled() raises what went wrong.
        if task.cancelled() or task.exception() is None:
            self._tasks.discard(task)
