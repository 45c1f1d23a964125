"""The supervisor: a part that fails or ends is reported and begins again, later after each failure."""

import asyncio
import contextlib
from collections.abc import Sequence

import pytest

from gofer.values.supervisor import LATELY, LONGEST, Supervisor
from support.stand_ins import SetClock

pytestmark = pytest.mark.anyio


class Stopped(Exception):
    """Ends a test."""


async def pauses(failures: Sequence[BaseException | float]) -> tuple[list[float], Supervisor, SetClock]:
    """Return the pauses of a supervisor whose part works for some seconds, or raises, time after time."""
    clock = SetClock()
    left = list(failures)
    paused: list[float] = []
    stopped = asyncio.Event()

    async def sleep(seconds: float) -> None:
        paused.append(seconds)

    async def serve() -> None:
        if not left:
            stopped.set()
            await asyncio.Event().wait()
        match left.pop(0):
            case float() as seconds:
                clock.advance(seconds)
            case BaseException() as error:
                raise error

    supervisor = Supervisor(clock, sleep)
    async with supervisor.serving({"watcher": serve}):
        await stopped.wait()
    return paused, supervisor, clock


async def test_part_that_fails_again_and_again_begins_again_at_most_a_minute_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    paused, supervisor, clock = await pauses([LookupError("contents")] * 9)
    assert paused == [1, 2, 4, 8, 16, 32, LONGEST, LONGEST, LONGEST]
    assert caplog.messages[1].startswith("the watcher failed (LookupError at test_supervisor.py:")
    assert caplog.messages[1].endswith("), and begins again in 2 s")
    assert "contents" not in caplog.text
    assert supervisor.failed_lately() == ["watcher"]
    clock.advance(LATELY)
    assert supervisor.failed_lately() == []


async def test_part_that_worked_for_a_minute_or_returned_begins_again_soon(caplog: pytest.LogCaptureFixture) -> None:
    paused, _, _ = await pauses([MemoryError(), MemoryError(), LONGEST, 1.0])
    assert paused == [1, 2, 1, 2]
    assert caplog.messages[-1] == "the watcher failed (it ended), and begins again in 2 s"


async def test_part_that_awaits_a_cancelled_task_of_its_own_begins_again() -> None:
    paused, _, _ = await pauses([asyncio.CancelledError()])
    assert paused == [1]


async def test_end_of_the_block_cancels_every_part_and_waits_for_its_end() -> None:
    ended: list[str] = []

    async def serve() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("worker")

    supervisor = Supervisor(SetClock())
    with contextlib.suppress(Stopped):
        async with supervisor.serving({"worker": serve}):
            await asyncio.sleep(0)
            raise Stopped
    assert ended == ["worker"]
    assert supervisor.failed_lately() == []
