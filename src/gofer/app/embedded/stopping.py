"""How does work that never ends by itself stop in good order when somebody asks for it?"""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Generator

STOPPING = (signal.SIGTERM, signal.SIGINT)


async def until_stopped(work: Coroutine[None, None, None], say: Callable[[], None]) -> int:
    """Does the work until it ends, SIGTERM or Ctrl-C; then calls `say`, cancels it and waits until it is done.

    Gives the exit code: 0, or 130 after Ctrl-C. A second signal ends the process at once.
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
    """The first signal that asks for an end."""
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
