"""Subagents and scripts whose models answer now: their runs go on, and reach nothing but the model."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from gofer.journal import entries as e
from gofer.models.language_model import Answer
from gofer.replay.changes import Changes
from gofer.replay.replay import Replay
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.workflows.grants import Grant
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults, Subagent
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent
from support.engine.memory_run import says
from support.engine.subagent_runs import BASE, Asked, ModelOfMany
from support.models.served import served
from support.replay.recorded import recorded_by, replayed
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog

pytestmark = pytest.mark.anyio

Ask = tuple[str, dict[str, object]]
Think = Callable[[Asked], Answer | Exception]

LIVE = Changes(live=True)
FILE = "coordinators/s.py"
READ: Ask = ("slack_read_thread", {"ts": "1.0"})
OTHER_READ: Ask = ("slack_read_thread", {"ts": "9.0"})
ASK: Ask = ("subagent", {"agent_name": "clerk", "prompt": "read it"})
ASK_OTHERWISE: Ask = ("subagent", {"agent_name": "clerk", "prompt": "read it twice"})


def thinking(ask: Ask, *reads: Ask, clerk: str = "read") -> Think:
    """Return a model that asks a clerk, who makes reads and answers."""

    def think(asked: Asked) -> Answer:
        match asked.system, asked.turn:
            case "You are clerk.", 0 if reads:
                return says("", *reads)
            case "You are clerk.", _:
                return says(f"clerk: {clerk}")
            case _, 0:
                return says("", ask)
            case _:
                return says(f"They said {clerk}.")

    return think


def with_a_clerk(think: Think, script: str = "") -> MemoryWorker:
    """Return a worker whose workflow asks a clerk, by its model or by a script."""
    made = memory_worker()
    keys: dict[str, object] = {"tools": (Grant(name="slack_read_thread"),), "subagents": ("clerk",)}
    scripts: dict[str, Script] = {}
    if script:
        keys |= {"coordinator": "script", "coordinator_script": FILE}
        scripts = {FILE: Script(FILE, {"s": f"async def coordinate(run):\n    {script}\n"})}
    workflow = Workflow(description="d", owner="#o", when=("slack.mention",)).model_copy(update=keys)
    clerk = LoadedSubagent(
        Subagent.model_validate({"description": "reads", "tools": "inherit"}), "You are clerk.", served("m")
    )
    loaded = Loaded(
        "answer-here", workflow, "Be brief.", "agents/answer-here.md", served("m"), subagents={"clerk": clerk}
    )
    services = replace(made.worker.services, tools={**made.worker.services.tools, **BASE}, model=ModelOfMany(think))
    catalog = Catalog({"answer-here": loaded}, Defaults(), scripts=scripts)
    made.worker = replace(made.worker, services=services, workflows=FixedCatalog(catalog))
    return made


async def replayed_with(made: MemoryWorker, think: Think) -> tuple[Replay, ModelOfMany]:
    """Let a worker work its run, and replay it with a model that thinks otherwise."""
    await made.accept("run1", private=False)
    await made.work_once()
    recorded = await recorded_by(made)
    assert any(isinstance(one.entry, e.RunFinished) for one in recorded.entries)
    model = ModelOfMany(think)
    made.worker = replace(made.worker, services=replace(made.worker.services, model=model))
    return await replayed(made, recorded, LIVE), model


def answer_of(again: Replay) -> str:
    (concluded,) = [one.entry for one in again.journals["run1"] if isinstance(one.entry, e.RunConcluded)]
    return concluded.text


async def test_same_live_answers_of_a_subagent_replay_identically() -> None:
    think = thinking(ASK, READ)
    again, model = await replayed_with(with_a_clerk(think), think)
    assert (again.outcome, again.divergences, len(model.asked)) == ("identical", [], 4)


async def test_subagent_that_answers_otherwise_goes_on_with_recorded_results() -> None:
    made = with_a_clerk(thinking(ASK, READ))
    again, _ = await replayed_with(made, thinking(ASK, READ, READ, clerk="later"))
    assert again.first is not None
    assert (again.outcome, again.first.cause, again.first.run != "run1") == ("diverged", "sampling", True)
    assert answer_of(again) == "They said later."


async def test_read_of_a_subagent_that_was_not_recorded_makes_the_result_inconclusive() -> None:
    made = with_a_clerk(thinking(ASK, READ))
    again, _ = await replayed_with(made, thinking(ASK, OTHER_READ))
    assert (again.outcome, again.reason) == ("inconclusive", "slack_read_thread (1.0) was not recorded")
    assert answer_of(again) == "They said read."


async def test_subagent_that_the_recorded_run_did_not_ask_works_too() -> None:
    made = with_a_clerk(lambda asked: says("Hello."))
    again, model = await replayed_with(made, thinking(ASK, READ))
    assert answer_of(again) == "They said read."
    assert {asked.system for asked in model.asked} == {"Be brief.", "You are clerk."}
    assert (again.outcome, again.reason) == ("inconclusive", "slack_read_thread (1.0) was not recorded")


async def test_subagent_asked_in_other_words_works_with_the_new_words() -> None:
    made = with_a_clerk(thinking(ASK, READ))
    again, model = await replayed_with(made, thinking(ASK_OTHERWISE, READ, clerk="twice"))
    assert answer_of(again) == "They said twice."
    assert any(asked.prompt == "read it twice" for asked in model.asked)
    assert (again.outcome, again.reason) == ("diverged", "")


async def test_script_goes_on_with_another_answer_of_its_subagent() -> None:
    script = 'return await run.subagent("clerk", "read it")'
    made = with_a_clerk(thinking(ASK, READ), script)
    again, _ = await replayed_with(made, thinking(ASK, READ, clerk="later"))
    assert (again.outcome, answer_of(again)) == ("diverged", "clerk: later")


async def test_parallel_subagents_of_a_script_answer_live() -> None:
    script = 'return str(await run.gather(run.subagent("clerk", "one"), run.subagent("clerk", "two")))'
    made = with_a_clerk(thinking(ASK, READ), script)
    again, model = await replayed_with(made, thinking(ASK, READ, clerk="later"))
    assert (again.outcome, len(model.asked)) == ("diverged", 4)
    assert answer_of(again) == "['clerk: later', 'clerk: later']"
