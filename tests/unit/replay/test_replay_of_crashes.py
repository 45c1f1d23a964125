"""Replays of runs whose workers crashed: each step is made again by the owner that recorded it."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from gofer.engine.effects import ATTEMPTS
from gofer.journal import entries as e
from gofer.models.language_model import Answer
from gofer.runtime.cancel import cancel
from gofer.tools.definition import Arguments, Call, Effect, Tool, ToolResult
from gofer.values.errors import TemporaryError
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Subagent
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent
from support.engine.approvals import ApprovalWorker, approval_worker, status, waiting_for_approval
from support.engine.memory_run import Said, says
from support.engine.subagent_runs import BASE, Asked, ModelOfMany
from support.models.served import served
from support.replay.recorded import recorded_by, replayed
from support.runtime.memory_worker import Crashed
from support.runtime.worker_parts import FixedCatalog, catalog_of

pytestmark = pytest.mark.anyio
FILE: tuple[str, dict[str, object]] = ("file_ticket", {"text": "Checkout fails"})
Think = Callable[[Asked], Answer]
BY_LEADS: Mapping[str, object] = {"tools": ["file_ticket"], "by": "@leads"}
ONCE = {"ticket": {"once": "per_message"}}
PLACE = "coordinators/s.py"
SCRIPT = """
from gofer.coordinator import ToolFailed

async def pair(run, text):
    await run.call("look", text=text)
    try:
        await run.call("ticket", text=text)
    except ToolFailed:
        pass
    return await run.call("mail", text=text)

async def coordinate(run):
    await run.gather(
        pair(run, "one"), run.subagent("clerk", "Count."), run.call("mail", text="two"), pair(run, "three")
    )
    return f"Done at {run.now():%H}."
"""
TWICE = """
from gofer.coordinator import ToolFailed

async def file(run):
    try:
        await run.call("file_ticket", text="same")
    except ToolFailed:
        pass

async def coordinate(run):
    await run.gather(file(run), file(run))
    return "Done."
"""
TWO_CLERKS = """
async def coordinate(run):
    return "; ".join(await run.gather(run.subagent("clerk", "One."), run.subagent("clerk", "Two.")))
"""


@pytest.mark.parametrize("tool", ["slack_ask_approval", "slack_may_decide", "slack_tell_one", "slack_close_question"])
async def test_crash_between_two_steps_of_an_approval_replays_identically(tool: str) -> None:
    made = approval_worker(says("", FILE), says("Filed."), approve=BY_LEADS)
    await made.memory_worker.accept("run1", private=False)
    await made.work(2)
    made.crash_after = tool
    await made.press("approved", "U0NOBODY0")
    await made.work(3)
    await made.press("denied")
    await made.work(5)
    assert await status(made) == "done"
    await assert_identical(made)


async def test_outage_after_the_cancellation_of_a_waiting_run_replays_identically() -> None:
    made = await waiting_for_approval(approve=BY_LEADS)
    worker = made.memory_worker
    be_away(made, "slack_close_question")
    await cancel("run1", e.RunCancelled("Ada"), worker.store, worker.queue, "cancel-1")
    await made.work()
    assert await status(made) == "cancelled"
    assert any(isinstance(entry, e.CallDeferred) for entry in await made.entries())
    await assert_identical(made)


def be_away(made: ApprovalWorker, name: str) -> None:
    """Let the system of a tool be away for the attempts of one owner."""
    worker = made.memory_worker.worker
    tool = worker.services.tools[name]
    assert isinstance(tool, Tool)
    calls = itertools.count()

    async def act(call: Call, arguments: Arguments) -> ToolResult:
        if next(calls) < ATTEMPTS:
            raise TemporaryError("Slack answered 503.")
        return await tool.act(call, arguments)

    tools = {**worker.services.tools, name: replace(tool, act=act)}
    made.memory_worker.worker = replace(worker, services=replace(worker.services, tools=tools))


async def assert_identical(made: ApprovalWorker) -> None:
    again = await replayed(made.memory_worker, await recorded_by(made.memory_worker))
    assert (again.outcome, again.divergences, again.reason) == ("identical", [], "")


def think(asked: Asked) -> Answer:
    return says("", ("look", {"text": "below"})) if asked.turn == 0 else says("Counted.")


def branching() -> ApprovalWorker:
    """Return a worker whose script has branches with reads, writes and a subagent run."""
    return scripted(SCRIPT, think, tools=["look", "mail", ONCE])


def scripted(script: str, think: Think, **keys: object) -> ApprovalWorker:
    """Return a worker whose workflow is a script with a subagent."""
    made = approval_worker(coordinator="script", coordinator_script=PLACE, **keys)
    worker = made.memory_worker.worker

    async def say(call: Call, said: Said) -> ToolResult:
        return ToolResult(f"Said {said.text}", "said")

    effects: Mapping[str, Effect] = {"look": "read", "mail": "keyed", "ticket": "keyed"}
    tools = {name: Tool(name, "", effect, Said, say) for name, effect in effects.items()}
    clerk = LoadedSubagent(
        Subagent.model_validate({"description": "counts", "tools": "inherit"}), "You are clerk.", served("m")
    )
    catalog = catalog_of(worker)
    loaded = replace(catalog.workflows["answer-here"], subagents={"clerk": clerk})
    scripts = {PLACE: Script(PLACE, {"s": script})}
    services = replace(
        worker.services, tools={**worker.services.tools, **BASE, **tools}, scripts=scripts, model=ModelOfMany(think)
    )
    workflows = FixedCatalog(Catalog({"answer-here": loaded}, catalog.defaults, scripts=scripts))
    made.memory_worker.worker = replace(worker, services=services, workflows=workflows)
    return made


def crash_at(made: ApprovalWorker, frame: int, *, stored: bool) -> None:
    """Let a worker crash once, before or after its store has a frame of any run."""
    store = made.memory_worker.store
    create = store.create
    frames = itertools.count()

    async def mortal(run: str, n: int, raw: bytes) -> bytes | None:
        crashes = next(frames) == frame
        if crashes and not stored:
            raise Crashed
        standing = await create(run, n, raw)
        if crashes:
            raise Crashed
        return standing

    store.create = mortal  # type: ignore[method-assign]


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("frame", range(18))
async def test_crash_of_branches_at_any_frame_replays_identically(frame: int, stored: bool) -> None:
    made = branching()
    crash_at(made, frame, stored=stored)
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert await status(made) == "done"
    await assert_identical(made)


async def test_subagent_that_still_waits_while_another_goes_on_replays_identically() -> None:
    made = scripted(TWO_CLERKS, file, tools=["file_ticket"], approve={**BY_LEADS, "expires": "1 hour"})
    await made.memory_worker.accept("run1", private=False)
    await made.work(2)
    await made.press("approved", nth=0)
    await made.work(2)
    assert await status(made) == "parked"
    made.memory_worker.clock.advance(3_600)
    await made.work()
    assert await status(made) == "done"
    await assert_identical(made)


def file(asked: Asked) -> Answer:
    return says("", ("file_ticket", {"text": asked.prompt})) if asked.turn == 0 else says("Filed.")


async def test_same_call_in_two_branches_that_no_person_decided_replays_identically() -> None:
    made = scripted(TWICE, file, tools=["file_ticket"], approve={**BY_LEADS, "expires": "1 hour"})
    await made.memory_worker.accept("run1", private=False)
    await made.work(2)
    made.memory_worker.clock.advance(3_600)
    await made.work()
    assert await status(made) == "done"
    await assert_identical(made)
