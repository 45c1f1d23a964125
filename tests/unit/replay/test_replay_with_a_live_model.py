"""Replays whose models answer now: they go on after the first difference, and reach nothing but the model."""

from dataclasses import dataclass, replace

import pytest
from typing_extensions import override

from gofer.engine.effects import Patience
from gofer.journal import entries as e
from gofer.models.language_model import Answer, Unavailable
from gofer.replay.changes import Changes
from gofer.replay.recorded_run import RecordedRun
from gofer.values.messages import ProviderError
from gofer.values.outside import Http, HttpRequest, HttpResponse
from support.engine.memory_run import says
from support.replay.recorded import recorded_by, replayed
from support.runtime.memory_worker import MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio

LIVE = Changes(live=True)
READ: tuple[str, dict[str, object]] = ("slack_read_thread", {"ts": "1.0"})
OTHER_READ: tuple[str, dict[str, object]] = ("slack_read_thread", {"ts": "2.0"})
WRITE: tuple[str, dict[str, object]] = ("slack_post_message", {"channel": "#deploys", "text": "Restarted."})
DELETE: tuple[str, dict[str, object]] = ("slack_delete_message", {"channel": "C1", "ts": "1.0"})
AWAY = Unavailable("The model is overloaded.", ProviderError("busy"))


@dataclass
class CountingHttp(Http):
    """A network that counts requests."""

    sent: int = 0

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        self.sent += 1
        raise AssertionError("a replay sends no request")


async def played() -> tuple[MemoryWorker, RecordedRun, CountingHttp]:
    """Return a worker whose run read a thread and answered, its recording, and the network of its replays."""
    made = memory_worker(says("", READ), says("Hello."))
    made.grant("slack_read_thread", "slack_post_message", "slack_delete_message")
    await made.accept("run1", private=False)
    await made.work_once()
    recorded = await recorded_by(made)
    http = CountingHttp()
    services = made.worker.services
    counted = replace(services, outside=replace(services.outside, http=http), patience=Patience(backoff=0.0))
    made.worker = replace(made.worker, services=counted)
    made.model.requests.clear()
    return made, recorded, http


def results(entries: list[e.Recorded] | tuple[e.Recorded, ...]) -> dict[str, str]:
    """Return the texts of the outcomes of the model's calls."""
    found = [one.entry for one in entries if isinstance(one.entry, e.ToolResult)]
    return {entry.call: entry.text for entry in found if entry.call[0].isdigit()}


def said(*answers: Answer | Exception) -> list[Answer | Exception]:
    return [*answers]


async def test_live_answers_go_on_after_the_first_difference_to_the_end_of_the_run() -> None:
    made, recorded, http = await played()
    posted = [*made.posted]
    made.model.answers = said(says("", READ, READ), says("Goodbye."))
    again = await replayed(made, recorded, LIVE)
    entries = again.journals["run1"]
    (concluded,) = [one.entry for one in entries if isinstance(one.entry, e.RunConcluded)]
    assert (again.outcome, again.reason, concluded.text) == ("diverged", "", "Goodbye.")
    assert any(isinstance(one.entry, e.RunFinished) for one in entries)
    # Both reads have the recorded arguments, so both get the recorded result.
    assert results([*entries]) == {"1.0": "Thread in #deploys", "1.1": "Thread in #deploys"}
    assert (made.posted, http.sent, len(made.model.requests)) == (posted, 0, 2)


async def test_read_with_other_arguments_is_not_recorded_and_makes_the_result_inconclusive() -> None:
    made, recorded, http = await played()
    made.model.answers = said(says("", OTHER_READ), says("Goodbye."))
    again = await replayed(made, recorded, LIVE)
    assert (again.outcome, again.reason) == ("inconclusive", "slack_read_thread (1.0) was not recorded")
    assert results([*again.journals["run1"]])["1.0"].startswith("not_recorded: ")
    assert http.sent == 0


async def test_write_is_simulated_and_makes_the_result_inconclusive() -> None:
    made, recorded, http = await played()
    posted = [*made.posted]
    made.model.answers = said(says("", DELETE), says("Goodbye."))
    again = await replayed(made, recorded, LIVE)
    assert again.outcome == "inconclusive"
    assert results([*again.journals["run1"]])["1.0"].startswith("simulated: ")
    assert (made.posted, http.sent) == (posted, 0)


async def test_write_to_a_place_that_was_not_looked_up_is_simulated_too() -> None:
    made, recorded, http = await played()
    posted = [*made.posted]
    made.model.answers = said(says("", WRITE), says("Goodbye."))
    again = await replayed(made, recorded, LIVE)
    assert again.outcome == "inconclusive"
    assert again.reason.startswith("slack_find_place (")
    assert results([*again.journals["run1"]])["1.0"].startswith("simulated: ")
    assert (made.posted, http.sent) == (posted, 0)


async def test_recorded_steps_that_the_replay_left_are_none_of_its_journal() -> None:
    made, recorded, _ = await played()
    made.model.answers = said(says("Goodbye."))
    again = await replayed(made, recorded, LIVE)
    calls = [one.entry.call for one in again.journals["run1"] if isinstance(one.entry, e.ToolCall)]
    assert "1.0" not in calls
    assert ("missing", "tool.call 1.0") in [(one.kind, one.step) for one in again.divergences]


async def test_unreachable_model_is_asked_again_as_in_a_run() -> None:
    made, recorded, _ = await played()
    made.model.answers = said(AWAY, says("", READ), AWAY, AWAY, says("Hello."))
    again = await replayed(made, recorded, LIVE)
    assert (again.outcome, again.lacked_a_model, again.live.count) == ("identical", False, 2)


async def test_replay_without_an_answer_of_the_model_says_so_and_blames_no_version() -> None:
    made, recorded, http = await played()
    made.model.answers = said(says("", READ), AWAY, AWAY, AWAY)
    again = await replayed(made, recorded, LIVE)
    assert (again.outcome, again.lacked_a_model) == ("inconclusive", True)
    assert (again.reason, again.divergences) == ("No model answered: The model is overloaded.", [])
    assert http.sent == 0


async def test_live_model_is_asked_where_a_model_answered_and_recorded_outages_happen_again() -> None:
    made = memory_worker(AWAY, AWAY, AWAY, says("Hello."))
    await made.accept("run1", private=False)
    await made.work_once()
    made.clock.advance(3_600)
    await made.queue.enqueue("run1")
    await made.work_once()
    recorded = await recorded_by(made)
    assert any(isinstance(one.entry, e.RunParked) for one in recorded.entries)
    made.model.requests.clear()
    made.model.answers = said(says("Hello."))
    again = await replayed(made, recorded, LIVE)
    assert (again.outcome, again.divergences, len(made.model.requests)) == ("identical", [], 1)


async def test_costs_of_live_answers_are_summed() -> None:
    made, recorded, _ = await played()
    made.model.answers = said(says("", READ, tokens=1_000_000), says("Hello.", tokens=1_000_000))
    again = await replayed(made, recorded, LIVE)
    assert (again.live.count, again.live.unpriced) == (2, 0)
    assert again.live.cost_usd == pytest.approx(2.00002)
