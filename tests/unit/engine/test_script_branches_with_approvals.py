"""Approvals in branches of a script: each branch resumes as soon as its approval is decided."""

from dataclasses import replace

import pytest

from gofer.journal import entries as e
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.workflows.script_source import Script
from support.engine.approvals import ApprovalWorker, approval_worker, status
from support.engine.memory_run import Said
from support.runtime.worker_parts import FixedCatalog, catalog_of

pytestmark = pytest.mark.anyio
SCRIPT = """
from gofer.coordinator import Run, ToolFailed

async def file(run: Run, text: str):
    try:
        await run.call("file_ticket", text=text)
        await run.call("announce", text=text)
    except ToolFailed as failed:
        return f"{text}: {failed.code}"
    return f"{text}: filed"

async def coordinate(run: Run):
    return "; ".join(await run.gather(*[file(run, text) for text in ("one", "two", "three")]))
"""


def scripted(announced: list[str]) -> ApprovalWorker:
    made = approval_worker(
        coordinator="script",
        coordinator_script="coordinators/s.py",
        tools=["file_ticket", "announce"],
        approve={"tools": ["file_ticket"], "by": "@leads"},
    )
    before = made.memory_worker.worker.services

    async def announce(call: Call, said: Said) -> ToolResult:
        announced.append(said.text)
        return ToolResult("Said", "said")

    tools = {**before.tools, "announce": Tool("announce", "", "keyed", Said, announce)}
    scripts = {"coordinators/s.py": Script("coordinators/s.py", {"s": SCRIPT})}
    worker = made.memory_worker.worker
    workflows = FixedCatalog(replace(catalog_of(worker), scripts=scripts))
    made.memory_worker.worker = replace(worker, services=replace(before, tools=tools), workflows=workflows)
    return made


async def now(made: ApprovalWorker) -> None:
    """Process all queue messages without advancing the clock."""
    while await made.memory_worker.work_once_or_crash():
        pass


async def test_approval_click_on_any_of_several_branches_is_processed_immediately() -> None:
    announced: list[str] = []
    made = scripted(announced)
    await made.memory_worker.accept("run1", private=False)
    await now(made)
    # All questions are asked at once.
    assert [question.arguments for question in made.asked] == [{"text": text} for text in ("one", "two", "three")]
    for nth, text in ((1, "two"), (2, "three")):
        await made.press("approved", nth=nth)
        await now(made)
        assert announced[-1] == text
        assert await status(made) == "parked"
    await made.press("denied", nth=0)
    await now(made)
    assert (await status(made), announced) == ("done", ["two", "three"])
    assert made.memory_worker.posted == ["one: refused; two: filed; three: filed"]


async def test_approval_click_received_while_another_branch_works_is_processed_at_once() -> None:
    announced: list[str] = []
    made = scripted(announced)
    await made.memory_worker.accept("run1", private=False)
    await now(made)
    tools = made.memory_worker.worker.services.tools
    announce = tools["announce"]

    async def pressed_meanwhile(call: Call, said: Said) -> ToolResult:
        if said.text == "two":
            await made.press("approved", nth=0)
        return await announce.act(call, said)

    changed = {**tools, "announce": replace(announce, act=pressed_meanwhile)}
    worker = made.memory_worker.worker
    made.memory_worker.worker = replace(worker, services=replace(worker.services, tools=changed))
    await made.press("approved", nth=1)
    await now(made)
    assert announced == ["two", "one"]
    parked = [one for one in await made.entries() if isinstance(one, e.RunParked)]
    assert len(parked) <= 4


async def test_script_with_one_approval_resumes_after_the_decision() -> None:
    announced: list[str] = []
    made = scripted(announced)
    script = SCRIPT.replace('("one", "two", "three")', '("one",)')
    worker = made.memory_worker.worker
    scripts = {"coordinators/s.py": Script("coordinators/s.py", {"s": script})}
    made.memory_worker.worker = replace(worker, workflows=FixedCatalog(replace(catalog_of(worker), scripts=scripts)))
    await made.memory_worker.accept("run1", private=False)
    await now(made)
    await made.press("approved")
    await now(made)
    assert (await status(made), announced, len(made.filed)) == ("done", ["one"], 1)
