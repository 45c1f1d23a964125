"""Several once-per-message effects of several runs, claimed in different orders: no run waits forever."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.models.language_model import Answer
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.memory.journal import MemoryStore
from gofer.tools.definition import Call, Tool, ToolResult
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from gofer.workflows.script_source import Script
from support.engine.memory_run import Said, says
from support.property_examples import examples
from support.runtime.memory_worker import CATALOG, MemoryWorker
from support.runtime.worker_parts import FixedCatalog

NAMES = ("comment", "file_ticket", "link")
SCRIPT = """
from gofer.coordinator import Run

async def coordinate(run: Run):
    names = ["comment", "file_ticket", "link"]
    run.random().shuffle(names)
    await run.gather(*[run.call(name, text="x") for name in names])
    return "Told."
"""


class Slow(MemoryStore):
    """A store whose reads and exchanges pause for a number of turns of the event loop."""

    def __init__(self, pauses: Sequence[int]) -> None:
        super().__init__()
        self.pauses = cycle(pauses)

    async def memo(self, key: str) -> str | None:
        await self._pause()
        return await super().memo(key)

    async def exchange_memo(self, key: str, was: str | None, value: str, at: int) -> str:
        await self._pause()
        return await super().exchange_memo(key, was, value, at)

    async def items(self, run: str) -> Sequence[tuple[str, bytes]]:
        await self._pause()
        return await super().items(run)

    async def _pause(self) -> None:
        for _ in range(next(self.pauses)):
            await asyncio.sleep(0)


@dataclass
class AsksInItsOrder:
    """A model that makes all calls at once, in the next of the given orders."""

    orders: list[Sequence[str]]

    async def ask(self, body: bytes, timeout: float) -> Answer:
        if b'"role":"tool"' in body:
            return says("Told.")
        return says("", *((name, {"text": "x"}) for name in self.orders.pop(0)))


async def played(
    pauses: Sequence[int], orders: Sequence[Sequence[str]], *, script: bool
) -> tuple[Counter[str], list[str]]:
    """Return how often each effect happened, and the status of each run."""
    done = Counter[str]()

    async def act(name: str, call: Call) -> ToolResult:
        done[name] += 1
        await asyncio.sleep(0)
        return ToolResult("Done", "done")

    def tool(name: str) -> Tool[Said]:
        return Tool(name, "does it", "keyed", Said, lambda call, said: act(name, call))

    made = MemoryWorker(AsksInItsOrder(list(orders)), store=Slow(pauses))  # type: ignore[arg-type]
    fields = {"description": "d", "owner": "#o", "when": ["slack.mention"], "private_channels": "allow"}
    by = {"coordinator": "script", "coordinator_script": "coordinators/s.py"} if script else {}
    tools = [{name: {"once": "per_message"}} for name in NAMES]
    loaded = replace(
        CATALOG.workflows["answer-here"], workflow=Workflow.model_validate({**fields, **by, "tools": tools})
    )
    before = made.worker.services
    services = replace(
        before,
        tools={**before.tools, **{name: tool(name) for name in NAMES}},
        installation_key=InstallationKey(Secret("0" * 64)),
    )
    scripts = {"coordinators/s.py": Script("coordinators/s.py", {"s": SCRIPT})}
    catalog = Catalog({"answer-here": loaded}, Defaults(), scripts=scripts)
    made.worker = replace(made.worker, services=services, workflows=FixedCatalog(catalog), alone=True)
    runs = [f"run{number}" for number in range(len(orders))]
    for run in runs:
        await made.accept(run, private=False)
        head = await made.store.head(run)
        assert head is not None
        # The runs have one message and separate conversations, so that only the claims order them.
        await made.store.put_head(replace(head, conversation=run))
    for _ in range(12):
        await made.work_once_or_crash()
        made.clock.advance(16)
    return done, [await made.status(run) for run in runs]


@pytest.mark.parametrize("script", [False, True])
@examples(0.5)
@example(pauses=[1, 0], orders=[list(NAMES)] * 2)
@given(
    pauses=st.lists(st.sampled_from([0, 1, 2, 5, 20]), min_size=1, max_size=12),
    orders=st.lists(st.permutations(NAMES), min_size=2, max_size=3),
)
def test_runs_that_claim_the_same_effects_in_any_order_all_end(
    script: bool, pauses: list[int], orders: list[list[str]]
) -> None:
    done, statuses = asyncio.run(played(pauses, orders, script=script))
    assert statuses == ["done"] * len(orders)
    assert done == dict.fromkeys(NAMES, 1)
