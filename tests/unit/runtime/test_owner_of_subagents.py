"""What somebody has to approve, cancels or may not see holds for subagents too, and a root waits for those below it."""

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
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import Gone, TemporaryError
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults, Subagent
from gofer.workflows.subagent import LoadedSubagent
from support.engine.approvals import FILE, Desk, desk, status
from support.engine.memory_run import Said, says
from support.engine.subagent_runs import BASE, Asked, ModelOfMany
from support.models.served import served
from support.runtime.memory_worker import Lost
from support.runtime.worker_parts import Unchanging, catalog_of

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


def with_a_clerk(**keys: object) -> Desk:
    """A desk whose model has tickets filed by a subagent."""
    made = desk(**{"subagents": ["clerk"], **keys})
    worker = made.office.worker
    loaded = catalog_of(worker).workflows["answer-here"]
    subagent = Subagent.model_validate({"description": "files", "tools": "inherit"})
    clerk = LoadedSubagent(subagent, "You are clerk.", served("m"))
    catalog = Catalog({"answer-here": replace(loaded, subagents={"clerk": clerk})}, Defaults())
    tools = {**worker.services.tools, **BASE}
    services = replace(worker.services, tools=tools, model=ModelOfMany(think))
    made.office.worker = replace(worker, services=services, workflows=Unchanging(catalog))
    return made


async def below(made: Desk) -> list[e.Entry]:
    (run,) = {one.run for one in await made.entries() if isinstance(one, e.SubagentStarted)}
    return [item.entry for item in await read_journal(run, made.office.store, made.office.blobs)]


async def test_what_a_subagent_wants_to_do_waits_for_the_approval_that_its_workflow_asks_for() -> None:
    made = with_a_clerk()
    await made.office.accept("run1", private=False)
    await made.work(3)
    assert (await status(made), made.filed, len(made.asked)) == ("parked", [], 1)
    await made.press("approved", "U0NOBODY0")
    await made.work(3)
    assert (await status(made), made.words[0][1]) == ("parked", "Only @leads may decide this.")
    assert await made.press("approved") == ""
    await made.work()
    assert (await status(made), made.office.posted) == ("done", ["clerk: Filed as OPS-1"])
    # Under a key of its own: its run and its call.
    (key,) = made.filed
    assert key.startswith("run1.")
    assert key.endswith("/1.0")
    assert [ending.partition(" on ")[0] for ending in made.closed] == ["Approved by name of U0LEAD000"]


async def test_a_press_handed_down_right_before_its_run_was_parked_is_looked_at() -> None:
    made = with_a_clerk()
    await made.office.accept("run1", private=False)
    await made.work(3)
    assert await made.press("approved") == ""
    # As when another subagent was at work, whose step handed it down to one that waited already.
    (run,) = {one.run for one in await made.entries() if isinstance(one, e.SubagentStarted)}
    store = made.office.store
    (item,) = await inbox.read(store, await seal_of("run1", store))
    assert isinstance(item, e.ApprovalClicked)
    await inbox.put(store, run, item.item, replace(item, run="", item=""))
    await store.drop_items("run1", [item.item])
    await made.work()
    assert (await status(made), len(made.filed)) == ("done", 1)


async def test_what_is_denied_to_a_subagent_does_not_happen() -> None:
    made = with_a_clerk()
    await made.office.accept("run1", private=False)
    await made.work(3)
    await made.press("denied")
    await made.work()
    assert (await status(made), made.filed) == ("done", [])
    assert "denied it" in made.office.posted[0]


async def test_a_worker_lost_before_or_after_any_frame_changes_nothing_of_what_was_approved(everywhere: bool) -> None:
    sides = product(range(2, 100), (False, True))
    for at, after in sides if everywhere else zip(range(2, 100), cycle((False, True)), strict=False):
        made = with_a_clerk()
        await made.office.accept("run1", private=False)
        reached = _mortal(made, at, after=after)
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


async def test_whoever_cancels_a_run_stops_its_subagents() -> None:
    made = with_a_clerk()
    await made.office.accept("run1", private=False)
    await made.work(3)
    store, queue = made.office.store, made.office.queue
    assert await cancel("run1", e.RunCancelled("Ada"), store, queue, "a")
    await made.work(3)
    assert (await status(made), made.filed) == ("cancelled", [])
    ended = await below(made)
    assert isinstance(ended[-1], e.RunFinished)
    assert ended[-1].status == "cancelled"
    # Nobody was lost: each owner left it before the next had it.
    owned = [one for one in ended if isinstance(one, e.RunOwned)]
    assert len(owned) == 1 + sum(isinstance(one, e.RunParked) for one in ended)
    # Nobody is left with a button that does nothing, and all that was used is counted.
    assert made.closed == ["file_ticket was not called: the run ended before a decision."]
    state = progress.project(await read_journal("run1", store, made.office.blobs))
    assert (state.asking, state.llm_calls) == ({}, 2)


async def test_no_subagent_begins_once_a_run_that_lost_its_worker_was_cancelled() -> None:
    for at, after in ((at, after) for at in range(6, 100) for after in (False, True)):
        made = with_a_clerk(approve=None)
        await made.office.accept("run1", private=False)
        reached = _mortal(made, at, after=after)
        await made.work(1)
        if not reached:
            assert at > 12
            return
        await cancel("run1", e.RunCancelled("Ada"), made.office.store, made.office.queue, "a")
        await made.work()
        entries = await made.entries()
        stopped = [place for place, one in enumerate(entries) if isinstance(one, e.RunCancelled)]
        later = entries[stopped[0] :] if stopped else []
        assert not [one for one in later if isinstance(one, e.SubagentStarted) and not one.resumed], (at, after)


async def test_what_a_subagent_did_right_before_it_was_stopped_is_written_down() -> None:
    made = with_a_clerk(approve=None)
    services, seen = made.office.worker.services, list[Call]()
    file = services.tools["file_ticket"]

    async def file_and_cancel(call: Call, said: Said) -> ToolResult:
        seen.append(call)
        await cancel("run1", e.RunCancelled("Ada"), made.office.store, made.office.queue, "a")
        return await file.act(call, said)

    tools = {**services.tools, "file_ticket": replace(file, act=file_and_cancel)}
    made.office.worker = replace(made.office.worker, services=replace(services, tools=tools))
    await made.office.accept("run1", private=False)
    await made.work(3)
    assert (await status(made), len(made.filed)) == ("cancelled", 1)
    (result,) = [one for one in await below(made) if isinstance(one, e.ToolResult)]
    assert (result.status, result.text) == ("ok", "Filed as OPS-1")
    # Under a key of its own, and with the links of the run that people know.
    (call,) = seen
    assert call.key.startswith("run1.")
    assert (call.provenance.run, call.provenance.run_url) == ("run1", "http://localhost/runs/run1")


async def test_a_run_whose_subagent_was_damaged_does_nothing_more_and_says_which_it_was() -> None:
    made = with_a_clerk()
    await made.office.accept("run1", private=False)
    await made.work(3)
    (run,) = {one.run for one in await made.entries() if isinstance(one, e.SubagentStarted)}
    frames = made.office.store._frames[run]
    frames[2] = frames[2][:-1] + bytes([frames[2][-1] ^ 1])
    assert await made.press("approved") == ""
    await made.work()
    head = await made.office.store.head("run1")
    assert head is not None
    assert (head.status, made.filed) == ("needs_attention", [])
    assert f"Run {run} is damaged at frame 3" in head.reason


async def test_of_a_private_run_nothing_of_its_subagents_is_left_at_its_end() -> None:
    made = with_a_clerk(approve=None, private_channels="allow")
    services = made.office.worker.services

    async def read(call: Call, arguments: object) -> ToolResult:
        return ToolResult("Thread", "read", {"private": True})

    tools = {**services.tools, "slack_read_thread": replace(services.tools["slack_read_thread"], act=read)}
    made.office.worker = replace(made.office.worker, services=replace(services, tools=tools))
    await made.office.accept("run1", private=True)
    await made.work()
    assert (await status(made), len(made.filed)) == ("done", 1)
    run = made.filed[0].partition("/")[0]
    frames = await made.office.store.frames(run)
    assert len(frames) > 3
    assert not any(frames)
    with pytest.raises(Gone):
        await read_journal(run, made.office.store, made.office.blobs)
    assert not await made.office.store.heads(10)


async def test_a_run_waits_while_the_model_of_its_subagent_is_not_there() -> None:
    away = [True]

    def thinks(asked: Asked) -> Answer | Exception:
        return TemporaryError("busy") if asked.system == "You are clerk." and away else think(asked)

    made = with_a_clerk(approve=None)
    made.office.worker = replace(
        made.office.worker, services=replace(made.office.worker.services, model=ModelOfMany(thinks))
    )
    await made.office.accept("run1", private=False)
    await made.work(2)
    assert await status(made) == "parked"
    away.clear()
    await made.work()
    assert (await status(made), made.office.posted, len(made.filed)) == ("done", ["clerk: Filed as OPS-1"], 1)


def _mortal(made: Desk, at: int, *, after: bool) -> list[int]:
    """Loses the worker right before or after the frame that is written `at`th, of whichever run, once."""
    store, written, reached = made.office.store, [0], list[int]()
    create, claim = store.create, store.claim

    async def mortal(doing: Awaitable[bytes | None]) -> bytes | None:
        written[0] += 1
        hit = written[0] == at and not reached
        if hit and not after:
            reached.append(at)
            doing.close()  # type: ignore[attr-defined]
            raise Lost
        stands = await doing
        if hit:
            reached.append(at)
            raise Lost
        return stands

    store.create = lambda *args: mortal(create(*args))  # type: ignore[method-assign]
    store.claim = lambda *args: mortal(claim(*args))  # type: ignore[method-assign]
    return reached
