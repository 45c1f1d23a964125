"""Code of tools that ends or holds up its process, or returns what is no result."""

import asyncio
import logging
import math
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gofer.tools.contained import Misbehaved, checked, contained, has_half_character, logged_bug
from gofer.tools.definition import NewFile, ToolResult
from support.aws.lambda_host import HANGS

pytestmark = pytest.mark.anyio
DONE = ToolResult("done", "done")
Code = Callable[[], Awaitable[ToolResult]]


async def leaves() -> ToolResult:
    raise SystemExit(3)


async def interrupts() -> ToolResult:
    raise KeyboardInterrupt


async def leaves_in_a_task() -> ToolResult:
    (done,) = await asyncio.gather(leaves())
    return done


async def leaves_in_a_task_with_a_timeout() -> ToolResult:
    return await asyncio.wait_for(asyncio.create_task(interrupts()), 1)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (leaves, "it called exit"),
        (interrupts, "it raised KeyboardInterrupt"),
        (leaves_in_a_task, "it called exit"),
        (leaves_in_a_task_with_a_timeout, "it raised KeyboardInterrupt"),
    ],
)
async def test_end_of_the_process_is_a_failure_of_the_code(
    code: Callable[[], Awaitable[ToolResult]], said: str
) -> None:
    with pytest.raises(Misbehaved, match=said):
        await contained("phone_check", code, 60)


async def test_contained_code_waits_and_gets_errors_at_its_waits() -> None:
    async def waits() -> ToolResult:
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 0.001)
        except TimeoutError:
            await asyncio.sleep(0)
        return DONE

    assert await contained("phone_check", waits, 60) == DONE


async def test_cancellation_reaches_contained_code_and_its_caller() -> None:
    cleaned: list[str] = []

    async def waits() -> ToolResult:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.append("cleaned")
        return DONE

    task = asyncio.create_task(contained("phone_check", waits, 60))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert (task.cancelled(), cleaned) == (True, ["cleaned"])


class Noted(logging.Handler):
    """A handler that knows when a line was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.line = ""
        self.logged = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.line = record.getMessage()
        self.logged.set()


async def test_tool_that_holding_up_the_event_loop_is_named_meanwhile() -> None:
    noted = Noted()
    logging.getLogger("gofer.tools.contained").addHandler(noted)

    async def blocks() -> ToolResult:
        assert noted.logged.wait(HANGS)
        return DONE

    try:
        await contained("phone_check", blocks, 0.01)
    finally:
        logging.getLogger("gofer.tools.contained").removeHandler(noted)
    assert noted.line.startswith("the tool phone_check has held up every other run of this process for 0.01 seconds")


async def test_tool_that_awaits_is_not_named(caplog: pytest.LogCaptureFixture) -> None:
    async def waits() -> ToolResult:
        for _ in range(20):
            await asyncio.sleep(0.005)
        return DONE

    await contained("phone_check", waits, 0.01)
    assert caplog.text == ""


def odd(**fields: Any) -> ToolResult:
    """Return a result as no type checker would allow it."""
    return replace(DONE, **fields)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, "it returned None instead of a ToolResult, as if a `return` were missing"),
        ("done", "it returned a str instead of a ToolResult"),
        (odd(text=3), "it returned a ToolResult with a wrong `text`"),
        (odd(details=[1]), "it returned a ToolResult with a wrong `details`"),
        (ToolResult("t", "s", {"x": math.nan}), "it returned what is not JSON: /details/x is nan"),
        (ToolResult("t", "s", value={1, 2}), "it returned what is not JSON: /value is of the type set"),
        (odd(files=["a"]), "it returned a ToolResult with wrong `files`"),
    ],
)
def test_wrong_result_is_named(result: object, said: str) -> None:
    with pytest.raises(Misbehaved) as wrong:
        checked(result)
    assert str(wrong.value) == said
    assert "/details" not in logged_bug(wrong.value)


def test_right_result_is_returned() -> None:
    right = ToolResult("t", "s", {"a": (1, 2)}, files=(NewFile("a", "text/plain", None, "o"),))
    assert checked(right) is right


@pytest.mark.parametrize("result", [ToolResult("\ud800", "s"), ToolResult("t", "s", {"a": ["\ud800"]})])
def test_lone_surrogate_is_found_anywhere_in_a_result(result: ToolResult) -> None:
    assert has_half_character(result)
    assert not has_half_character(DONE)
