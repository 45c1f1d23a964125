"""Claims of crashed scripts: if the script does not repeat the call, another call of the run uses the claim."""

from dataclasses import replace

import pytest

from gofer.models.language_model import Answer
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults, Subagent
from gofer.workflows.script_source import Script
from gofer.workflows.subagent import LoadedSubagent
from support.engine.memory_run import Said, says
from support.engine.subagent_runs import BASE, Asked, ModelOfMany
from support.models.served import served
from support.runtime.memory_worker import CATALOG, Crashed, MemoryWorker
from support.runtime.worker_parts import FixedCatalog

pytestmark = pytest.mark.anyio
FILE = "coordinators/s.py"
FILES = 'await run.call("file_ticket", text=f"{run.now():%H:%M}")'
ASKS = f"""if run.now().minute == 0:
        {FILES}
    await run.subagent("clerk", "file it")"""


def think(asked: Asked) -> Answer:
    return says("", ("file_ticket", {"text": "below"})) if asked.turn == 0 else says(asked.said[-1])


def lost_with_a_claim(code: str) -> tuple[MemoryWorker, list[str]]:
    """Return a worker that crashes once between a claim and the intent, and the texts of all tickets."""
    filed: list[str] = []

    async def file(call: Call, said: Said) -> ToolResult:
        filed.append(said.text)
        return ToolResult(f"Filed {said.text}", "filed")

    made = MemoryWorker(None)  # type: ignore[arg-type]
    workflow = CATALOG.workflows["answer-here"].workflow.model_validate(
        {
            "description": "d",
            "owner": "#o",
            "when": ["slack.mention"],
            "coordinator": "script",
            "coordinator_script": FILE,
            "tools": [{"file_ticket": {"once": "per_message"}}],
        }
    )
    clerk = LoadedSubagent(Subagent.model_validate({"description": "files", "tools": "inherit"}), "Clerk.", served("m"))
    loaded = replace(CATALOG.workflows["answer-here"], workflow=workflow, subagents={"clerk": clerk})
    scripts = {FILE: Script(FILE, {"s": f"async def coordinate(run):\n    {code}\n    return 'Told.'\n"})}
    tool = Tool("file_ticket", "files", "keyed", Said, file)
    services = replace(
        made.worker.services,
        tools={**made.worker.services.tools, **BASE, "file_ticket": tool},
        scripts=scripts,
        installation_key=InstallationKey(Secret("0" * 64)),
        model=ModelOfMany(think),
    )
    catalog = Catalog({"answer-here": loaded}, Defaults(), scripts=scripts)
    made.worker = replace(made.worker, services=services, workflows=FixedCatalog(catalog), alone=True)
    lost: list[str] = []
    create = made.store.create

    async def mortal(run: str, n: int, frame: bytes) -> bytes | None:
        if made.store._memos and not lost:
            lost.append(run)
            raise Crashed
        return await create(run, n, frame)

    made.store.create = mortal  # type: ignore[method-assign]
    return made, filed


@pytest.mark.parametrize(("code", "words"), [(FILES, "12:02"), (ASKS, "below")])
async def test_claim_of_a_crashed_script_is_used_by_the_next_call_of_the_run(code: str, words: str) -> None:
    made, filed = lost_with_a_claim(code)
    await made.accept("run1", private=False)
    for _ in range(8):
        await made.work_once_or_crash()
        made.clock.advance(130)
    assert (await made.status("run1"), filed) == ("done", [words])
    assert made.posted[-1] == "Told."
