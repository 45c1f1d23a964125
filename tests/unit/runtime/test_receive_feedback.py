"""Feedback between its delivery and the inbox of the run that answered."""

from dataclasses import replace

import pytest

from gofer.journal import inbox
from gofer.journal.answer_rows import note_answer
from gofer.journal.coordination import Head
from gofer.journal.entries import FeedbackGiven
from gofer.journal.feedback_entries import LONGEST_WORDS
from gofer.journal.hidden_runs import hide
from gofer.journal.seal import seal_of
from gofer.runtime.receive_feedback import NO_FEEDBACK, TOO_LATE, take_feedback
from gofer.sources.receiver import PossibleFeedback
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.events import Actor
from gofer.workflows.feedback_emoji import FeedbackEmoji
from support.stand_ins import TOKENS, SetClock, claimed

pytestmark = pytest.mark.anyio

MESSAGE = ("T1", "C1", "1.0")
REACTION = PossibleFeedback("slack", MESSAGE, "-1", Actor("U1"), 5)
EMOJI = FeedbackEmoji()


class CountingStore(MemoryStore):
    """A store that counts the memos that were read."""

    read = 0

    async def memo(self, key: str) -> str | None:
        self.read += 1
        return await super().memo(key)


async def answered(*, private: bool = False) -> Stores:
    """Return stores with an ended run that answered in a message."""
    stores = Stores(CountingStore(), MemoryBlobs(), MemoryQueue(SetClock()))
    await claimed(stores.journals)
    await stores.journals.create_head(Head("run1", "w", "c", 1, status="done", private=private))
    await note_answer("run1", [("slack", *MESSAGE)], [("slack", *MESSAGE)], stores.journals, TOKENS, at=1)
    return stores


async def items(stores: Stores) -> list[object]:
    return list(await inbox.read(stores.journals, await seal_of("run1", stores.journals)))


async def test_reaction_on_an_answer_reaches_the_inbox_of_the_run_once() -> None:
    stores = await answered()
    for _ in range(2):
        assert await take_feedback(REACTION, EMOJI, stores, TOKENS) == "taken"
    (item,) = await items(stores)
    assert isinstance(item, FeedbackGiven)
    assert (item.verdict, item.actor, item.origin, item.emoji) == ("bad", "U1", "reaction", "-1")
    assert await take_feedback(replace(REACTION, withdrawn=True, at=6), EMOJI, stores, TOKENS) == "taken"
    assert [item.verdict for item in await items(stores) if isinstance(item, FeedbackGiven)] == ["bad", "withdrawn"]


async def test_other_emoji_and_reactions_of_bots_read_no_row() -> None:
    stores = await answered()
    for possible in (replace(REACTION, emoji="eyes"), replace(REACTION, actor=Actor("B1", "bot"))):
        assert await take_feedback(possible, EMOJI, stores, TOKENS) == NO_FEEDBACK
    assert await take_feedback(REACTION, FeedbackEmoji((), ()), stores, TOKENS) == NO_FEEDBACK
    assert isinstance(stores.journals, CountingStore)
    assert stores.journals.read == 0


async def test_message_without_a_row_takes_no_feedback() -> None:
    stores = await answered()
    assert await take_feedback(replace(REACTION, on=("T1", "C1", "2.0")), EMOJI, stores, TOKENS) == NO_FEEDBACK


async def test_private_run_and_hidden_run_take_no_feedback() -> None:
    stores = await answered()
    await hide("run1", stores.journals, 1)
    assert await take_feedback(REACTION, EMOJI, stores, TOKENS) == NO_FEEDBACK
    assert await take_feedback(REACTION, EMOJI, await answered(private=True), TOKENS) == NO_FEEDBACK
    half_hidden = await answered()
    await half_hidden.journals.put_memo("hidden:run1", "hidden", 1)
    assert await take_feedback(REACTION, EMOJI, half_hidden, TOKENS) == NO_FEEDBACK
    assert await items(half_hidden) == []
    assert await items(stores) == []


async def test_feedback_on_deleted_contents_is_too_late() -> None:
    stores = await answered()
    await stores.journals.retain("run1", "due", "deleting")
    assert await take_feedback(REACTION, EMOJI, stores, TOKENS) == TOO_LATE


async def test_long_words_are_cut() -> None:
    stores = await answered()
    reply = replace(REACTION, in_thread=True, words="x" * (LONGEST_WORDS + 1))
    assert await take_feedback(reply, EMOJI, stores, TOKENS) == "taken"
    (item,) = await items(stores)
    assert isinstance(item, FeedbackGiven)
    assert (len(item.words), item.origin) == (LONGEST_WORDS, "reply")
