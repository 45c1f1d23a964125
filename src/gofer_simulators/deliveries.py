"""Deliveries of a simulated vendor to its one subscribed URL: signatures, attempts and retries."""

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
"""Makes one attempt, numbered from 0. Returns whether no further attempt should follow."""
_T = TypeVar("_T")


class Webhook:
    """The subscribed URL of one vendor, and the running deliveries, each a background task."""

    def __init__(self, vendor: str, http: httpx2.AsyncClient) -> None:
        self.url = ""
        """The subscribed URL; empty without a subscription."""
        self._vendor = vendor
        self._http = http
        self._tasks: set[asyncio.Task[object]] = set()

    async def post(self, body: bytes, headers: Mapping[str, str], url: str = "") -> httpx2.Response:
        """Post one body to `url`, or to the subscribed URL.

        Raises ValueError without a subscription and httpx2.TransportError without an answer.
        """
        target = url or self.url
        if not target:
            raise ValueError(f"The simulated {self._vendor} has no subscription; call subscribe(url) first.")
        return await self._http.post(target, content=body, headers=headers, follow_redirects=False)

    def begin(self, work: Coroutine[Any, Any, object]) -> None:
        """Start a delivery as a background task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget_if_succeeded)

    async def settled(self) -> None:
        """Wait until every delivery has ended, with its retries. Raises the error of a delivery that failed."""
        while self._tasks:
            under_way = list(self._tasks)
            try:
                await asyncio.gather(*under_way)
            finally:
                self._tasks.difference_update(task for task in under_way if task.done())

    async def close(self) -> None:
        """Cancel the running deliveries."""
        under_way = list(self._tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self._tasks.clear()

    def _forget_if_succeeded(self, task: asyncio.Task[object]) -> None:
        # A failed task stays in the set, so that settled() raises its error.
        if task.cancelled() or task.exception() is None:
            self._tasks.discard(task)


async def until_accepted(attempt: Attempt, gaps: Iterable[float]) -> None:
    """Make one attempt, and one more after each gap in seconds, until an attempt returns True."""
    if await attempt(0):
        return
    for number, gap in enumerate(gaps, start=1):
        await asyncio.sleep(gap)
        if await attempt(number):
            return


async def answer_within(seconds: float, request: Awaitable[_T]) -> _T | None:
    """Return the answer to a request, or None if the receiver does not answer in time."""
    try:
        async with asyncio.timeout(seconds):
            return await request
    except (TimeoutError, httpx2.TransportError):
        return None


def signature(secret: str, body: bytes, algorithm: Literal["sha256", "sha1"] = "sha256") -> str:
    """Return `<algorithm>=<HMAC of the body in hex>`, the signature of GitHub, Jira and Notion."""
    return f"{algorithm}={hmac.new(secret.encode(), body, algorithm).hexdigest()}"


def form(payload: object) -> bytes:
    """Return the body of a form with the payload as JSON in the field `payload`, as GitHub and Slack send it."""
    return urlencode({"payload": compact(payload)}).encode()


def identifier(content: bytes) -> str:
    """Return a UUID computed from the content: the same bytes give the same UUID."""
    return str(uuid.UUID(bytes=hashlib.sha256(content).digest()[:16]))
