"""The rows that lead from an answer to its run."""

import pytest

from gofer.journal.answer_rows import AGED_MS, last_run_of_thread, note_answer, run_of_message
from gofer.journal.coordination import DAY_MS
from gofer.runtime.retention import DAYS, MEMO_DAYS
from gofer.stores.memory.journal import MemoryStore
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret

pytestmark = pytest.mark.anyio


async def test_row_of_an_answer_goes_with_the_contents_of_its_run() -> None:
    store = MemoryStore()
    tokens = Tokens(Secret("0" * 64))
    now = 500 * DAY_MS
    await note_answer("run1", [("slack", "1.0")], [("slack", "0.9")], store, tokens, at=now)
    assert await run_of_message(("slack", "1.0"), store, tokens) == "run1"
    await store.expire_memos(now + (DAYS - MEMO_DAYS) * DAY_MS)
    assert await last_run_of_thread(("slack", "0.9"), store, tokens) == "run1"
    await store.expire_memos(now + (DAYS - MEMO_DAYS) * DAY_MS + 1)
    assert await run_of_message(("slack", "1.0"), store, tokens) == ""
    assert AGED_MS == (MEMO_DAYS - DAYS) * DAY_MS
