"""The rows that lead from a delivered answer to its run."""

import pytest

from gofer.journal.answer_rows import last_run_of_thread, run_of_message
from support.engine.memory_run import says
from support.runtime.memory_worker import Crashed, MemoryWorker, memory_worker
from support.stand_ins import TOKENS

pytestmark = pytest.mark.anyio

ANSWER = ("slack", "C1", "1.0")
THREAD = ("slack", "C1", "1795262400.000100")


async def rows(made: MemoryWorker) -> tuple[str, str]:
    return (
        await run_of_message(ANSWER, made.store, TOKENS),
        await last_run_of_thread(THREAD, made.store, TOKENS),
    )


async def test_delivered_answer_leads_to_its_run() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=False)
    await made.work_once()
    assert await rows(made) == ("run1", "run1")


async def test_answer_without_a_row_gets_one_from_the_next_owner() -> None:
    made = memory_worker(says("Hello."))
    await made.accept("run1", private=False)
    put_memo = made.store.put_memo

    async def crash(key: str, value: str, at: int) -> None:
        if key.startswith("answer"):
            raise Crashed
        await put_memo(key, value, at)

    made.store.put_memo = crash
    await made.work_once_or_crash()
    assert made.posted == ["Hello."]
    assert await rows(made) == ("", "")
    made.store.put_memo = put_memo
    made.clock.advance(600)
    await made.queue.enqueue("run1")
    await made.work_once()
    assert await rows(made) == ("run1", "run1")
    assert made.posted == ["Hello."]
