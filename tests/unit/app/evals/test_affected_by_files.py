"""The recorded runs that the files of a repository affect, without a state and with one."""

from dataclasses import replace
from pathlib import Path

import pytest

from gofer.app.evals.affected_by_files import affected_by_files
from gofer.app.operations import Operations
from gofer.evals.affected import AffectedRun, affected_by_code, summary
from gofer.evals.golden_works import golden_works
from gofer.evals.goldens.golden_file import FOLDER
from gofer.journal.entries import LlmRequest
from gofer.replay.divergence import Divergence
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from support.stand_ins import SetClock, memory_stores

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[4]


async def test_goldens_of_the_repository_are_compared_and_a_state_is_optional() -> None:
    goldens = golden_works(ROOT / FOLDER)
    found = await affected_by_files(ROOT, None, None)
    assert [run.run for run in found] == [work.run for work in goldens]
    clock = SetClock()
    store, blobs = memory_stores()
    opened = Operations(Stores(store, blobs, MemoryQueue(clock)), clock)
    assert await affected_by_files(ROOT, opened, None) == found


async def test_run_that_the_present_code_changes_is_affected_though_no_file_changed() -> None:
    golden = golden_works(ROOT / FOLDER)[0]
    unaffected = AffectedRun(golden.run, "w", requests=2, causes=())
    request = next(one for one in golden.entries if isinstance(one.entry, LlmRequest))
    read = Divergence("read", golden.run, request.address, "llm.request", "tail", "as it was", "as it is", "upgrade")
    words = replace(read, kind="reworded", cause="")
    assert affected_by_code(unaffected, golden.entries, [words]) == unaffected
    changed = affected_by_code(unaffected, golden.entries, [words, read])
    assert [(one.title, one.first, one.lines) for one in changed.causes] == [
        ("code llm.request tail", 1, ("- as it was", "+ as it is"))
    ]


async def test_repository_without_goldens_and_runs_says_so(tmp_path: Path) -> None:
    assert golden_works(tmp_path / FOLDER) == []
    assert summary([]) == "There are no recorded runs to compare with."
