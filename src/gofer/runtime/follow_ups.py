"""What follows the end of a run: feedback and the review, which other processes put into its inbox."""

from gofer.engine.own_step import OwnStep
from gofer.journal.coordination import Head
from gofer.journal.entries import FeedbackGiven
from gofer.journal.hidden_runs import write_head
from gofer.journal.store import Store
from gofer.runtime.followed_runs import start_following
from gofer.stores.queue import Queue, line_of
from gofer.workflows.load import Catalog


async def take_follow_ups(step: OwnStep, head: Head, catalog: Catalog) -> None:
    """Journal what follows the end of a run, update its head, and start the workflows that wait for it.

    Raises Fenced, TemporaryError.

    The caller keeps other owners out by a lease. The journal of a run that was abandoned has no end, so nothing can
    follow. The items are removed last: if this owner crashes before, the next one finds them and repeats the rest.
    """
    if step.progress.finished is None or step.is_private:
        return
    store = step.services.store
    items = await step.journal_inbox()
    current = await store.head(head.run) or head
    await write_head(current.followed_up(step.head_facts(), step.frames), store)
    if any(isinstance(item, FeedbackGiven) for item in items):
        is_bad = any(isinstance(item, FeedbackGiven) and item.verdict == "bad" for item in items)
        await _keep_until_seen(step, store, is_news=is_bad)
    await start_following(step, items, catalog)
    await step.drop(items)
    await step.drop_late_items()


async def look_for_follow_ups(step: OwnStep, head: Head, queue: Queue) -> None:
    """Keep a run that just ended with bad feedback, and enqueue it for items that arrived while its owner ended it.

    The caller has written the head. Raises TemporaryError.
    """
    store = step.services.store
    if step.progress.follow_ups.feedback:
        await _keep_until_seen(step, store, is_news=True)
    if await store.items(step.run):
        await queue.enqueue(step.run, line=line_of(head))


async def is_left_alone(head: Head, store: Store) -> bool:
    """Return whether the worker that leases the conversation of a run does not look for the run afterwards.

    These are parked runs, which that worker may just be parking, and ended runs with items. Raises TemporaryError.
    """
    if head.status == "parked":
        return True
    return head.ended and not head.private and bool(await store.items(head.run))


async def _keep_until_seen(step: OwnStep, store: Store, *, is_news: bool) -> None:
    """Keep the contents of a run with bad feedback until the owner of its workflow has looked.

    `is_news` says whether bad feedback was given since the owner may have looked. Without bad feedback, the contents
    are deleted when they are due. Raises TemporaryError.
    """
    if not step.progress.follow_ups.count("bad"):
        await store.retain(step.run, "unseen", "due")
    elif is_news:
        await store.retain(step.run, "due", "unseen")
