"""The trial of a script on a recorded run: recorded outcomes for equal calls, and never a call outside."""

import textwrap
from dataclasses import replace

import pytest

from gofer.replay.divergence import ReplayEnded
from gofer.replay.recorded_run import RecordedRun
from gofer.replay.script_trial import Judge, ScriptTrial, try_script
from gofer.workflows.schema import Subagent
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent
from support.engine.memory_run import says
from support.models.served import served
from support.replay.recorded import recorded_by
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.runtime.worker_parts import catalog_of

pytestmark = pytest.mark.anyio
SUBAGENT = LoadedSubagent(Subagent(description="d"), "Decide.", served("m"))
REPEAT = """\
    thread = await run.call("slack_read_thread", ts="1.0")
    posted = await run.call("slack_post_message", text="Found it.")
    return f"{thread['text']}, and posted {posted['ts']}."
"""


async def played() -> tuple[MemoryWorker, RecordedRun]:
    """Return a worker and the recording of its run, which read a thread, posted a message and answered."""
    read = ("slack_read_thread", {"ts": "1.0"})
    post = ("slack_post_message", {"text": "Found it."})
    made = memory_worker(says("", read), says("", post), says("Hello."))
    made.grant("slack_read_thread", "slack_post_message")
    await made.accept("run1", private=False)
    await made.work_once()
    return made, await recorded_by(made)


def refuse(name: str) -> str:
    raise ReplayEnded(f"{name} is not asked here")


def agree(name: str) -> str:
    return "yes"


async def tried(made: MemoryWorker, recorded: RecordedRun, body: str, judge: Judge = agree) -> ScriptTrial:
    """Run a script of these lines, which may ask a subagent `decide`, on a recorded run."""
    text = "async def coordinate(run):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    script = Script("coordinators/s.py", {"s": text})
    bundle = recorded.bundles["run1"]
    keys = {"coordinator": "script", "coordinator_script": script.file, "subagents": ("decide",)}
    loaded = replace(
        bundle.loaded, workflow=bundle.loaded.workflow.model_copy(update=keys), subagents={"decide": SUBAGENT}
    )
    services = made.worker.services
    return await try_script(recorded, replace(bundle, loaded=loaded), script, services, catalog_of(made.worker), judge)


async def test_equal_calls_get_the_recorded_results_and_reach_no_tool() -> None:
    made, recorded = await played()
    posted = [*made.posted]
    asked = len(made.model.requests)
    trial = await tried(made, recorded, REPEAT)
    assert (trial.status, trial.reason) == ("done", "")
    assert trial.answer == "Thread in #deploys, and posted 2.0."
    assert [call.tool for call in trial.calls] == ["slack_read_thread", "slack_post_message"]
    assert (made.posted, len(made.model.requests)) == (posted, asked)


async def test_read_that_was_not_recorded_fails() -> None:
    made, recorded = await played()
    trial = await tried(made, recorded, 'await run.call("slack_read_thread", ts="7.0")')
    assert (trial.status, trial.calls[0].code) == ("failed", "not_recorded")
    assert trial.reason == "coordinators/s.py:2: slack_read_thread failed (not_recorded)"


async def test_write_that_was_not_recorded_is_simulated() -> None:
    made, recorded = await played()
    posted = [*made.posted]
    trial = await tried(made, recorded, 'return (await run.call("slack_post_message", text="Other."))["text"]')
    assert trial.answer.startswith("simulated: ")
    assert made.posted == posted


async def test_subagent_gets_the_given_answer() -> None:
    made, recorded = await played()
    trial = await tried(made, recorded, 'return await run.subagent("decide", "Shall I?")')
    assert (trial.status, trial.answer) == ("done", "yes")


async def test_question_without_an_answer_ends_the_trial() -> None:
    made, recorded = await played()
    trial = await tried(made, recorded, 'await run.subagent("decide", "Shall I?")', refuse)
    assert (trial.status, trial.reason) == (None, "decide is not asked here")


async def test_fault_of_the_script_is_the_reason() -> None:
    made, recorded = await played()
    trial = await tried(made, recorded, "return {}['key']")
    assert (trial.status, trial.calls) == ("failed", [])
    assert trial.reason == "coordinators/s.py:2 failed with KeyError"


async def test_run_that_did_not_start_is_refused() -> None:
    made, recorded = await played()
    only_accepted = replace(recorded, journals={"run1": recorded.entries[:1]})
    with pytest.raises(ValueError, match="did not start"):
        await tried(made, only_accepted, REPEAT)
