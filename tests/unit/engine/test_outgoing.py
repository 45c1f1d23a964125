"""The gate for texts that people read: what a run may link."""

import pytest

from gofer.engine.outgoing import live_addresses, rebuilt_answer
from gofer.engine.owned_run import OwnedRun
from gofer.journal.entries import LlmResponse, MessageReceived, RunConcluded, ToolResult
from gofer.values.messages import Usage
from support.engine.memory_run import MemoryRun, memory_run

pytestmark = pytest.mark.anyio


async def run_of(made: MemoryRun) -> OwnedRun:
    step = await made.step()
    step.bundle = made.bundle()
    return step


async def test_run_links_addresses_that_were_read_before_its_model_wrote() -> None:
    run = await run_of(memory_run())
    run.note(MessageReceived("see https://held.example/a"))
    run.note(LlmResponse("https://evil.example/a", (), "stop", "m", Usage(), None, 0))
    run.note(ToolResult("1.0", "ok", "https://held.example/b, https://evil.example/a"))
    live = live_addresses(run)
    assert live("https://held.example/a")
    assert live("https://held.example/b")
    assert not live("https://evil.example/a")


async def test_run_links_the_pages_of_gofer_itself() -> None:
    live = live_addresses(await run_of(memory_run()))
    assert live("http://localhost/runs/run1")
    assert not live("http://localhost/runs/run1?d=secret")


async def test_script_may_link_addresses_in_its_source() -> None:
    made = memory_run()
    made.script = 'async def coordinate(run):\n    return "https://status.example/now"\n'
    live = live_addresses(await run_of(made))
    assert live("https://status.example/now")
    assert not live("https://status.example/later")


async def test_rebuilt_answer_is_journaled() -> None:
    run = await run_of(memory_run())
    concluded = RunConcluded("done", "", "[click](https://evil.example/a)", {"url": "https://evil.example/a"})
    shown = rebuilt_answer(run, concluded)
    assert shown.text == "click (`evil[.]example/a`)"
    assert shown.output == concluded.output
