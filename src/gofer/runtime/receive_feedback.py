"""The way of feedback from a delivery to the inbox of the run that answered.

No row is read unless the delivery is about a message of Gofer's and has an emoji that is feedback. Receivers use this
module, so it imports no engine.
"""

from typing import Literal

from gofer.journal import inbox
from gofer.journal.answer_rows import last_run_of_thread, run_of_message
from gofer.journal.feedback_entries import LONGEST_WORDS, FeedbackGiven, FeedbackOrigin, FeedbackVerdict
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.store import Store
from gofer.sources.receiver import Ignored, PossibleFeedback
from gofer.stores.one_place import FrontStores
from gofer.stores.queue import line_of
from gofer.values.errors import Gone
from gofer.values.row_tokens import Tokens
from gofer.workflows.feedback_emoji import FeedbackEmoji

TOO_LATE = Ignored("feedback_too_late", "it is feedback on a run whose contents were already deleted")
NO_FEEDBACK = Ignored("no_feedback", "it is no feedback on an answer of a run that may be listed")


async def take_feedback(
    possible: PossibleFeedback, emoji: FeedbackEmoji, stores: FrontStores, tokens: Tokens
) -> Literal["taken"] | Ignored:
    """Put feedback into the inbox of the run that it is about, or return why it does not count.

    Nothing is read unless the emoji is feedback. Raises TemporaryError.
    """
    verdict = emoji.verdict(possible.emoji)
    if verdict is None or possible.actor.kind == "bot":
        return NO_FEEDBACK
    run = await _run_of(possible, stores.journals, tokens)
    if not run or await is_hidden(run, stores.journals):
        return NO_FEEDBACK
    head = await stores.journals.head(run)
    if head is None or head.retention in ("deleting", "deleted"):
        return TOO_LATE
    if head.private:
        return NO_FEEDBACK
    given = _given(possible, verdict)
    token = tokens.item("feedback", possible.source, *possible.on, possible.actor.id, given.verdict, given.emoji)
    try:
        await inbox.put(stores.journals, run, item_id(possible.at, token), given)
    except Gone:
        return TOO_LATE
    await stores.queue.enqueue(run, line=line_of(head, people=True))
    return "taken"


def item_id(at: int, token: str) -> str:
    """Return the id of an inbox item with feedback at a time in unix microseconds. Ids sort by time.

    The same feedback has the same `token`, so that duplicates of a delivery collapse.
    """
    return f"feedback-{at:016d}-{token}"


async def _run_of(possible: PossibleFeedback, store: Store, tokens: Tokens) -> str:
    look_up = run_of_message
    if possible.in_thread:
        look_up = last_run_of_thread
    for names in (possible.on, *possible.former):
        if run := await look_up((possible.source, *names), store, tokens):
            return run
    return ""


def _given(possible: PossibleFeedback, verdict: FeedbackVerdict) -> FeedbackGiven:
    """Return the entry of feedback, with the words of the person up to their limit."""
    origin: FeedbackOrigin = "reaction"
    if possible.in_thread:
        origin = "reply"
    if possible.withdrawn:
        verdict = "withdrawn"
    return FeedbackGiven(
        verdict,
        possible.actor.id,
        words=possible.words[:LONGEST_WORDS],
        origin=origin,
        emoji=possible.emoji.partition("::")[0],
    )
