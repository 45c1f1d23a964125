"""Effects once per message: when several runs ask for an effect, it happens once and each run gets its result."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.engine.once import claim
from gofer.engine.permitted_call import Permitted
from gofer.journal import entries as e
from gofer.journal.coordination import Head
from gofer.journal.frames import Frame, frame_hash
from gofer.journal.log import Pen, read_journal
from gofer.journal.log import claim as claim_run
from gofer.journal.seal import seal_of
from gofer.models.language_model import Answer
from gofer.runtime.cancel import cancel
from gofer.runtime.retention import delete
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.one_place import Stores
from gofer.tools.definition import Call, InDoubt, Tool, ToolResult
from gofer.values.errors import Fenced, ToolError
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.approvals import approval_worker
from support.engine.memory_run import MemoryRun, Said, memory_run, says
from support.journal.stored_bytes import frame_bytes
from support.runtime.memory_worker import CATALOG, CONVERSATION, Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog
from support.stand_ins import make_outside, mention

pytestmark = pytest.mark.anyio
FILE = ("file_ticket", {"text": "Checkout fails"})


class FilesThenSaysSo:
    """A model that files a ticket and then answers."""

    def __init__(self, times: int = 1) -> None:
        self.times = times

    async def ask(self, body: bytes, timeout: float) -> Answer:
        return says("Told.") if body.count(b'"role":"tool"') >= self.times else says("", FILE)


class Tickets:
    """A ticket system that finds tickets by key."""

    def __init__(self) -> None:
        self.by_key: dict[str, str] = {}
        self.crashes = 0
        """The number of next calls whose worker crashes right after the effect."""
        self.refuse = 0
        """The number of next calls that are refused."""
        self.since: list[float] = []

    async def file(self, call: Call, said: Said) -> ToolResult:
        if self.refuse:
            self.refuse -= 1
            raise ToolError("There is no such project.")
        self.by_key[call.key] = f"OPS-{len(self.by_key) + 1}"
        if self.crashes:
            self.crashes -= 1
            raise Crashed
        return self._filed(call)

    async def look(self, call: Call, said: Said) -> ToolResult | None:
        self.since.append(call.since)
        return self._filed(call) if call.key in self.by_key else None

    def _filed(self, call: Call) -> ToolResult:
        return ToolResult(f"Filed as {self.by_key[call.key]}", "filed", {"key": self.by_key[call.key]})


def shop(tickets: Tickets, times: int = 1) -> MemoryWorker:
    made = memory_worker()
    given = {"description": "d", "owner": "#o", "when": ["slack.mention"], "private_channels": "allow"}
    workflow = Workflow.model_validate({**given, "tools": [{"file_ticket": {"once": "per_message"}}]})
    tool = Tool("file_ticket", "files", "lookup", Said, tickets.file, in_doubt=InDoubt(look=tickets.look))
    services = replace(
        made.worker.services,
        tools={**made.worker.services.tools, "file_ticket": tool},
        installation_key=InstallationKey(Secret("0" * 64)),
        model=FilesThenSaysSo(times),
    )
    loaded = replace(CATALOG.workflows["answer-here"], workflow=workflow)
    made.worker = replace(
        made.worker, services=services, workflows=FixedCatalog(Catalog({"answer-here": loaded}, Defaults())), alone=True
    )
    return made


async def work(made: MemoryWorker, rounds: int = 8) -> None:
    for _ in range(rounds):
        await made.work_once_or_crash()
        made.clock.advance(130)


async def outcome_of(made: MemoryWorker, run: str, call: str = "1.0") -> e.ToolResult | e.ToolUnknown:
    journal = [item.entry for item in await read_journal(run, made.store, made.blobs)]
    (outcome,) = [one for one in journal if isinstance(one, e.ToolResult | e.ToolUnknown) and one.call == call]
    return outcome


@pytest.mark.parametrize("team", ["T0ACME00", "T0OTHER0"])
async def test_effect_of_a_run_from_before_names_without_workspace_happens_once(team: str) -> None:
    tickets = Tickets()
    made = shop(tickets)
    now = mention()
    old = replace(now, identity=(team, *now.identity), place={**now.place, "team": team})
    await claim_run("run1", e.RunAccepted(old, "answer-here"), Pen("r", make_outside()), made.store, made.blobs)
    await made.store.create_head(Head("run1", "answer-here", CONVERSATION, 1, private=False))
    await made.queue.enqueue("run1")
    await work(made)
    now = replace(now, place={**now.place, "outer_team": "T0OTHER0"})
    await claim_run("run2", e.RunAccepted(now, "answer-here"), Pen("r", make_outside()), made.store, made.blobs)
    await made.store.create_head(Head("run2", "answer-here", CONVERSATION, 2, private=False))
    await made.queue.enqueue("run2")
    await work(made)
    assert tickets.by_key == {"run1/1.0": "OPS-1"}
    assert "Filed as OPS-1" in (await outcome_of(made, "run2")).text


async def test_two_runs_for_one_message_file_one_ticket_and_both_report_the_ticket() -> None:
    tickets = Tickets()
    made = shop(tickets)
    for run in ("run1", "run2"):
        await made.accept(run, private=False)
    await work(made)
    assert tickets.by_key == {"run1/1.0": "OPS-1"}
    first, second = await outcome_of(made, "run1"), await outcome_of(made, "run2")
    assert first.text == "Filed as OPS-1"
    assert isinstance(second, e.ToolResult)
    assert (second.status, second.details) == (
        "ok",
        {"key": "OPS-1", "done_before": "file_ticket", "not_made": "done_before"},
    )
    said = "Not done again: an earlier run (run1) already did this for the same message. Its result:"
    assert second.text == f"{said}\n\nFiled as OPS-1"
    assert [await made.status(run) for run in ("run1", "run2")] == ["done", "done"]


async def test_once_per_message_call_repeated_in_one_run_has_one_effect() -> None:
    tickets = Tickets()
    made = shop(tickets, times=2)
    await made.accept("run1", private=False)
    await work(made)
    assert tickets.by_key == {"run1/1.0": "OPS-1"}
    assert "another call of this run already did this" in (await outcome_of(made, "run1", "2.0")).text


async def test_refused_once_per_message_call_is_made_by_the_next_run() -> None:
    tickets = Tickets()
    tickets.refuse = 1
    made = shop(tickets)
    for run in ("run1", "run2", "run3"):
        await made.accept(run, private=False)
    await work(made)
    assert tickets.by_key == {"run2/1.0": "OPS-1"}
    assert (await outcome_of(made, "run1")).text == "There is no such project."
    assert "an earlier run (run2) already did this" in (await outcome_of(made, "run3")).text


@pytest.mark.parametrize("forgotten", [False, True])
async def test_effect_of_a_deleted_run_is_looked_up_with_the_original_key(forgotten: bool) -> None:
    tickets = Tickets()
    made = shop(tickets)
    await made.accept("run1", private=False)
    await work(made)
    assert await delete(["run1"], Stores(made.store, made.blobs, made.queue)) == 1
    if forgotten:
        await made.store.forget("run1")
    made.clock.advance(100_000)
    await made.accept("run2", private=False)
    await work(made)
    assert tickets.by_key == {"run1/1.0": "OPS-1"}
    assert (await outcome_of(made, "run2")).text == "Filed as OPS-1"
    # The lookup covers the time since the first run was accepted.
    assert tickets.since == [tickets.since[0]]
    assert tickets.since[0] < made.clock.now() - 90_000
    await made.accept("run3", private=False)
    await work(made)
    assert len(tickets.by_key) == 1
    assert "an earlier run (run2) already did this" in (await outcome_of(made, "run3")).text


async def test_missing_effect_of_a_deleted_run_is_made_once_with_the_original_key() -> None:
    tickets = Tickets()
    made = shop(tickets)
    await made.accept("run1", private=False)
    await work(made)
    assert await delete(["run1"], Stores(made.store, made.blobs, made.queue)) == 1
    tickets.by_key.clear()
    tickets.crashes = 1
    await made.accept("run2", private=False)
    await work(made)
    assert tickets.by_key == {"run1/1.0": "OPS-1"}
    assert (await outcome_of(made, "run2")).text == "Filed as OPS-1"


async def lost_in_the_middle(tickets: Tickets) -> MemoryWorker:
    """Return a worker whose first run crashed during the effect, and has its own conversation."""
    tickets.crashes = 1
    made = shop(tickets)
    await made.accept("run1", private=False)
    await made.work_once_or_crash()
    head = await made.store.head("run1")
    assert head is not None
    await made.store.put_head(replace(head, conversation="elsewhere"))
    return made


async def the_second_run_waits(made: MemoryWorker) -> None:
    made.clock.advance(70)
    await made.accept("run2", private=False)
    await made.work_once_or_crash()
    parked = await made.store.head("run2")
    assert parked is not None
    assert (parked.status, parked.reason) == ("parked", "waits for an earlier run that does the same")


async def test_run_of_another_conversation_waits_for_the_run_that_claimed_the_effect() -> None:
    tickets = Tickets()
    made = await lost_in_the_middle(tickets)
    await the_second_run_waits(made)
    await made.queue.enqueue("run1")
    await work(made)
    assert tickets.by_key == {"run1/1.0": "OPS-1"}
    assert [await made.status(run) for run in ("run1", "run2")] == ["done", "done"]
    assert (await outcome_of(made, "run2")).text.endswith("Filed as OPS-1")


async def test_run_of_a_newer_version_keeps_the_claim_on_an_effect() -> None:
    tickets = Tickets()
    made = await lost_in_the_middle(tickets)
    frames = await made.store.frames("run1")
    newer = Frame(len(frames) + 1, 1, "o", "n", frame_hash(frames[-1]), [{"kind": "run.dreamed"}])
    await made.store.create("run1", newer.n, frame_bytes(newer, await seal_of("run1", made.store)))
    await the_second_run_waits(made)
    assert tickets.since == []


async def test_run_that_waits_for_a_claimed_effect_checks_ever_more_rarely() -> None:
    tickets = Tickets()
    made = await lost_in_the_middle(tickets)
    made.clock.advance(70)
    await made.accept("run2", accepted_at=int(made.clock.now() * 1000), private=False)
    for _ in range(2 * 60 * 4):
        # The first run gets no queue message.
        made.queue.clear()
        await made.queue.enqueue("run2")
        await made.work_once_or_crash()
        made.clock.advance(15)
    assert await made.status("run2") == "parked"
    assert len(await made.store.frames("run2")) < 150


async def test_run_with_a_stale_look_at_the_claim_finds_the_effect_claimed() -> None:
    tickets = Tickets()
    made = shop(tickets)
    await made.accept("run1", private=False)
    await work(made)
    memo = made.store.memo

    async def nothing_yet(key: str) -> str | None:
        return None

    made.store.memo = nothing_yet  # type: ignore[method-assign]
    await made.accept("run2", private=False)
    await work(made)
    made.store.memo = memo  # type: ignore[method-assign]
    assert tickets.by_key == {"run1/1.0": "OPS-1"}
    assert "an earlier run (run1) already did this" in (await outcome_of(made, "run2")).text


@pytest.mark.parametrize(("cancelled", "key"), [(False, "run1/1.0"), (True, "run2/1.0")])
async def test_crash_between_claim_and_intent_leaves_the_effect_to_this_or_the_next_run(
    cancelled: bool, key: str
) -> None:
    tickets = Tickets()
    made = shop(tickets)
    lost: list[str] = []
    create = made.store.create

    async def mortal(run: str, n: int, frame: bytes) -> bytes | None:
        # This is the frame of the intent: the memo was written, and the call was not made.
        if run == "run1" and await _memos(made) and not lost:
            lost.append(run)
            raise Crashed
        return await create(run, n, frame)

    made.store.create = mortal  # type: ignore[method-assign]
    await made.accept("run1", private=False)
    await made.work_once_or_crash()
    assert lost
    assert tickets.by_key == {}
    made.clock.advance(130)
    if cancelled:
        await cancel("run1", e.RunCancelled("Ada"), made.store, made.queue, "c1")
    await made.accept("run2", 2, private=False)
    await work(made)
    assert tickets.by_key == {key: "OPS-1"}


async def _memos(made: MemoryWorker) -> int:
    return len(made.store._memos)


@given(st.integers(2, 14), st.booleans(), st.integers(0, 1))
async def test_once_per_message_effect_happens_once_with_a_crash_at_any_frame(
    n: int, after: bool, crashes: int
) -> None:
    tickets = Tickets()
    tickets.crashes = crashes
    made = shop(tickets)
    lost: list[int] = []
    create = made.store.create

    async def mortal(run: str, number: int, frame: bytes) -> bytes | None:
        if (run, number) != ("run1", n) or lost:
            return await create(run, number, frame)
        lost.append(n)
        if after:
            await create(run, number, frame)
        raise Crashed

    made.store.create = mortal  # type: ignore[method-assign]
    for run in ("run1", "run2"):
        await made.accept(run, private=False)
    await work(made, 14)
    assert len(tickets.by_key) == 1
    assert [await made.status(run) for run in ("run1", "run2")] == ["done", "done"]
    for run in ("run1", "run2"):
        assert (await outcome_of(made, run)).text.endswith("Filed as OPS-1")


async def test_denied_call_stays_denied_when_another_run_makes_the_same_call_meanwhile() -> None:
    """The worker crashes between the decision and its outcome. Meanwhile the call of another run is approved."""
    made = approval_worker(
        *[says("", FILE)] * 2,
        says("Filed."),
        says("Then not."),
        tools=[{"file_ticket": {"once": "per_message"}}],
    )
    for run in ("run1", "run2"):
        await made.memory_worker.accept(run, private=False)
        head = await made.memory_worker.store.head(run)
        assert head is not None
        await made.memory_worker.store.put_head(replace(head, conversation=run))
        await made.work(1)
    made.crash_after = "slack_close_question"
    await made.press("denied", nth=0)
    await made.memory_worker.work_once_or_crash()
    await made.press("approved", nth=1)
    await made.work()
    assert len(made.filed) == 1
    assert "name of U0LEAD000 denied it" in await made.first_result("run1")
    assert [await made.memory_worker.status(run) for run in ("run1", "run2")] == ["done", "done"]


async def with_a_claim_that_was_lost() -> tuple[MemoryRun, Permitted, Permitted]:
    """Return a run whose owner crashed right after it claimed the first of two calls."""
    made = memory_run()

    async def file(call: Call, said: Said) -> ToolResult:
        return ToolResult("filed", "filed")

    made.tool("file_ticket", "keyed", file)
    first, second = [Permitted(call, made.tools["file_ticket"], Said(text=call)) for call in ("0.1-0", "0.1-1")]
    lost = await made.step("lost")
    assert await claim(lost, first) is first
    await lost.commit()
    return made, first, second


async def test_branches_that_find_the_claim_of_a_crashed_owner_make_one_call() -> None:
    made, first, second = await with_a_claim_that_was_lost()
    exchange = made.store.exchange_memo

    async def slow(*arguments: Any) -> str:
        await asyncio.sleep(0.01)
        return await exchange(*arguments)

    made.store.exchange_memo = slow  # type: ignore[method-assign]
    step = await made.step("next")
    outcomes = await asyncio.gather(claim(step, second), claim(step, first))
    assert sorted(type(one).__name__ for one in outcomes) == ["Permitted", "ToolResult"]


async def test_owner_that_lost_its_run_does_not_replace_a_claim_of_the_next_owner() -> None:
    made, first, second = await with_a_claim_that_was_lost()
    frozen = await made.step("frozen")
    next_owner = await made.step("next")
    next_owner.note(e.RunOwned())
    await next_owner.commit()
    assert isinstance(await claim(next_owner, second), Permitted)
    with pytest.raises(Fenced):
        await claim(frozen, first)
    ((_, (stands, _)),) = made.store._memos.items()
    assert stands.startswith(f"run1/{second.call} ")


async def test_owner_that_freezes_before_the_exchange_does_not_replace_a_claim_of_the_next_owner() -> None:
    made, first, second = await with_a_claim_that_was_lost()
    frozen = await made.step("frozen")
    exchange = made.store.exchange_memo

    async def exchange_after_the_next_owner(*arguments: Any) -> str:
        made.store.exchange_memo = exchange  # type: ignore[method-assign]
        next_owner = await made.step("next")
        next_owner.note(e.RunOwned())
        await next_owner.commit()
        # The next owner makes the call that the memo names.
        assert isinstance(await claim(next_owner, first), Permitted)
        return await exchange(*arguments)

    made.store.exchange_memo = exchange_after_the_next_owner  # type: ignore[method-assign]
    with pytest.raises(Fenced):
        await claim(frozen, second)
    ((_, (stands, _)),) = made.store._memos.items()
    assert stands.startswith(f"run1/{first.call} ")


async def test_repeatedly_taken_over_claim_keeps_the_original_key() -> None:
    made, _, second = await with_a_claim_that_was_lost()
    ((memo, (stands, _)),) = made.store._memos.items()
    # The claim was already taken over from an earlier run.
    inherited = stands.replace(" run1/0.1-0 ", " run0/1.0 ")
    assert await made.store.exchange_memo(memo, stands, inherited, 0) == inherited
    taken = await claim(await made.step("next"), second)
    assert isinstance(taken, Permitted)
    assert (taken.call, taken.key) == ("0.1-1", "run0/1.0")
