"""Questions of runs that end early: no message keeps buttons on which a person can press in vain."""

from dataclasses import replace

import pytest

from gofer.journal import entries as e
from gofer.runtime.cancel import cancel
from gofer.sources.slack.approvals import MayDecide
from gofer.tools.definition import Call, ToolResult
from support.engine.approvals import ApprovalWorker, FilesThenSaysSo, approval_worker, status, waiting_for_approval
from support.runtime.memory_worker import Crashed

pytestmark = pytest.mark.anyio


async def stop(made: ApprovalWorker, run: str = "run1") -> None:
    """Stop a run, as when the asker deletes the message that started it."""
    await cancel(run, e.RunCancelled("Ada"), made.memory_worker.store, made.memory_worker.queue, "c1")


def stop_while_a_click_is_checked(made: ApprovalWorker) -> None:
    services = made.memory_worker.worker.services
    checks = services.tools["slack_may_decide"]

    async def slow(call: Call, arguments: MayDecide) -> ToolResult:
        await stop(made)
        return await checks.act(call, arguments)

    tools = {**services.tools, "slack_may_decide": replace(checks, act=slow)}
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(services, tools=tools))


@pytest.mark.parametrize(
    ("pressed", "shown"),
    [
        ("approved", "Approved by name of U0LEAD000 on {}. file_ticket was not called: the run ended first."),
        ("denied", "Denied by name of U0LEAD000 on {}."),
    ],
)
async def test_question_decided_while_its_run_was_stopped_shows_the_decision(pressed: str, shown: str) -> None:
    made = await waiting_for_approval()
    stop_while_a_click_is_checked(made)
    await made.press(pressed)
    await made.work()
    assert (made.filed, await status(made)) == ([], "cancelled")
    (ending,) = made.closed
    before, _, after = shown.partition("{}")
    assert ending.startswith(before)
    assert ending.endswith(after)


@pytest.mark.parametrize("pressed", ["approved", "denied", ""])
@pytest.mark.parametrize("crashes", [False, True])
async def test_question_of_a_run_stopped_at_any_frame_keeps_no_buttons(pressed: str, crashes: bool) -> None:
    filed = set[int]()
    for n in range(2, 100):
        made = approval_worker()
        worker = made.memory_worker.worker
        made.memory_worker.worker = replace(worker, services=replace(worker.services, model=FilesThenSaysSo()))
        reached = _stop_at_frame(made, n, crashes=crashes)
        await made.memory_worker.accept("run1", private=False)
        await made.work(4)
        if made.asked and pressed:
            await made.press(pressed)
        await made.work(6)
        if not reached:
            assert n > 8
            break
        filed.add(len(made.filed))
        assert await status(made) in ("cancelled", "done"), n
        assert bool(made.closed) == bool(made.asked), n
    assert filed == ({0, 1} if pressed == "approved" else {0})


def _stop_at_frame(made: ApprovalWorker, n: int, *, crashes: bool) -> list[int]:
    """Stop the run right before frame `n` is written, and perhaps crash after it. The list is empty until then."""
    store, reached = made.memory_worker.store, list[int]()
    create = store.create

    async def stopped(run: str, number: int, frame: bytes) -> bytes | None:
        if number != n or reached:
            return await create(run, number, frame)
        reached.append(n)
        await stop(made)
        stands = await create(run, number, frame)
        if crashes:
            raise Crashed
        return stands

    store.create = stopped  # type: ignore[method-assign]
    return reached
