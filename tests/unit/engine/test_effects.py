import asyncio
from dataclasses import replace
from typing import cast

import pytest

from gofer.engine.effects import LastFrame, Patience, Permit, PermittedHttp
from gofer.engine.model_order import Parked
from gofer.engine.permitted_call import Permitted
from gofer.journal.entries import Effect, PermitRenewed, RunCancelled, RunOwned, ToolCall, ToolResult, ToolUnknown
from gofer.journal.log import Pen, open_journal
from gofer.stores.memory.journal import MemoryStore
from gofer.tools.definition import Call, InDoubt, Tool
from gofer.tools.definition import ToolResult as Result
from gofer.values.errors import ConfigError, Fenced, TemporaryError, ToolError, Unwritten
from gofer.values.outside import HttpRequest, HttpResponse
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, at_work, memory_run
from support.stand_ins import AnsweringHttp, make_outside

pytestmark = pytest.mark.anyio

QUICK = Patience(permit=20, inflight=0.01, skew=0, backoff=0.001)


def answers(made: MemoryRun, *outcomes: Exception | None):
    """Return an act with these outcomes, attempt by attempt. A success leaves a mark under its key."""
    left = list(outcomes)

    async def act(call: Call, said: Said) -> Result:
        if (outcome := left.pop(0) if left else None) is not None:
            raise outcome
        made.marked[call.key] = Result("done", "done")
        return made.marked[call.key]

    return act


async def waits_of(made: MemoryRun, effect: str) -> list[int]:
    """Return for how many seconds the run is parked each time until its call waits no longer."""
    waits: list[int] = []
    while sum(waits) < 1_800:
        with pytest.raises(Parked) as parked:
            await outcome_of(made, effect)
        assert parked.value.entry.reason == "outage"
        waits.append(round(parked.value.entry.until / 1000 - made.clock.now()))
        made.clock.advance(waits[-1])
    return waits


async def outcome_of(made: MemoryRun, effect: str):
    made.patience = QUICK
    step = await made.step()
    try:
        return await at_work(step).call(Permitted("1.0", made.tools[effect], Said(text="it")), PROVENANCE)
    except Parked as parked:
        step.note(parked.entry)
        await step.commit()
        raise


async def test_unconfirmed_keyed_call_is_repeated_with_the_same_key() -> None:
    made, keys = memory_run(), []

    async def lost_once(call: Call, said: Said) -> Result:
        keys.append(call.key)
        if len(keys) == 1:
            raise TemporaryError("lost")
        return Result("done", "done")

    made.tool("keyed", "keyed", lost_once)
    assert isinstance(await outcome_of(made, "keyed"), ToolResult)
    assert keys == ["run1/1.0", "run1/1.0"]


async def test_refused_retry_of_an_unconfirmed_keyed_call_leaves_the_outcome_unknown() -> None:
    made = memory_run()
    made.tool("keyed", "keyed", answers(made, TemporaryError("lost"), ToolError("no such thing")))
    outcome = await outcome_of(made, "keyed")
    assert isinstance(outcome, ToolUnknown)
    assert "no such thing" in outcome.text


async def test_retry_refused_as_gone_settles_an_unconfirmed_keyed_call_as_an_error() -> None:
    made = memory_run()
    made.tool("keyed", "keyed", answers(made, TemporaryError("lost"), ToolError("it is not there", code="gone")))
    made.tools["keyed"] = replace(made.tools["keyed"], in_doubt=InDoubt(gone=frozenset({"gone"})))
    outcome = await outcome_of(made, "keyed")
    assert isinstance(outcome, ToolResult)
    assert (outcome.status, outcome.details) == ("error", {"code": "gone"})


async def test_unconfirmed_lookup_call_is_repeated_when_the_lookup_finds_no_effect() -> None:
    made = memory_run()
    made.tool("lookup", "lookup", answers(made, TemporaryError("lost")))
    assert isinstance(await outcome_of(made, "lookup"), ToolResult)
    assert made.acted == ["lookup:it", "lookup:it"]


async def test_lookup_call_never_confirmed_nor_found_is_unknown_after_half_an_hour() -> None:
    made = memory_run()
    made.tool("lookup", "lookup", answers(made, *[TemporaryError("lost")] * 30))
    waits = await waits_of(made, "lookup")
    assert waits == [60, 60, 120, 240, 480, 840]
    outcome = await outcome_of(made, "lookup")
    assert isinstance(outcome, ToolUnknown)
    # Each owner looked first, and repeated the call when the lookup found no effect.
    assert made.acted == ["lookup:it"] * 8


async def test_call_that_a_store_refuses_waits_for_the_permission(caplog: pytest.LogCaptureFixture) -> None:
    made = memory_run()
    refused = ConfigError("AWS does not allow get_object here (AccessDenied); add it to the policy.")
    made.tool("keyed", "keyed", answers(made, refused, refused, refused))
    with pytest.raises(Parked):
        await outcome_of(made, "keyed")
    assert f"tool keyed failed: {refused}" in caplog.text
    made.clock.advance(61)
    outcome = await outcome_of(made, "keyed")
    assert isinstance(outcome, ToolResult)
    assert outcome.status == "ok"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(1), "the tool failed with a bug (it called exit)"),
        (KeyboardInterrupt(), "the tool failed with a bug (it raised KeyboardInterrupt)"),
        (asyncio.CancelledError(), "the tool failed with CancelledError"),
        (KeyError("x"), "the tool failed with KeyError"),
    ],
)
@pytest.mark.parametrize("effect", ["read", "keyed", "lookup", "blind"])
async def test_bug_of_a_tool_is_one_failed_call_at_once(effect: Effect, error: BaseException, said: str) -> None:
    made = memory_run()

    async def act(call: Call, arguments: Said) -> Result:
        raise error

    made.tool(effect, effect, act)
    outcome = await outcome_of(made, effect)
    assert outcome.text.count(said) == 1
    assert made.acted == [f"{effect}:it"]
    # A look finds out that it did not happen; nothing finds that out for the others.
    assert isinstance(outcome, ToolResult) == (effect in ("read", "lookup"))


async def test_forgotten_return_of_a_tool_is_one_failed_call_at_once() -> None:
    made = memory_run()

    async def act(call: Call, arguments: Said) -> Result:
        return cast(Result, None)

    made.tool("read", "read", act)
    outcome = await outcome_of(made, "read")
    assert "a bug (it returned None instead of a ToolResult, as if a `return` were missing)" in outcome.text
    assert made.acted == ["read:it"]


async def test_unconfirmed_blind_call_is_unknown_and_blocks_the_tool_for_the_destination() -> None:
    made = memory_run()
    made.tool("blind", "blind", answers(made, TemporaryError("lost")))
    made.patience = QUICK
    step = await made.step()
    await at_work(step).call(Permitted("1.0", made.tools["blind"], Said(text="it")), PROVENANCE)
    assert step.progress.locked == {("blind", "it")}
    assert made.acted == ["blind:it"]


async def test_stalled_worker_that_lost_the_run_sends_no_request() -> None:
    """The permit is older than 20 seconds, so the worker must write a frame first, which is fenced."""
    made = memory_run()
    sent = AnsweringHttp(lambda url, content: {})

    async def freeze_then_send(call: Call, said: Said) -> Result:
        made.clock.advance(21)
        other = await made.step("somebody else")
        other.note(RunOwned())
        await other.commit()
        await call.http.send(HttpRequest("POST", "http://outside"))
        return Result("sent", "sent")

    made.tool("blind", "blind", freeze_then_send)
    made.http = sent
    with pytest.raises(Fenced):
        await outcome_of(made, "blind")
    assert sent.requests == []


async def test_slow_owner_renews_the_permit_with_a_frame() -> None:
    made = memory_run()

    async def slow(call: Call, said: Said) -> Result:
        made.clock.advance(21)
        await call.http.send(HttpRequest("POST", "http://outside"))
        return Result("sent", "sent")

    made.tool("blind", "blind", slow)
    made.http = AnsweringHttp(lambda url, content: {})
    assert isinstance(await outcome_of(made, "blind"), ToolResult)
    assert [item.entry for item in await made.journal()].count(PermitRenewed()) == 1


async def test_request_timeout_is_limited_to_the_time_that_a_new_owner_waits() -> None:
    made = memory_run()
    seen: list[float] = []

    class Timed(AnsweringHttp):
        async def send(self, request: HttpRequest) -> HttpResponse:
            seen.append(request.timeout)
            return await super().send(request)

    async def renew() -> bool:
        raise AssertionError("the permit is fresh")

    permit = Permit(Patience(inflight=30), LastFrame(made.clock), renew)
    await PermittedHttp(Timed(lambda url, content: {}), permit).send(HttpRequest("POST", "u", timeout=300))
    assert seen == [30]


async def test_hanging_tool_is_stopped_at_the_timeout() -> None:
    made = memory_run()

    async def hang(call: Call, said: Said) -> Result:
        await asyncio.sleep(60)
        raise AssertionError

    made.tool("read", "read", hang)
    made.tools["read"] = Tool("read", "", "read", Said, hang, timeout=0.02)
    outcome = await outcome_of(made, "read")
    assert isinstance(outcome, ToolResult)
    assert "did not answer within 0.02 seconds" in outcome.text


def test_tool_declares_a_look_exactly_when_the_effect_is_lookup() -> None:
    async def act(call: Call, said: Said) -> Result:
        return Result("", "")

    async def look(call: Call, said: Said) -> Result | None:
        return None

    with pytest.raises(ConfigError, match="needs `look` exactly when its effect is `lookup`"):
        Tool("t", "", "lookup", Said, act)
    with pytest.raises(ConfigError, match="needs `look` exactly when its effect is `lookup`"):
        Tool("t", "", "blind", Said, act, in_doubt=InDoubt(look=look))


async def test_failed_frame_write_renews_no_permit() -> None:
    """A worker stalls before it sends, another owner takes over, and the store is throttled once."""
    sent: list[bytes] = []

    def pager(url: str, content: bytes) -> dict[str, object]:
        sent.append(content)
        return {}

    class ThrottledOnce(MemoryStore):
        throttled = False

        async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
            if self.throttled:
                self.throttled = False
                raise TemporaryError("throttled")
            return await super().create(run, n, frame)

    store = ThrottledOnce()
    made = memory_run()
    made.http, made.store = AnsweringHttp(pager), store

    frozen = False

    async def page(call: Call, said: Said) -> Result:
        nonlocal frozen
        if not frozen:
            frozen = True
            made.clock.advance(100)
            other = Pen("other", make_outside(made.clock))
            journal, _ = await open_journal("run1", store, made.blobs, other)
            journal.add(RunOwned())
            await journal.commit()
            store.throttled = True
        await call.http.send(HttpRequest("POST", "http://pager/page", content=b"page"))
        return Result("paged", "paged")

    made.tool("page", "keyed", page)
    step = await made.step()
    with pytest.raises(Unwritten, match="throttled"):
        await at_work(step).call(Permitted("1.0", made.tools["page"], Said(text="it")), PROVENANCE)
    with pytest.raises(Fenced):
        await at_work(step).call(Permitted("1.0", made.tools["page"], Said(text="it")), PROVENANCE)
    assert sent == []


@pytest.mark.parametrize(("effect", "kind"), [("lookup", ToolResult), ("keyed", ToolUnknown)])
async def test_cancelled_call_in_doubt_is_not_retried(effect: str, kind: type) -> None:
    made = memory_run()
    made.tool("ticket", effect)
    step = await made.step("lost")
    step.note(ToolCall("1.0", "ticket", effect))
    await step.commit()
    step = await made.step("next")
    step.note(RunCancelled("Ada"))
    outcome = await at_work(step).call(Permitted("1.0", made.tools["ticket"], Said(text="new laptop")), PROVENANCE)
    assert (made.acted, type(outcome)) == ([], kind)


async def test_frame_still_being_written_renews_no_permit() -> None:
    """One branch of a script writes its intent while another is about to send. The run may have another owner."""
    made, renewed, writing = memory_run(), [], asyncio.Event()

    async def renew() -> bool:
        renewed.append(made.clock.monotonic())
        return True

    async def commit() -> bool:
        await writing.wait()
        return True

    permit = Permit(Patience(permit=20), LastFrame(made.clock), renew)
    made.clock.advance(21)
    under_way = asyncio.create_task(permit.last.write(commit))
    await asyncio.sleep(0)
    await permit.hold()
    assert len(renewed) == 1
    writing.set()
    await under_way


async def test_commit_that_wrote_no_frame_renews_no_permit() -> None:
    """A commit without entries proves ownership only for the time at which the last frame was begun."""
    made, renewed = memory_run(), []

    async def renew() -> bool:
        renewed.append(True)
        return True

    async def nothing_to_write() -> bool:
        return False

    permit = Permit(Patience(permit=20), LastFrame(made.clock), renew)
    made.clock.advance(21)
    await permit.last.write(nothing_to_write)
    await permit.hold()
    assert renewed == [True]
