"""Signals: work ends in order at the first signal, and the previous handlers are restored."""

import asyncio
import os
import signal

import pytest

from gofer.app.embedded.working import until_stopped


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_first_signal_lets_the_work_clean_up(how: signal.Signals, code: int) -> None:
    happened: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), how)
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            happened.append("put away")

    before = signal.getsignal(signal.SIGTERM)
    assert asyncio.run(until_stopped(work(), lambda: happened.append("asked"))) == code
    assert happened == ["asked", "put away"]
    assert signal.getsignal(signal.SIGTERM) == before


def test_work_that_ends_or_fails_is_not_asked_to_stop() -> None:
    async def ends() -> None:
        return

    async def fails() -> None:
        raise LookupError("why")

    asked: list[str] = []
    assert asyncio.run(until_stopped(ends(), lambda: asked.append("asked"))) == 0
    with pytest.raises(LookupError, match="why"):
        asyncio.run(until_stopped(fails(), lambda: asked.append("asked")))
    assert asked == []


def test_second_ctrl_c_interrupts_the_work_at_once() -> None:
    async def stubborn() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(until_stopped(stubborn(), lambda: None))
