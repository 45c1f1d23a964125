"""A working process: a worker receives from its queue, beside a sweeper and a purger, until a signal stops it."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping

from gofer.runtime.retention import Purger
from gofer.runtime.sweeper import Sweeper
from gofer.runtime.worker import Worker
from gofer.values.supervisor import Supervisor

GRACE = 5.0
"""Seconds that running work has to be handed over when the process stops."""


@contextlib.asynccontextmanager
async def working(
    worker: Worker,
    supervisor: Supervisor | None = None,
    others: Mapping[str, Callable[[], Awaitable[None]]] | None = None,
) -> AsyncGenerator[None]:
    """Serve with a worker, a sweeper, a purger and `others`, such as the scheduler, while the block runs.

    Unfinished runs of an earlier process are continued at once, because the lock on the state proves that it is dead.
    """
    stores = worker.services.stores
    clock = worker.services.outside.clock
    sweeper = Sweeper(stores.journals, stores.queue, clock)
    purger = Purger(stores, clock)
    await stores.journals.drop_leases()
    await sweeper.sweep(still=0)
    parts = {"worker": worker.serve, "sweeper": sweeper.serve, "purger": purger.serve, **(others or {})}
    async with (supervisor or Supervisor(clock)).serving(parts):
        yield


STOPPING = (signal.SIGTERM, signal.SIGINT)


async def until_stopped(work: Coroutine[None, None, None], say: Callable[[], None]) -> int:
    """Run `work` until it ends or a signal (SIGTERM or Ctrl-C) arrives. Return the exit code: 0, or 130 after Ctrl-C.

    After a signal, call `say`, cancel the work and wait for its end. A second signal ends the process at once.
    """
    with _signals() as asked:
        working = asyncio.create_task(work)
        await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
            return 0
        say()
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working
        return 130 if asked.result() == signal.SIGINT else 0


@contextlib.contextmanager
def _signals() -> Generator[asyncio.Future[signal.Signals]]:
    """Yield a future with the first signal that asks the process to stop."""
    loop = asyncio.get_running_loop()
    asked: asyncio.Future[signal.Signals] = loop.create_future()

    def stop(which: signal.Signals) -> None:
        asked.set_result(which)
        forget()

    def forget() -> None:
        for each in STOPPING:
            loop.remove_signal_handler(each)

    for each in STOPPING:
        loop.add_signal_handler(each, stop, each)
    try:
        yield asked
    finally:
        forget()
