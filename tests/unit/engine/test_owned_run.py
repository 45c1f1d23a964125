"""A run and its owner."""

import gc
import weakref

import pytest

from support.engine.memory_run import PROVENANCE, coordinate, memory_run, says

pytestmark = pytest.mark.anyio


async def test_ended_run_leaves_memory_without_a_garbage_collection() -> None:
    made = memory_run(says("Done."))
    step = await made.step()
    ending = await coordinate(step, made.bundle(), PROVENANCE)
    ended = weakref.ref(step)
    gc.disable()
    try:
        del step
        assert ended() is None
    finally:
        gc.enable()
    assert ending.answer == "Done."
