"""Which ends of the process are the doing of code, and which come from outside."""

import asyncio
import os
import signal

import pytest

from gofer.values.foreign_code import is_from_outside, of_kind


def error_of(code: str) -> BaseException:
    try:
        exec(code, {"signal": signal, "os": os, "asyncio": asyncio})
    except BaseException as error:  # noqa: BLE001 - any error of the code
        return error
    raise AssertionError("it raised no error")


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "SystemExit(3)", "asyncio.CancelledError", "ValueError"])
def test_errors_that_code_raises_are_its_own(error: str) -> None:
    assert not is_from_outside(error_of(f"raise {error}"))


def test_ctrl_c_during_code_comes_from_outside() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert is_from_outside(error_of("os.kill(os.getpid(), signal.SIGINT)\nwhile True: pass"))
    finally:
        signal.signal(signal.SIGINT, before)


def test_second_ctrl_c_of_an_event_loop_comes_from_outside() -> None:
    async def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as pressed:
            asyncio.run(work())
        assert is_from_outside(pressed.value)
    finally:
        signal.signal(signal.SIGINT, before)


def test_cancellation_of_the_task_comes_from_outside() -> None:
    seen: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as error:
            seen.append(is_from_outside(error))
            raise

    async def cancelled() -> None:
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(cancelled())
    assert seen == [True]


def test_value_of_another_type_is_refused() -> None:
    assert of_kind("x", str) == "x"
    with pytest.raises(TypeError, match="a NoneType is no str"):
        of_kind(None, str)
