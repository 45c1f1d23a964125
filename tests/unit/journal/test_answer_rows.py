"""The rows that lead from an answer to its run."""

import pytest

from gofer.journal.answer_rows import AGED_MS, last_run_of_thread, note_answer, run_of_message
from gofer.journal.coordination import DAY_MS
from gofer.runtime.retention import DAYS, MEMO_DAYS
from gofer.stores.memory.journal import MemoryStore
from gofer.values.installation_key import InstallationKey, read_installation_key
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret

pytestmark = pytest.mark.anyio


async def test_row_of_an_answer_goes_with_the_contents_of_its_run() -> None:
    store = MemoryStore()
    tokens = Tokens(InstallationKey(Secret("0" * 64)))
    now = 500 * DAY_MS
    await note_answer("run1", [("slack", "1.0")], [("slack", "0.9")], store, tokens, at=now)
    assert await run_of_message(("slack", "1.0"), store, tokens) == "run1"
    await store.expire_memos(now + (DAYS - MEMO_DAYS) * DAY_MS)
    assert await last_run_of_thread(("slack", "0.9"), store, tokens) == "run1"
    await store.expire_memos(now + (DAYS - MEMO_DAYS) * DAY_MS + 1)
    assert await run_of_message(("slack", "1.0"), store, tokens) == ""
    assert AGED_MS == (MEMO_DAYS - DAYS) * DAY_MS


async def test_rows_of_answers_are_found_after_a_rotation_and_the_last_answer_of_a_thread_counts() -> None:
    store = MemoryStore()
    old, new = ("1" * 64, "2" * 64)
    before = Tokens(read_installation_key(old))
    now = 500 * DAY_MS
    await note_answer("run1", [("slack", "1.0")], [("slack", "0.9")], store, before, at=now)
    # While a rotation goes on, processes put different keys first.
    new_first = Tokens(read_installation_key(f"{new},{old}"))
    old_first = Tokens(read_installation_key(f"{old},{new}"))
    for tokens in (old_first, new_first):
        assert await run_of_message(("slack", "1.0"), store, tokens) == "run1"
        assert await last_run_of_thread(("slack", "0.9"), store, tokens) == "run1"
    for run, tokens in (("run2", new_first), ("run3", old_first)):
        await note_answer(run, [("slack", f"{run}.0")], [("slack", "0.9")], store, tokens, at=now)
        assert await last_run_of_thread(("slack", "0.9"), store, old_first) == run
        assert await last_run_of_thread(("slack", "0.9"), store, new_first) == run
        assert await run_of_message(("slack", f"{run}.0"), store, new_first) == run
