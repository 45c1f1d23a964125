"""Gofers that kill themselves, as real processes forked from one that has imported every module.

Each accepts its events, works until all runs ended, and dies by SIGKILL right before or right after one of its writes
to the journal: frames of all its runs, and the claims of calls that are made once for all runs.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from gofer.app.embedded.stack import open_embedded
from gofer.app.settings import read_settings
from gofer.journal.coordination import UNFINISHED
from gofer.journal.entries import RunAccepted
from gofer.journal.store import Store
from gofer.models.language_model import Model
from gofer.runtime.sweeper import Sweeper
from gofer.values.outside import SystemClock
from support.app.company import PATIENCE, ROOT
from support.crashes.crashing_gofer import CrashingStore
from support.processes.forks import exit_code, start
from support.runtime.worker_parts import over
from support.tools.declared_tools import hurried

_T = TypeVar("_T")
WAITS = 600.0
"""Seconds for which a run waits that is not for a person."""


class CountingStore(CrashingStore):
    """A store that counts the writes to journals of all runs, and dies at one of them."""

    def __init__(self, store: Store, when: str, n: int) -> None:
        super().__init__(store, when, n)
        self.writes = 0

    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        return await self._counted(self._store.exchange_memo(key, was, value, at))

    async def claim(self, run: str, frame: bytes, key: bytes, at: int = 0) -> bytes | None:
        return await self._counted(self._store.claim(run, frame, key, at))

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        return await self._counted(self._store.create(run, n, frame))

    async def _counted(self, write: Awaitable[_T]) -> _T:
        self.writes += 1
        return await self._around(self.writes, write)


async def gofer(
    data: Path,
    environment: Mapping[str, str],
    accepted: Sequence[RunAccepted],
    when: str = "never",
    n: int = 0,
    *,
    root: Path = ROOT,
    model: Model | None = None,
) -> int:
    """Run a Gofer and return its exit code, 0 when all runs ended or wait; store the number of its writes."""
    given = {**environment, "GOFER_DATA": str(data), "SLACK_SIGNING_SECRET": "of nobody"}
    return await ended(_live, given, list(accepted), when, n, root, model)


async def ended(life: Callable[..., None], *arguments: object) -> int:
    """Run a process and return its exit code, negative for a signal."""
    process = start(_brief, life, *arguments)
    try:
        async with asyncio.timeout(60):
            return await exit_code(process)
    except TimeoutError:
        process.kill()
        raise


def _brief(life: Callable[..., None], *arguments: object) -> None:
    # The inherited memory has no garbage, and a collection would copy all of it.
    gc.disable()
    life(*arguments)


def writes(data: Path) -> int:
    """Return the number of journal writes of the last Gofer that finished over this state."""
    return int((data / "writes").read_text())


def _live(
    environment: Mapping[str, str], accepted: Sequence[RunAccepted], when: str, n: int, root: Path, model: Model | None
) -> None:
    asyncio.run(_work(environment, accepted, when, n, root, model))


async def _work(
    environment: Mapping[str, str], accepted: Sequence[RunAccepted], when: str, n: int, root: Path, model: Model | None
) -> None:
    async with open_embedded(read_settings(environment), root) as embedded:
        store, before = CountingStore(embedded.state.store, when, n), embedded.worker.services
        ingress = replace(embedded.ingress, stores=replace(embedded.ingress.stores, journals=store))
        runs = [await ingress.start(one.event, one.workflow) for one in accepted]
        # Calls of simulators are never late; only this machine may be slow.
        tools = {name: hurried(tool) for name, tool in before.tools.items()}
        patience = replace(PATIENCE, inflight=10.0)
        services = replace(over(before, store=store), tools=tools, patience=patience, model=model or before.model)
        await store.drop_leases()
        # As each process that starts does: a second delivery of an event enqueues nothing once a worker began its run.
        await Sweeper(embedded.state.store, embedded.worker.queue, SystemClock()).sweep(still=0)
        serving = asyncio.create_task(replace(embedded.worker, services=services).serve())
        while not all([await _ended(embedded.state.store, run) for run in runs]):
            await asyncio.sleep(0.01)
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        (embedded.settings.data / "writes").write_text(str(store.writes))


async def _ended(store: Store, run: str) -> bool:
    head = await store.head(run)
    if head is None or head.status == "parked":
        # A run that waits for a person is not decided here; it waits for hours, and others for seconds.
        return head is not None and head.wakes_at > (SystemClock().now() + WAITS) * 1_000
    return head.status not in UNFINISHED
