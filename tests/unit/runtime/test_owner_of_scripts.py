"""Runs of scripts, from the queue message to the answer."""

from dataclasses import replace

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import RunConcluded
from gofer.journal.log import read_journal
from gofer.workflows.grants import Grant
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults
from gofer.workflows.script_source import Script
from support.models.served import served
from support.runtime.memory_worker import WORKFLOW, Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog

pytestmark = pytest.mark.anyio

FILE = "coordinators/s.py"
POST = 'await run.call("slack_post_message", text="{}")'
EDIT = 'await run.call("slack_update_message", ts="2.0", text="{}")'


def give(made: MemoryWorker, *lines: str) -> MemoryWorker:
    """Replace the script of a worker, as a change and a restart do."""
    script = Script(FILE, {"s": "async def coordinate(run):\n" + "\n".join(f"    {line}" for line in lines)})
    tools = tuple(Grant(name=name) for name in ("slack_post_message", "slack_update_message"))
    update = {"coordinator": "script", "coordinator_script": FILE, "tools": tools}
    loaded = Loaded("answer-here", WORKFLOW.model_copy(update=update), "", FILE, served("m"))
    made.worker = replace(
        made.worker,
        workflows=FixedCatalog(Catalog({"answer-here": loaded}, Defaults(), scripts={FILE: script})),
    )
    return made


async def head(made: MemoryWorker) -> Head:
    found = await made.store.head("run1")
    assert found is not None
    return found


async def work_repeatedly(made: MemoryWorker) -> None:
    for _ in range(10):
        await made.work_once_or_crash()
        made.clock.advance(130)


async def test_script_answers_without_a_model() -> None:
    made = give(memory_worker(), "return 'You wrote from ' + run.event.place['channel']")
    await made.accept("run1")
    await work_repeatedly(made)
    assert (made.posted, await made.status("run1")) == (["You wrote from C0DEPLOY0"], "done")


async def test_script_resumes_after_a_crash_without_repeating_completed_calls() -> None:
    made = give(memory_worker(), POST.format("one"), EDIT.format("two"), "return 'done'")
    made.crash_in.add("slack_update_message")
    await made.accept("run1")
    (lost,) = await made.work_once_or_crash()
    assert isinstance(lost, Crashed)
    made.crash_in.clear()
    made.clock.advance(130)
    await work_repeatedly(made)
    assert (made.posted, await made.status("run1")) == (["done", "two"], "done")


@pytest.mark.not_replayed("its script changes during the run")
async def test_script_changed_during_a_run_stops_and_the_answer_shows_the_difference() -> None:
    made = give(memory_worker(), POST.format("secret one"), EDIT.format("two"), "return 'done'")
    made.crash_in.add("slack_update_message")
    await made.accept("run1", private=False)
    await made.work_once_or_crash()
    made.crash_in.clear()
    made.clock.advance(130)
    give(made, POST.format("secret other"), "return 'done'")
    await work_repeatedly(made)
    ended = await head(made)
    assert ended.status == "needs_attention"
    asks = "diverged: coordinators/s.py:2 asks for slack_post_message"
    assert ended.reason == f"{asks}, and the journal has slack_post_message with other text instead"
    assert "secret one" in made.posted[0]
    assert "secret other" in made.posted[0]
    assert len(made.posted) == 2


async def test_failed_script_is_listed_without_content_and_answered_with_the_error() -> None:
    made = give(memory_worker(), "raise ValueError(run.event.text)")
    await made.accept("run1", private=False)
    await work_repeatedly(made)
    assert (await head(made)).reason == "coordinators/s.py:2 failed with ValueError"
    (concluded,) = [
        item.entry
        for item in await read_journal("run1", made.store, made.blobs)
        if isinstance(item.entry, RunConcluded)
    ]
    assert concluded.text == ("I could not finish this: coordinators/s.py:2 failed with ValueError: <@U0GOFER0> hello")


async def test_script_without_a_result_answers_done() -> None:
    made = give(memory_worker(), "return None")
    await made.accept("run1")
    await work_repeatedly(made)
    assert made.posted == ["Done."]
