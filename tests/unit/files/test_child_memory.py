"""Memory of all processes of one job together, when the job takes all it can."""

import pytest

from generators.tree_memory import JOBS, MOST, PROC, peak

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not (PROC / "self" / "status").exists(), reason="only Linux says what a process holds"),
]


@pytest.mark.parametrize("name", JOBS)
async def test_child_job_that_takes_all_memory_stays_under_512_mb(name: str) -> None:
    assert 0 < await peak(name) < MOST
