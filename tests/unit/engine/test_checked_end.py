"""The verdicts of the checks, which are journaled with the end of every run."""

import pytest

from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.journal.entries import RunChecked, RunFinished
from gofer.journal.log import read_journal
from support.engine.memory_run import says
from support.runtime.memory_worker import MemoryWorker, memory_worker

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
