"""Calls during an outage of another system: attempts, waits and outcomes."""

import contextlib
from dataclasses import replace

import pytest

from gofer.engine.effects import ATTEMPTS, Patience
from gofer.engine.model_order import LONGEST_PARKED, Parked
from gofer.engine.own_step import PurposeCall
from gofer.engine.permitted_call import DELIVERY, OUTAGE, Permitted
from gofer.journal.entries import CallDeferred, RunParked, ToolResult, ToolUnknown
from gofer.sources.part_values import OwnCall
from gofer.tools.definition import Call, InDoubt, Target, Tool
from gofer.tools.definition import ToolResult as Result
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import TooLarge
from support.engine.memory_run import PROVENANCE, MemoryRun, Said, at_work, memory_run

pytestmark = pytest.mark.anyio

QUICK = Patience(permit=1e9, inflight=0.001, skew=0, backoff=0.001)


class Away:
    """A system that fails a number of times before it answers."""

    def __init__(self, made: MemoryRun, failures: list[Exception]) -> None:
        self.made = made
        self.failures = failures
        self.attempts = 0

    async def act(self, call: Call, said: Said) -> Result:
        self.attempts += 1
        if self.failures:
            raise self.failures.pop(0)
        return Result("done", "done")


def away(effect: str, *failures: Exception) -> tuple[MemoryRun, Away]:
    made = memory_run()
    made.patience = QUICK
    system = Away(made, list(failures))
    made.tool("tool", effect, system.act)
    return made, system


async def owner_calls(
    made: MemoryRun, call: str = "actor/1", longest: float = OUTAGE
) -> ToolResult | ToolUnknown | RunParked:
    """Return the outcome of a call for one owner, or the entry with which it parks the run."""
    step = await made.step()
    try:
        if "/" in call:
            return await step.call(PurposeCall(call, OwnCall("tool", {"text": "it"}), longest_wait=longest), PROVENANCE)
        item = Permitted(call, made.tools["tool"], Said(text="it"), longest_wait=longest)
        return await at_work(step).call(item, PROVENANCE)
    except Parked as parked:
        step.note(parked.entry)
        await step.commit()
        return parked.entry


async def until_it_ends(made: MemoryRun, call: str = "actor/1", longest: float = OUTAGE) -> tuple[list[int], object]:
    """Return the seconds of each parking of the run, and the outcome of the call."""
    waits: list[int] = []
    while isinstance(left := await owner_calls(made, call, longest), RunParked):
        waits.append(round(left.until / 1000 - made.clock.now()))
        made.clock.advance(waits[-1])
    return waits, left


@pytest.mark.parametrize(
    ("ends", "noted"),
    [
        (None, [("Jira", "answers")]),
        (TemporaryError("503"), [("Jira", "away")]),
        (ToolError("There is no such issue."), []),
    ],
)
async def test_call_notes_whether_its_system_answered(ends: Exception | None, noted: list[tuple[str, str]]) -> None:
    failures = [ends] * 20 if ends is not None else []
    made, _ = away("read", *failures)
    made.tools["tool"] = replace(made.tools["tool"], target=Target(system="Jira"))
    step = await made.step()
    found: list[tuple[str, str]] = []
    step.services = replace(
        step.services,
        note_away=lambda system: found.append((system, "away")),
        note_answer=lambda system: found.append((system, "answers")),
    )
    with contextlib.suppress(Parked):
        await step.call(PurposeCall("actor/1", OwnCall("tool", {"text": "it"}), longest_wait=OUTAGE), PROVENANCE)
    assert found == noted


@pytest.mark.parametrize("effect", ["read", "keyed"])
@pytest.mark.parametrize("call", ["actor/1", "1.0"])
async def test_short_outage_is_bridged_by_immediate_retries(effect: str, call: str) -> None:
    made, system = away(effect, TemporaryError("503"), TemporaryError("503"))
    outcome = await owner_calls(made, call)
    assert isinstance(outcome, ToolResult)
    assert (outcome.status, system.attempts) == ("ok", 3)


@pytest.mark.parametrize("call", ["1.0", "main:tool:ab12:1"])
async def test_read_of_a_model_or_script_returns_the_outage_as_an_error(call: str) -> None:
    made, system = away("read", *[TemporaryError("Slack did not answer (HTTP 503).")] * 9)
    outcome = await owner_calls(made, call)
    assert isinstance(outcome, ToolResult)
    assert (outcome.status, system.attempts) == ("error", ATTEMPTS)
    assert "Slack did not answer (HTTP 503)" in outcome.text


async def test_read_that_the_run_needs_is_retried_for_half_an_hour() -> None:
    made, system = away("read", *[TemporaryError("Slack did not answer (HTTP 503).")] * 99)
    waits, outcome = await until_it_ends(made)
    assert sum(waits) == OUTAGE
    assert max(waits) <= LONGEST_PARKED
    assert isinstance(outcome, ToolResult)
    assert outcome.text == "Slack did not answer (HTTP 503); it was tried for 30 minutes."
    assert outcome.details == {"code": "outage"}
    assert system.attempts == ATTEMPTS * (len(waits) + 1)


async def test_read_that_the_run_needs_succeeds_when_the_system_is_back() -> None:
    made, _ = away("read", *[TemporaryError("503")] * 7)
    waits, outcome = await until_it_ends(made)
    assert (len(waits), getattr(outcome, "status", "")) == (2, "ok")


async def test_delivery_is_retried_for_a_day_with_waits_of_at_most_fifteen_minutes() -> None:
    made, _ = away("keyed", *[TemporaryError("503")] * 9_999)
    waits, outcome = await until_it_ends(made, "answer/1", DELIVERY)
    assert (sum(waits), max(waits)) == (DELIVERY, LONGEST_PARKED)
    assert isinstance(outcome, ToolUnknown)


async def test_keyed_call_of_a_model_is_retried_with_the_same_key() -> None:
    made, system = away("keyed", *[TemporaryError("503")] * 4)
    keys: list[str] = []
    act = system.act

    async def spy(call: Call, said: Said) -> Result:
        keys.append(call.key)
        return await act(call, said)

    made.tool("tool", "keyed", spy)
    waits, outcome = await until_it_ends(made, "1.0")
    assert (len(waits), getattr(outcome, "status", "")) == (1, "ok")
    assert set(keys) == {"run1/1.0"}


async def test_lookup_without_a_response_is_retried() -> None:
    made, system = away("lookup", TemporaryError("503"))
    looks = [TemporaryError("503")] * 4

    async def look(call: Call, said: Said) -> Result | None:
        if looks:
            raise looks.pop(0)
        return Result("found", "found")

    made.tools["tool"] = Tool("tool", "", "lookup", Said, system.act, in_doubt=InDoubt(look=look), timeout=5.0)
    waits, outcome = await until_it_ends(made, "1.0")
    assert (len(waits), getattr(outcome, "text", ""), system.attempts) == (1, "found", 1)


async def test_blind_call_is_never_retried() -> None:
    made, system = away("blind", TemporaryError("503"))
    assert isinstance(await owner_calls(made, "answer/1", DELIVERY), ToolUnknown)
    assert system.attempts == 1


@pytest.mark.parametrize("error", [ToolError("no such thing"), TooLarge("it is too large"), KeyError("bug")])
async def test_permanent_failure_is_not_retried(error: Exception) -> None:
    made, system = away("read", error)
    outcome = await owner_calls(made)
    assert (getattr(outcome, "status", ""), system.attempts) == ("error", 1)


async def test_retry_after_of_a_system_is_respected() -> None:
    made, system = away("read", TemporaryError("503", retry_after=400))
    waits, _ = await until_it_ends(made)
    assert (waits, system.attempts) == ([400], 2)


async def test_shortened_waits_count_with_the_real_duration() -> None:
    made, _ = away("read", *[TemporaryError("503")] * 999)
    for _ in range(40):
        assert isinstance(await owner_calls(made), RunParked)
        made.clock.advance(10)
    step = await made.step()
    assert step.progress.call_waits_ms["actor/1"] == 400_000


async def test_deferral_is_journaled_with_cause_and_last_attempt() -> None:
    made, _ = away("read", *[TemporaryError("503")] * 3)
    await owner_calls(made)
    (deferred,) = [one.entry for one in await made.journal() if isinstance(one.entry, CallDeferred)]
    assert (deferred.cause, deferred.in_doubt) == ("outage", False)
    assert deferred.last_attempt_at == int(made.clock.now() * 1000) + 1_800_000


async def test_no_attempt_begins_after_the_time_for_attempts() -> None:
    made, system = away("read", *[TemporaryError("503")] * 3)
    act = system.act

    async def slow(call: Call, said: Said) -> Result:
        made.clock.advance(16)
        return await act(call, said)

    made.tool("tool", "read", slow)
    assert isinstance(await owner_calls(made), RunParked)
    assert system.attempts == 1
