"""Subagents of a run: approvals, cancellation and privacy apply to them, and the run waits for them."""

from collections.abc import Awaitable
from dataclasses import replace
from itertools import cycle, product

import pytest

from gofer.journal import entries as e
from gofer.journal import inbox
from gofer.journal.log import read_journal
from gofer.journal.seal import seal_of
from gofer.models.language_model import Answer
from gofer.projections import progress
from gofer.runtime.cancel import cancel
from gofer.sources.slack.approvals import CloseQuestion
from gofer.sources.slack.question import Question
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import Gone, TemporaryError
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults, Subagent
from gofer.workflows.subagent import LoadedSubagent
from support.engine.approvals import FILE, ApprovalWorker, approval_worker, status
from support.engine.memory_run import Said, says
from support.engine.subagent_runs import BASE, Asked, ModelOfMany
from support.models.served import served
from support.runtime.memory_worker import Crashed
from support.runtime.worker_parts import FixedCatalog, catalog_of

pytestmark = pytest.mark.anyio
ASK = ("subagent", {"agent_name": "clerk", "prompt": "file it"})


def think(asked: Asked) -> Answer:
    match asked.system, asked.turn:
        case "You are clerk.", 0:
            return says("", FILE)
        case "You are clerk.", _:
            return says(f"clerk: {asked.said[-1]}")
        case _, 0:
            return says("", ASK)
        case _:
            return says(asked.said[-1])


def with_a_clerk(**keys: object) -> ApprovalWorker:
    """Return a worker whose tickets are filed by a subagent."""
    made = approval_worker(**{"subagents": ["clerk"], **keys})
    worker = made.memory_worker.worker
    loaded = catalog_of(worker).workflows["answer-here"]
    subagent = Subagent.model_validate({"description": "files", "tools": "inherit"})
    clerk = LoadedSubagent(subagent, "You are clerk.", served("m"))
    catalog = Catalog({"answer-here": replace(loaded, subagents={"clerk": clerk})}, Defaults())
    tools = {**worker.services.tools, **BASE}
    services = replace(worker.services, tools=tools, model=ModelOfMany(think))
    made.memory_worker.worker = replace(worker, services=services, workflows=FixedCatalog(catalog))
    return made


async def below(made: ApprovalWorker) -> list[e.Entry]:
    (run,) = {one.run for one in await made.entries() if isinstance(one, e.SubagentStarted)}
    return [item.entry for item in await read_journal(run, made.memory_worker.store, made.memory_worker.blobs)]


async def test_subagent_tool_call_waits_for_the_approval_that_the_workflow_requires() -> None:
    made = with_a_clerk()
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    assert (await status(made), made.filed, len(made.asked)) == ("parked", [], 1)
    await made.press("approved", "U0NOBODY0")
    await made.work(3)
    assert (await status(made), made.private_messages[0][1]) == ("parked", "Only @leads may decide this.")
    assert await made.press("approved") == ""
    await made.work()
    assert (await status(made), made.memory_worker.posted) == ("done", ["clerk: Filed as OPS-1"])
    # The key of the call names the subagent run and the call.
    (key,) = made.filed
    assert key.startswith("run1.")
    assert key.endswith("/1.0")
    assert [ending.partition(" on ")[0] for ending in made.closed] == ["Approved by name of U0LEAD000"]


async def test_approval_click_passed_to_a_subagent_right_before_parking_is_processed() -> None:
    made = with_a_clerk()
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    assert await made.press("approved") == ""
    # The step of another subagent may have passed the click to this one, which waited already.
    (run,) = {one.run for one in await made.entries() if isinstance(one, e.SubagentStarted)}
    store = made.memory_worker.store
    (item,) = await inbox.read(store, await seal_of("run1", store))
    assert isinstance(item, e.ApprovalClicked)
    await inbox.put(store, run, item.item, replace(item, run="", item=""))
    await store.drop_items("run1", [item.item])
    await made.work()
    assert (await status(made), len(made.filed)) == ("done", 1)


async def test_tool_call_denied_to_a_subagent_is_not_made() -> None:
    made = with_a_clerk()
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    await made.press("denied")
    await made.work()
    assert (await status(made), made.filed) == ("done", [])
    assert "denied it" in made.memory_worker.posted[0]


async def test_approved_call_of_a_subagent_happens_once_with_a_crash_at_any_frame(everywhere: bool) -> None:
    sides = product(range(2, 100), (False, True))
    for at, after in sides if everywhere else zip(range(2, 100), cycle((False, True)), strict=False):
        made = with_a_clerk()
        await made.memory_worker.accept("run1", private=False)
        reached = _crash_at_frame(made, at, after=after)
        await made.work(4)
        if made.asked:
            await made.press("approved", "U0NOBODY0")
        await made.work(4)
        if made.asked:
            await made.press("approved")
        await made.work()
        assert (len(made.filed), await status(made), len(made.asked)) == (1, "done", 1), (at, after)
        if not reached:
            assert at > 18
            return


@pytest.mark.parametrize(("decision", "filed"), [("approved", 1), ("denied", 0)])
async def test_required_tool_of_a_subagent_counts_for_the_run_if_called_or_denied(decision: str, filed: int) -> None:
    made = with_a_clerk(requires="file_ticket")
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    await made.press(decision)
    await made.work()
    assert (await status(made), len(made.filed)) == ("done", filed)
    (answer,) = [one for one in await made.entries() if isinstance(one, e.SubagentFinished)]
    assert answer.settled == ("file_ticket",)


async def test_required_tool_is_asked_of_the_run_and_not_of_its_subagent() -> None:
    made = with_a_clerk(requires="file_ticket", approve=None)
    services = made.memory_worker.worker.services
    made.memory_worker.worker = replace(
        made.memory_worker.worker, services=replace(services, model=ModelOfMany(_only_answers))
    )
    await made.memory_worker.accept("run1", private=False)
    await made.work()
    assert await status(made) == "needs_attention"
    remarks = [one for one in [*await made.entries(), *await below(made)] if getattr(one, "code", "") == "unmet"]
    assert len(remarks) == 1


def _only_answers(asked: Asked) -> Answer:
    if asked.system == "You are clerk." or asked.turn:
        return says("No.")
    return says("", ASK)


async def test_cancellation_of_a_run_cancels_the_subagents() -> None:
    made = with_a_clerk()
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    store, queue = made.memory_worker.store, made.memory_worker.queue
    assert await cancel("run1", e.RunCancelled("Ada"), store, queue, "a")
    await made.work(3)
    assert (await status(made), made.filed) == ("cancelled", [])
    ended = await below(made)
    assert isinstance(ended[-2], e.RunFinished)
    assert ended[-2].status == "cancelled"
    # No owner crashed: each released the subagent before the next one took it.
    owned = [one for one in ended if isinstance(one, e.RunOwned)]
    assert len(owned) == 1 + sum(isinstance(one, e.RunParked) for one in ended)
    # The open question is closed, and all usage is counted.
    assert made.closed == ["file_ticket was not called: the run ended before a decision."]
    state = progress.project(await read_journal("run1", store, made.memory_worker.blobs))
    assert (state.asking, state.llm_calls) == ({}, 2)


@pytest.mark.not_replayed("its clock moves during a call")
@pytest.mark.parametrize("slack_is_away", [False, True])
async def test_subagent_that_reaches_a_limit_leaves_no_open_question(slack_is_away: bool) -> None:
    made = with_a_clerk(limits={"minutes": 60})
    services = made.memory_worker.worker.services
    asks, closes = services.tools["slack_ask_approval"], services.tools["slack_close_question"]
    outages = [TemporaryError("away")] * 9 * slack_is_away

    async def slow(call: Call, question: Question) -> ToolResult:
        made.memory_worker.clock.advance(301)
        return await asks.act(call, question)

    async def away_first(call: Call, arguments: CloseQuestion) -> ToolResult:
        if outages:
            raise outages.pop()
        return await closes.act(call, arguments)

    tools = {
        **services.tools,
        "slack_ask_approval": replace(asks, act=slow),
        "slack_close_question": replace(closes, act=away_first),
    }
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(services, tools=tools))
    await made.memory_worker.accept("run1", private=False)
    await made.work(40)
    assert await made.press("approved") == ""
    await made.work(20)
    assert (await status(made), made.filed) == ("done", [])
    ended = [one for one in await below(made) if isinstance(one, e.RunConcluded | e.RunFinished)]
    assert [one.status for one in ended] == ["limited", "limited"]
    assert made.closed == ["file_ticket was not called: the run ended before a decision."]


async def test_question_of_a_subagent_posted_before_a_crash_is_closed_by_a_cancellation() -> None:
    made = with_a_clerk()
    made.crash_after = "slack_ask_approval"
    await made.memory_worker.accept("run1", private=False)
    await made.work(1)
    await cancel("run1", e.RunCancelled("Ada"), made.memory_worker.store, made.memory_worker.queue, "a")
    await made.work()
    assert (await status(made), made.filed, len(made.asked)) == ("cancelled", [], 1)
    assert made.closed == ["file_ticket was not called: the run ended before a decision."]


async def test_cancelled_run_starts_no_subagent_after_a_crash() -> None:
    for at, after in ((at, after) for at in range(6, 100) for after in (False, True)):
        made = with_a_clerk(approve=None)
        await made.memory_worker.accept("run1", private=False)
        reached = _crash_at_frame(made, at, after=after)
        await made.work(1)
        if not reached:
            assert at > 12
            return
        await cancel("run1", e.RunCancelled("Ada"), made.memory_worker.store, made.memory_worker.queue, "a")
        await made.work()
        entries = await made.entries()
        stopped = [place for place, one in enumerate(entries) if isinstance(one, e.RunCancelled)]
        later = entries[stopped[0] :] if stopped else []
        assert not [one for one in later if isinstance(one, e.SubagentStarted) and not one.resumed], (at, after)


@pytest.mark.not_replayed("its clock stands still")
async def test_result_of_a_subagent_call_is_recorded_when_the_run_is_cancelled_meanwhile() -> None:
    made = with_a_clerk(approve=None)
    services, seen = made.memory_worker.worker.services, list[Call]()
    file = services.tools["file_ticket"]

    async def file_and_cancel(call: Call, said: Said) -> ToolResult:
        seen.append(call)
        await cancel("run1", e.RunCancelled("Ada"), made.memory_worker.store, made.memory_worker.queue, "a")
        return await file.act(call, said)

    tools = {**services.tools, "file_ticket": replace(file, act=file_and_cancel)}
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(services, tools=tools))
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    assert (await status(made), len(made.filed)) == ("cancelled", 1)
    (result,) = [one for one in await below(made) if isinstance(one, e.ToolResult)]
    assert (result.status, result.text) == ("ok", "Filed as OPS-1")
    # The key is that of the subagent, and the links are those of the root run.
    (call,) = seen
    assert call.key.startswith("run1.")
    assert (call.provenance.run, call.provenance.run_url) == ("run1", "http://localhost/runs/run1")


async def test_run_with_a_corrupt_subagent_needs_attention_and_names_the_subagent_run() -> None:
    made = with_a_clerk()
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    (run,) = {one.run for one in await made.entries() if isinstance(one, e.SubagentStarted)}
    frames = made.memory_worker.store._frames[run]
    frames[2] = frames[2][:-1] + bytes([frames[2][-1] ^ 1])
    assert await made.press("approved") == ""
    await made.work()
    head = await made.memory_worker.store.head("run1")
    assert head is not None
    assert (head.status, made.filed) == ("needs_attention", [])
    assert f"Run {run} is damaged at frame 3" in head.reason


async def test_subagents_of_a_private_run_are_deleted_at_the_end() -> None:
    made = with_a_clerk(approve=None, private_channels="allow")
    services = made.memory_worker.worker.services

    async def read(call: Call, arguments: object) -> ToolResult:
        return ToolResult("Thread", "read", {"private": True})

    tools = {**services.tools, "slack_read_thread": replace(services.tools["slack_read_thread"], act=read)}
    made.memory_worker.worker = replace(made.memory_worker.worker, services=replace(services, tools=tools))
    await made.memory_worker.accept("run1", private=True)
    await made.work()
    assert (await status(made), len(made.filed)) == ("done", 1)
    run = made.filed[0].partition("/")[0]
    frames = await made.memory_worker.store.frames(run)
    assert len(frames) > 3
    assert not any(frames)
    with pytest.raises(Gone):
        await read_journal(run, made.memory_worker.store, made.memory_worker.blobs)
    assert not await made.memory_worker.store.heads(10)


async def test_run_is_parked_while_the_model_of_a_subagent_is_unreachable() -> None:
    away = [True]

    def thinks(asked: Asked) -> Answer | Exception:
        return TemporaryError("busy") if asked.system == "You are clerk." and away else think(asked)

    made = with_a_clerk(approve=None)
    made.memory_worker.worker = replace(
        made.memory_worker.worker, services=replace(made.memory_worker.worker.services, model=ModelOfMany(thinks))
    )
    await made.memory_worker.accept("run1", private=False)
    await made.work(2)
    assert await status(made) == "parked"
    away.clear()
    await made.work()
    assert (await status(made), made.memory_worker.posted, len(made.filed)) == ("done", ["clerk: Filed as OPS-1"], 1)


def _crash_at_frame(made: ApprovalWorker, at: int, *, after: bool) -> list[int]:
    """Crash the worker once, right before or after the `at`th frame that is written to any run."""
    store, written, reached = made.memory_worker.store, [0], list[int]()
    create, claim = store.create, store.claim

    async def mortal(doing: Awaitable[bytes | None]) -> bytes | None:
        written[0] += 1
        hit = written[0] == at and not reached
        if hit and not after:
            reached.append(at)
            doing.close()  # type: ignore[attr-defined]
            raise Crashed
        stands = await doing
        if hit:
            reached.append(at)
            raise Crashed
        return stands

    store.create = lambda *args: mortal(create(*args))  # type: ignore[method-assign]
    store.claim = lambda *args: mortal(claim(*args))  # type: ignore[method-assign]
    return reached


@pytest.mark.parametrize(("names", "asked"), [(True, []), (False, [("elsewhere", "U0NEWCO0")])])
async def test_asker_of_the_root_run_decides_where_a_subagent_writes(names: bool, asked: list[tuple[str, str]]) -> None:
    made = with_a_clerk(approve=None, tools=["slack_post_message"], private_channels="allow")
    services = made.memory_worker.worker.services

    def posts(asked: Asked) -> Answer:
        if asked.system == "You are clerk." and not asked.turn:
            return says("", ("slack_post_message", {"text": "there", "channel": "#random"}))
        return think(asked)

    services = replace(services, model=ModelOfMany(posts))
    made.memory_worker.worker = replace(made.memory_worker.worker, services=services)
    await made.memory_worker.accept(
        "run1", private=False, text="<@U0GOFER0> tell #random" if names else "<@U0GOFER0> hi"
    )
    await made.work(3)
    assert [(one.about, one.to) for one in made.asked] == asked
    assert ("there" in made.memory_worker.posted) == names


async def test_status_message_names_the_approvers_of_a_call_of_a_subagent() -> None:
    made = with_a_clerk()
    await made.memory_worker.accept("run1", private=False)
    await made.work(3)
    (shown,) = made.memory_worker.posted
    assert "file_ticket needs the approval of @leads, until 12:00 UTC on " in shown
