"""Replays of runs whose one-shot subagent gave an answer that does not fit its output schema."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.engine.one_shot_subagent import UNFIT_ONCE
from gofer.journal import entries as e
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Subagent
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent
from support.engine.memory_run import says
from support.models.served import served
from support.replay.recorded import edited, recorded_by, replayed
from support.runtime.memory_worker import MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog, catalog_of

pytestmark = pytest.mark.anyio
PLACE = "coordinators/s.py"
SCRIPT = """
from gofer.coordinator import ToolFailed

async def coordinate(run):
    try:
        return await run.subagent("clerk", "Count.")
    except ToolFailed as error:
        return error.code
"""
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
    "additionalProperties": False,
}


async def asked(*answers: str) -> MemoryWorker:
    """Return a worker whose script asked a one-shot subagent with an output, which gave these answers."""
    made = memory_worker(*map(says, answers))
    catalog = catalog_of(made.worker)
    subagent = Subagent.model_validate({"description": "counts", "output": SCHEMA})
    loaded = catalog.workflows["answer-here"]
    keys = {"coordinator": "script", "coordinator_script": PLACE, "subagents": ("clerk",)}
    workflow = loaded.workflow.model_copy(update=keys)
    clerk = LoadedSubagent(subagent, "You are clerk.", served("m"))
    loaded = replace(loaded, workflow=workflow, subagents={"clerk": clerk})
    scripts = {PLACE: Script(PLACE, {"s": SCRIPT})}
    workflows = FixedCatalog(Catalog({"answer-here": loaded}, catalog.defaults, scripts=scripts))
    services = replace(made.worker.services, scripts=scripts)
    made.worker = replace(made.worker, services=services, workflows=workflows)
    await made.accept("run1", private=False)
    await made.work_once()
    return made


@pytest.mark.parametrize(("second", "answer"), [('{"count": 3}', '{"count":3}'), ("three", "unfit")])
async def test_second_question_after_an_unfit_answer_replays_identically(second: str, answer: str) -> None:
    made = await asked("3", second)
    recorded = await recorded_by(made)
    concluded = [one.entry for one in recorded.entries if isinstance(one.entry, e.RunConcluded)]
    assert [one.text for one in concluded] == [answer]
    again = await replayed(made, recorded)
    assert (again.outcome, again.divergences, again.reason) == ("identical", [], "")


async def test_journal_of_before_the_second_question_replays_identically() -> None:
    made = await asked("3", "three")
    recorded = edited(await recorded_by(made), Before().edit)
    again = await replayed(made, recorded)
    assert (again.outcome, again.divergences, again.reason) == ("identical", [], "")


class Before:
    """Removes the first question and its answer, so that the unfit answer is the only one."""

    def __init__(self) -> None:
        self.questions = 0

    def edit(self, entry: e.Entry) -> e.Entry | None:
        if isinstance(entry, e.SubagentStarted):
            self.questions += 1
            return entry if self.questions > 1 else None
        if isinstance(entry, e.SubagentFinished) and entry.code == UNFIT_ONCE:
            return None
        return entry
