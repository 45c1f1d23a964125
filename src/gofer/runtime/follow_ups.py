"""What follows the end of a run: feedback and the review, which other processes put into its inbox."""

from gofer.engine.own_step import OwnStep
from gofer.journal.coordination import Head
from gofer.journal.hidden_runs import write_head
from gofer.journal.store import Store


async def take_follow_ups(step: OwnStep, head: Head) -> None:
    """Journal what follows the end of a run, and update its head. Raises Fenced, TemporaryError.

    The caller keeps other owners out by a lease. The journal of a run that was abandoned has no end, so nothing can
    follow.
    """
    if step.progress.finished is None or step.is_private:
        return
    await step.take_inbox()
    await step.drop_late_items()
    store = step.services.store
    current = await store.head(head.run) or head
    await write_head(current.followed_up(step.head_facts(), step.frames), store)
    await _keep_until_seen(step, store)


async def _keep_until_seen(step: OwnStep, store: Store) -> None:
    """Keep the contents of a run with bad feedback until the owner of its workflow has looked."""
    if step.progress.follow_ups.count("bad"):
        await store.retain(step.run, "due", "unseen")
    else:
        await store.retain(step.run, "unseen", "due")
