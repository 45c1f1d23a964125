"""Observed runs: the calls that a model decided, with canonical arguments and the results that a script would get."""

from dataclasses import replace

import pytest

from gofer.learning.promotion import observed_run
from gofer.learning.promotion.observed_run import observe
from gofer.replay.recorded_run import RecordedRun
from support.engine.memory_run import says
from support.replay.recorded import recorded_by
from support.runtime.memory_worker import MemoryWorker, memory_worker

pytestmark = pytest.mark.anyio


async def played() -> tuple[MemoryWorker, RecordedRun]:
    """Return a worker and its run, which made a call with a mistake, a read, two writes and an answer."""
    wrong = ("slack_read_thread", {"thread": "1.0"})
    read = ("slack_read_thread", {"ts": "1.0", "channel": None})
    posts = [("slack_post_message", {"text": text, "thread_ts": ""}) for text in ("One.", "Two.")]
    made = memory_worker(says("", wrong), says("", read, *posts), says("Hello."))
    made.grant("slack_read_thread", "slack_post_message")
    await made.accept("run1", private=False)
    await made.work_once()
    return made, await recorded_by(made)


async def test_successful_calls_of_the_model_are_observed() -> None:
    made, recorded = await played()
    run = observe(recorded, made.worker.services.tools)
    assert run is not None
    read, one, two = run.calls
    assert (read.tool, read.turn, read.reads, read.arguments) == ("slack_read_thread", 2, True, {"ts": "1.0"})
    assert [one.arguments["text"], two.arguments["text"], one.reads] == ["One.", "Two.", False]
    assert "thread_ts" not in one.arguments
    assert one.result == {"text": "Posted", "channel": "C1", "ts": "2.0"}
    assert (run.answer, run.failed) == ("Hello.", 1)


async def test_tool_that_does_not_exist_any_more_keeps_its_arguments() -> None:
    made, recorded = await played()
    run = observe(recorded, {})
    assert run is not None
    assert run.calls[0].arguments == {"ts": "1.0", "channel": None}
    assert made.posted


async def test_run_of_a_script_and_run_without_a_bundle_are_not_observed() -> None:
    made, recorded = await played()
    bundle = recorded.bundles["run1"]
    workflow = bundle.loaded.workflow.model_copy(update={"coordinator": "script"})
    scripted = replace(bundle, loaded=replace(bundle.loaded, workflow=workflow))
    tools = made.worker.services.tools
    assert observe(replace(recorded, bundles={"run1": scripted}), tools) is None
    assert observe(replace(recorded, bundles={}), tools) is None


@pytest.mark.parametrize("limit", ["MOST_CALLS", "MOST_BYTES"])
async def test_large_run_is_not_observed(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, recorded = await played()
    monkeypatch.setattr(observed_run, limit, 2)
    assert observe(recorded, made.worker.services.tools) is None
