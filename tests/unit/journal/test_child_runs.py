"""What is new for a run stands in its own inbox or in that of a subagent at work, however deep; never in any other."""

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
    """A run, its subagent `run1.a` and, below that one, `run1.b`, which has answered or not; all in one store."""
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
    ("run", "answered", "heard"),
    [
        ("run1", False, True),
        ("run1.a", False, True),
        ("run1.b", False, True),
        ("run1", True, True),
        ("run1.a", True, True),
        # A press that came too late: who looked for it would look for ever.
        ("run1.b", True, False),
    ],
)
async def test_what_comes_for_a_subagent_is_news_as_long_as_it_works(run: str, answered: bool, heard: bool) -> None:
    store = MemoryStore()
    await family(store, answered=answered)
    assert not await has_inbox_items("run1", await running_subagents("run1", store), store)
    await store.put_item(run, InboxItem("click-1", b"sealed"))
    assert await has_inbox_items("run1", await running_subagents("run1", store), store) is heard
