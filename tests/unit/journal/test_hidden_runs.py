"""Heads of runs whose place becomes private while the runs are at work."""

import pytest
from typing_extensions import override

from gofer.journal.coordination import Head
from gofer.journal.hidden_runs import hide, write_head
from gofer.stores.memory.journal import MemoryStore

pytestmark = pytest.mark.anyio

HEAD = Head("run1", "answer-here", "c", 1, "running", private=False)
ENDED = HEAD.now("done", 2, private=False, facts="{}")


class HiddenMeanwhile(MemoryStore):
    """A store in which another process hides the run right before or after its owner writes the head."""

    def __init__(self, *, first: bool) -> None:
        super().__init__()
        self._first = first

    @override
    async def put_head(self, head: Head) -> None:
        if self._first:
            await hide(head.run, self, 2)
        await super().put_head(head)
        if not self._first:
            await hide(head.run, self, 2)


@pytest.mark.parametrize("first", [True, False])
async def test_run_hidden_while_its_owner_writes_the_head_stays_private_without_facts(first: bool) -> None:
    store = HiddenMeanwhile(first=first)
    await store.create_head(HEAD)
    await write_head(ENDED, store)
    head = await store.head("run1")
    assert head == ENDED.hidden()


async def test_head_of_a_public_run_is_written_as_given() -> None:
    store = MemoryStore()
    await store.create_head(Head("run1", "answer-here", "c", 1))
    await write_head(ENDED, store)
    assert await store.head("run1") == ENDED
