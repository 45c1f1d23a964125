"""Deliveries of a simulated vendor to the one subscribed URL: signed, posted, retried and awaited."""

import asyncio
import hashlib
import hmac
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

import httpx2

from gofer_simulators.json_values import compact

Attempt = Callable[[int], Awaitable[bool]]
"""Make the attempt of this number, counted from 0; return whether it was the last."""
_T = TypeVar("_T")


class Webhook:
    """The subscribed URL of one vendor, and the deliveries under way in background tasks."""

    def __init__(self, vendor: str, http: httpx2.AsyncClient) -> None:
        self.url = ""
        """Empty without a subscription."""
        self._vendor = vendor
        self._http = http
        self._tasks: set[asyncio.Task[object]] = set()

    async def post(self, body: bytes, headers: Mapping[str, str], url: str = "") -> httpx2.Response:
        """Post one body. Raises ValueError without a subscription, httpx2.TransportError without an answer."""
        target = url or self.url
        if not target:
            raise ValueError(f"Nothing is subscribed to the simulated {self._vendor}; call subscribe(url) first.")
        return await self._http.post(target, content=body, headers=headers, follow_redirects=False)

    def begin(self, work: Coroutine[Any, Any, object]) -> None:
        """Begin a delivery in a task of its own."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget_if_fine)

    async def settled(self) -> None:
        """Wait until no delivery is under way, retries included."""
        while self._tasks:
            under_way = list(self._tasks)
            try:
                await asyncio.gather(*under_way)
            finally:
                self._tasks.difference_update(task for task in under_way if task.done())

    async def close(self) -> None:
        """Cancel what is not delivered yet."""
        under_way = list(self._tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self._tasks.clear()

    def _forget_if_fine(self, task: asyncio.Task[object]) -> None:
        # A failed task stays, so that settled() raises what went wrong.
        if task.cancelled() or task.exception() is None:
            self._tasks.discard(task)


async def until_accepted(attempt: Attempt, gaps: Iterable[float]) -> None:
    """Make one attempt, and another one after each gap in seconds, until an attempt is the last."""
    if await attempt(0):
        return
    for number, gap in enumerate(gaps, start=1):
        await asyncio.sleep(gap)
        if await attempt(number):
            return


async def answer_within(seconds: float, request: Awaitable[_T]) -> _T | None:
    """Return the answer to a request, None where the receiver gives none in time."""
    try:
        async with asyncio.timeout(seconds):
            return await request
    except (TimeoutError, httpx2.TransportError):
        return None


def signature(secret: str, body: bytes, algorithm: Literal["sha256", "sha1"] = "sha256") -> str:
    """Return the algorithm, `=` and the HMAC of the body in hex, as GitHub, Jira and Notion sign."""
    return f"{algorithm}={hmac.new(secret.encode(), body, algorithm).hexdigest()}"


def form(payload: object) -> bytes:
    """Return the body of a form that carries JSON in its field `payload`, as GitHub and Slack send it."""
    return urlencode({"payload": compact(payload)}).encode()


def identifier(content: bytes) -> str:
    """Return a UUID that is the same for the same bytes."""
    return str(uuid.UUID(bytes=hashlib.sha256(content).digest()[:16]))
