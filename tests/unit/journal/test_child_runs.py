"""News of a run: items in its inbox or in the inbox of a subagent that still works, at any depth."""

import pytest

from gofer.journal.child_runs import has_inbox_items, running_subagents
from gofer.journal.coordination import InboxItem
from gofer.journal.entries import RunAccepted, SubagentFinished, SubagentStarted
from gofer.journal.log import Pen, claim, open_journal
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.values.messages import Usage
from support.stand_ins import make_outside, mention

pytestmark = pytest.mark.anyio


async def family(store: MemoryStore, *, answered: bool) -> None:
    """Store a run, its subagent `run1.a` and the subagent of that one, `run1.b`, which may have answered."""
    pen, blobs = Pen("me", make_outside()), MemoryBlobs()
    above = ""
    for depth, (run, below) in enumerate((("run1", "run1.a"), ("run1.a", "run1.b"), ("run1.b", ""))):
        await claim(run, RunAccepted(mention(), "w", parent=above, depth=depth), pen, store, blobs)
        journal, _ = await open_journal(run, store, blobs, pen)
        if below:
            journal.add(SubagentStarted("1.0", "s", "do it", {}, below))
        if answered and run == "run1.a":
            journal.add(SubagentFinished("1.0", "ok", "done", "m", Usage(), None, 0, run="run1.b"))
        await journal.commit()
        above = run


@pytest.mark.parametrize(
    ("run", "answered", "is_news"),
    [
        ("run1", False, True),
        ("run1.a", False, True),
        ("run1.b", False, True),
        ("run1", True, True),
        ("run1.a", True, True),
        # A click that comes after the end is no news: otherwise the run would look for it forever.
        ("run1.b", True, False),
    ],
)
async def test_inbox_item_of_a_subagent_is_news_only_while_the_subagent_works(
    run: str, answered: bool, is_news: bool
) -> None:
    store = MemoryStore()
    await family(store, answered=answered)
    assert not await has_inbox_items("run1", await running_subagents("run1", store), store)
    await store.put_item(run, InboxItem("click-1", b"sealed"))
    assert await has_inbox_items("run1", await running_subagents("run1", store), store) is is_news
