"""The verdicts of the checks, which are journaled with the end of every run."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from gofer.engine.checked_end import present_verdicts
from gofer.engine.own_step import OwnStep
from gofer.engine.owned_run import Deadline
from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.journal.entries import RunChecked, RunFinished
from gofer.journal.log import Pen, open_journal, read_journal
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import Corrupt, TemporaryError
from gofer.workflows.check_limits import Checks
from gofer.workflows.load import Catalog
from gofer.workflows.schema import Defaults
from support.engine.memory_run import ListModel, says
from support.runtime.memory_worker import Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog, catalog_of, worker_over

pytestmark = pytest.mark.anyio
READ: tuple[str, dict[str, object]] = ("slack_read_thread", {"channel": "C0DEPLOY0", "ts": "1795262400.000100"})


async def ended(made: MemoryWorker, run: str = "run1") -> tuple[RunFinished, RunChecked]:
    """Return the last two entries of a run."""
    recorded = await read_journal(run, made.store, made.blobs)
    finished, checked = (recorded[-2], recorded[-1])
    assert isinstance(finished.entry, RunFinished)
    assert isinstance(checked.entry, RunChecked)
    assert finished.n == checked.n
    return finished.entry, checked.entry


def failed(checked: RunChecked) -> dict[str, Verdict]:
    return {verdict.check: verdict for verdict in checked.verdicts if not verdict.passed}


async def test_healthy_run_passes_every_check_in_the_frame_of_its_end() -> None:
    made = memory_worker(says("", READ), says("the answer"))
    made.grant("slack_read_thread")
    await made.accept("run1", private=False)
    await made.work_once()
    finished, checked = await ended(made)
    assert finished.status == "done"
    assert checked.verdicts
    assert failed(checked) == {}


async def test_loop_of_refused_and_made_calls_is_an_error_of_the_run() -> None:
    made = memory_worker(says("", READ), says("", READ), says("", READ), says("the answer"))
    made.grant("slack_read_thread")
    await made.accept("run1", private=False)
    await made.work_once()
    _, checked = await ended(made)
    verdict = failed(checked)["no-tool-loops"]
    assert verdict.summary == "Tools were called with the same arguments: slack_read_thread 3 times."
    assert verdict.severity == "error"
    assert verdict.implies == "reasoning_collapse"
    assert len(verdict.entries) == 3
    recorded = {one.address: one.entry for one in await read_journal("run1", made.store, made.blobs)}
    assert all(isinstance(recorded[address], e.LlmResponse) for address in verdict.entries)


class CrashingStore(MemoryStore):
    """A store that crashes the worker once, right before or right after it writes a frame."""

    def __init__(self, frame: int, *, written: bool) -> None:
        super().__init__()
        self.frame = frame
        self.written = written

    async def create(self, run: str, n: int, frame: bytes) -> bytes | None:
        if n != self.frame:
            return await super().create(run, n, frame)
        self.frame = 0
        if self.written:
            await super().create(run, n, frame)
        raise Crashed


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("frame", range(2, 14))
async def test_crash_at_any_frame_neither_loses_nor_doubles_the_verdicts(frame: int, written: bool) -> None:
    made = MemoryWorker(
        ListModel([says("", READ), says("", READ), says("", READ), *[says("the answer")] * 5]),
        store=CrashingStore(frame, written=written),
    )
    made.grant("slack_read_thread")
    await made.accept("run1", private=False)
    while await made.status("run1") != "done":
        await made.work_once_or_crash()
        made.clock.advance(130)
    await ended(made)
    entries = [one.entry for one in await read_journal("run1", made.store, made.blobs)]
    assert len([one for one in entries if isinstance(one, RunFinished)]) == 1
    assert len([one for one in entries if isinstance(one, RunChecked)]) == 1


async def test_tool_that_polls_is_neither_refused_nor_a_loop() -> None:
    made = memory_worker(*[says("", READ)] * 5, says("the answer"))
    made.grant("slack_read_thread")
    read = made.worker.services.tools["slack_read_thread"]
    tools = MappingProxyType({**made.worker.services.tools, "slack_read_thread": replace(read, polls=True)})
    made.worker = replace(made.worker, services=replace(made.worker.services, tools=tools))
    await made.accept("run1", private=False)
    await made.work_once()
    _, checked = await ended(made)
    assert failed(checked) == {}
    entries = [one.entry for one in await read_journal("run1", made.store, made.blobs)]
    assert {one.status for one in entries if isinstance(one, e.ToolResult)} == {"ok"}


async def test_run_keeps_the_checks_that_its_workflow_had_when_the_run_began() -> None:
    made = memory_worker(says("", READ), says("the answer"))
    made.grant("slack_read_thread")
    loaded = catalog_of(made.worker).workflows["answer-here"]
    checks = Checks.model_validate({"llm-call-budget": {"limit": 1}, "no-empty-evidence": "off"})
    workflow = loaded.workflow.model_copy(update={"checks": checks})
    catalog = Catalog({"answer-here": replace(loaded, workflow=workflow)}, Defaults())
    made.worker = replace(made.worker, workflows=FixedCatalog(catalog))
    await made.accept("run1", private=False)
    await made.work_once()
    _, checked = await ended(made)
    assert failed(checked).keys() == {"llm-call-budget"}
    assert "no-empty-evidence" not in {verdict.check for verdict in checked.verdicts}


@pytest.mark.parametrize("error", [Corrupt("it is missing"), TemporaryError("it does not answer")])
async def test_run_without_a_readable_bundle_is_checked_by_the_defaults(error: Exception) -> None:
    class Unreadable(MemoryBlobs):
        async def get(self, key: str) -> bytes:
            if key.startswith("bundles/"):
                raise error
            return await super().get(key)

    made = memory_worker(*(says("", READ) for _ in range(3)), says("the answer"))
    made.grant("slack_read_thread")
    await made.accept("run1", private=False)
    await made.work_once()
    services = worker_over(made.worker, blobs=Unreadable()).services
    journal, entries = await open_journal("run1", made.store, made.blobs, Pen("next", services.outside))
    step = OwnStep(journal, services, entries, Deadline(made.clock))
    assert [one.check for one in await present_verdicts(step) if not one.passed] == ["no-tool-loops"]
