"""The rows that lead from an answer to its run, so that feedback finds the run without a search.

Each delivered message of an answer has a row, and its thread has a row for the run that answered there last. The keys
are tokens, and the value is the id of a run. A private run has no row. A row goes with the contents of its run;
other memos stay longer.
"""

import asyncio
from collections.abc import Collection, Sequence

from gofer.journal.coordination import AGED_MS
from gofer.journal.store import Store
from gofer.values.row_tokens import Tokens

Identity = tuple[str, ...]
"""The identity of a message or a thread: its source, and the names that the source gives it."""


async def note_answer(
    run: str, messages: Collection[Identity], threads: Collection[Identity], store: Store, tokens: Tokens, *, at: int
) -> None:
    """Write the rows of an answer; `at` is now in unix milliseconds. Writing them again changes nothing.

    Never call this for a private run. Raises TemporaryError.
    """
    # A thread has a row under each recognised key, so that the run that answered last replaces every earlier row.
    keys = {_message_key(message, tokens) for message in messages}
    keys |= {_thread_key(thread, one) for thread in threads for one in tokens.every}
    await asyncio.gather(*(store.put_memo(key, run, at - AGED_MS) for key in sorted(keys)))


async def run_of_message(message: Identity, store: Store, tokens: Tokens) -> str:
    """Return the run that a message answers; empty if it is no answer. Raises TemporaryError."""
    return await _first_memo([_message_key(message, one) for one in tokens.every], store)


async def last_run_of_thread(thread: Identity, store: Store, tokens: Tokens) -> str:
    """Return the run that answered in a thread last; empty if none did. Raises TemporaryError."""
    return await _first_memo([_thread_key(thread, one) for one in tokens.every], store)


async def _first_memo(keys: Sequence[str], store: Store) -> str:
    for key in keys:
        if found := await store.memo(key):
            return found
    return ""


def _message_key(message: Identity, tokens: Tokens) -> str:
    return f"answer:{tokens.answer(*message)}"


def _thread_key(thread: Identity, tokens: Tokens) -> str:
    return f"answered:{tokens.answered_thread(*thread)}"
