"""A Gofer that kills itself: accepts one event, works, and dies by SIGKILL right before or after a given frame.

The environment names Slack and the model. Exit code 0 means that the run ended.
"""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from gofer.app.embedded.stack import EmbeddedStack, open_embedded
from gofer.app.settings import read_settings
from gofer.journal.coordination import RUNNABLE
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.projections.progress import project
from gofer.runtime.sweeper import Sweeper
from gofer.sources.receiver import Click, RawRequest
from gofer.sources.signed_decision import Stamp, token
from gofer.sources.slack.receiver import SlackReceiver
from gofer.values.events import Actor, Event
from gofer.values.outside import SystemClock
from support.runtime.worker_parts import worker_over

_T = TypeVar("_T")


class CrashingStore:
    """A store whose process dies at one frame."""

    def __init__(self, store: Store, when: str, n: int) -> None:
        self._store = store
        self._when = when
        self._n = n

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        return await self._around(1, self._store.claim(run, frame, key, at))

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        return await self._around(n, self._store.create(run, n, frame))

    async def _around(self, n: int, write: Awaitable[_T]) -> _T:
        if (self._when, self._n) == ("before", n):
            os.kill(os.getpid(), signal.SIGKILL)
        standing = await write
        if (self._when, self._n) == ("after", n):
            os.kill(os.getpid(), signal.SIGKILL)
        return standing


async def press(embedded: EmbeddedStack, run: str) -> bool:
    """Approve the open question of the run as a person who may decide; return whether there was one."""
    journal = await read_journal(run, embedded.state.store, embedded.state.blobs)
    if (waiting := project(journal).waiting) is None:
        return False
    asked = waiting.requested
    stamp = Stamp(run, asked.call, asked.about, asked.arguments_sha256, "approved")
    value = token(embedded.worker.services.installation_key, stamp)
    assert not await embedded.ingress.press(Click(value, Actor("U0SUPPT0"), int(time.time() * 1000)))
    return True


def live(environment: Mapping[str, str], root: Path, payload: Path, when: str, n: int) -> None:
    """Accept the event and work, in a process of its own."""
    asyncio.run(_work(environment, root, payload, when, n))


async def _work(environment: Mapping[str, str], root: Path, payload: Path, when: str, n: int) -> None:
    event = SlackReceiver(()).translate(RawRequest("POST", "/slack/events", (), payload.read_bytes()))
    assert isinstance(event, Event)
    async with open_embedded(read_settings({**environment, "SLACK_SIGNING_SECRET": "of nobody"}), root) as embedded:
        store = CrashingStore(embedded.state.store, when, n)
        run = await replace(embedded.ingress, stores=replace(embedded.ingress.stores, journals=store)).start(
            event, "answer-here"
        )
        worker = worker_over(embedded.worker, store=store)
        await store.drop_leases()
        # As each process that starts does: a second delivery of the event enqueues nothing once a worker began its run.
        await Sweeper(embedded.state.store, embedded.worker.queue, SystemClock()).sweep(still=0)
        serving = asyncio.create_task(worker.serve())
        pressed = False
        while (head := await store.head(run)) is None or head.status in (*RUNNABLE, "parked"):
            if head is not None and head.status == "parked" and not pressed:
                pressed = await press(embedded, run)
            await asyncio.sleep(0.01)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
