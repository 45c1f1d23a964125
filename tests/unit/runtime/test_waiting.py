"""The status message of a run that waits for an approval: who may decide, and until when."""

from dataclasses import replace

import pytest

from gofer.runtime.deliver import AT_WORK
from gofer.tools.definition import Arguments, Call, Tool, ToolResult
from support.engine.approvals import FILE, ApprovalWorker, approval_worker, status
from support.engine.memory_run import says

pytestmark = pytest.mark.anyio
GOES_ON = "The answer will replace this message._"


async def waits(made: ApprovalWorker) -> list[str]:
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    assert await status(made) == "parked"
    return made.memory_worker.posted


@pytest.mark.parametrize(
    ("by", "people"),
    [
        ("@leads", "@leads"),
        ("requester", "the person who started this"),
        (["U0LEAD000", "@leads"], "name of U0LEAD000 or @leads"),
    ],
)
async def test_status_message_names_the_approvers_and_the_deadline(by: object, people: str) -> None:
    approve = {"tools": ["file_ticket"], "by": by, "expires": "2 hours"}
    made = approval_worker(says("", FILE), says("Filed."), approve=approve)
    assert await waits(made) == [f"_On it. file_ticket needs the approval of {people}, until 14:00 UTC. {GOES_ON}"]


async def test_each_approval_of_a_run_is_named_once_and_the_answer_replaces_the_last() -> None:
    second = ("file_ticket", {"text": "Refunds fail"})
    made = approval_worker(says("", FILE), says("", second), says("Filed."))
    await waits(made)
    await made.press("approved")
    await made.work(3)
    await made.press("approved", "U0NOBODY0")
    await made.work(3)
    assert len(made.memory_worker.edits) == 2
    await made.press("approved")
    await made.work(3)
    assert (made.memory_worker.posted, await status(made)) == (["Filed."], "done")
    assert len(made.memory_worker.edits) == 3


async def test_edit_that_a_crash_left_in_doubt_is_repeated_before_the_answer() -> None:
    made = approval_worker(says("", FILE), says("Filed."))
    made.memory_worker.crash_in.add("slack_update_message")
    await made.memory_worker.accept("run1", private=False)
    await made.work(1)
    made.memory_worker.crash_in.clear()
    await made.press("approved")
    await made.work(6)
    assert (made.memory_worker.posted, await status(made)) == (["Filed."], "done")
    assert made.memory_worker.edits == [AT_WORK, "Filed."]


async def test_press_that_comes_while_the_message_is_edited_wakes_the_run() -> None:
    made = approval_worker(says("", FILE), says("Filed."))
    worker = made.memory_worker.worker
    edit = worker.services.tools["slack_update_message"]
    assert isinstance(edit, Tool)

    async def act(call: Call, arguments: Arguments) -> ToolResult:
        if not made.memory_worker.edits:
            await made.press("approved")
        return await edit.act(call, arguments)

    tools = {**worker.services.tools, "slack_update_message": replace(edit, act=act)}
    made.memory_worker.worker = replace(worker, services=replace(worker.services, tools=tools))
    await made.memory_worker.accept("run1", private=False)
    await made.work(4)
    assert (made.memory_worker.posted, await status(made)) == (["Filed."], "done")
