"""Feedback that a person gives on a run at a terminal or on a page, and the runs that have feedback."""

from collections.abc import Sequence
from dataclasses import dataclass

from gofer.journal import inbox
from gofer.journal.coordination import Head
from gofer.journal.feedback_entries import LONGEST_WORDS, FeedbackGiven
from gofer.journal.head_facts import HeadFacts, decode
from gofer.journal.store import Store
from gofer.projections.progress import Progress
from gofer.runtime.receive_feedback import item_id
from gofer.stores.one_place import FrontStores
from gofer.values.errors import BadRequest, Gone

OPERATOR_ID = "operator"
"""The actor of feedback from the operator's machine, where Gofer does not know who acts."""


async def give(
    run: str, progress: Progress, given: FeedbackGiven, stores: FrontStores, *, now: float, act: str
) -> None:
    """Put feedback into the inbox of a run that has ended. `act` is a name of this act, and `now` is unix seconds.

    The caller made sure that the person may read the run. Raises BadRequest with a sentence for the person,
    TemporaryError.
    """
    if progress.finished is None:
        raise BadRequest(409, f"Run {run} has not ended yet. Give feedback once it has.")
    if progress.private:
        raise BadRequest(409, f"Run {run} began in a private place, of which Gofer keeps no feedback.")
    if len(given.words) > LONGEST_WORDS:
        raise BadRequest(413, f"The words are longer than {LONGEST_WORDS:,} characters. Shorten them.")
    try:
        await inbox.put(stores.journals, run, item_id(int(now * 1_000_000), act), given)
    except Gone as error:
        raise BadRequest(410, f"The contents of run {run} were deleted, so it takes no feedback any more.") from error
    await stores.queue.enqueue(run)


@dataclass(frozen=True, slots=True)
class RatedRun:
    """A run with feedback."""

    head: Head
    facts: HeadFacts

    @property
    def is_unseen(self) -> bool:
        """Whether its bad feedback waits for the owner of the workflow."""
        return self.head.retention == "unseen"


async def rated_runs(store: Store) -> Sequence[RatedRun]:
    """Return the listed runs with feedback and contents: first those that wait for their owners, then the newest.

    Only heads are read. Raises TemporaryError.
    """
    found: list[RatedRun] = []
    async for page in store.marked("rated"):
        for head in page:
            facts = decode(head.facts)
            if facts is not None and not head.private:
                found.append(RatedRun(head, facts))
    return sorted(found, key=lambda rated: (not rated.is_unseen, -rated.head.accepted_at, rated.head.run))
