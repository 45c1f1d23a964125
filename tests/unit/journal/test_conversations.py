"""Conversations whose runs have tokens of several installation keys: one lease, one order."""

import pytest

from gofer.journal.conversations import conversation_of, note_conversation
from gofer.journal.coordination import Head
from gofer.stores.memory.journal import MemoryStore
from gofer.values.installation_key import InstallationKey, read_installation_key
from gofer.values.row_tokens import Tokens

pytestmark = pytest.mark.anyio

ONE, TWO = ("1" * 64, "2" * 64)
THREAD = "slack:T:C:1.0"
BEFORE = read_installation_key(ONE)
AFTER = read_installation_key(f"{TWO},{ONE}")


def token(key: InstallationKey) -> str:
    return Tokens(key).conversation(THREAD)


async def test_with_one_key_a_conversation_is_neither_noted_nor_read() -> None:
    class NoMemos(MemoryStore):
        async def put_memo(self, key: str, value: str, at: int) -> None:
            raise AssertionError(key)

        async def memo(self, key: str) -> str | None:
            raise AssertionError(key)

    store = NoMemos()
    assert await note_conversation(THREAD, Tokens(BEFORE), store, lambda: 1) == token(BEFORE)
    assert (await conversation_of(token(BEFORE), BEFORE, store)).tokens == (token(BEFORE),)


async def test_lease_of_a_conversation_excludes_owners_under_its_other_token() -> None:
    store = MemoryStore()
    await note_conversation(THREAD, Tokens(AFTER), store, lambda: 1)
    old = await conversation_of(token(BEFORE), AFTER, store)
    new = await conversation_of(token(AFTER), AFTER, store)
    assert sorted(old.tokens) == list(old.tokens) == list(new.tokens) == sorted({token(BEFORE), token(AFTER)})
    assert await old.lease("a", 1.0, 60.0)
    assert not await new.lease("b", 2.0, 60.0)
    assert await old.lease("a", 3.0, 60.0)
    await old.release("a")
    assert await new.lease("b", 4.0, 60.0)


async def test_refused_lease_leaves_no_lease_under_another_token() -> None:
    store = MemoryStore()
    await note_conversation(THREAD, Tokens(AFTER), store, lambda: 1)
    both = await conversation_of(token(AFTER), AFTER, store)
    # A worker that knows one key only holds the token that is leased last.
    last = both.tokens[-1]
    assert await store.lease(last, "a", 1.0, 60.0)
    assert not await both.lease("b", 1.0, 60.0)
    assert await store.lease(both.tokens[0], "c", 1.0, 60.0)
    assert not await store.lease(last, "b", 1.0, 60.0)


@pytest.mark.parametrize(("old_at", "new_at", "first"), [(1, 2, "old"), (2, 1, "new")])
async def test_oldest_run_of_a_conversation_acts_first_under_any_token(old_at: int, new_at: int, first: str) -> None:
    store = MemoryStore()
    await note_conversation(THREAD, Tokens(AFTER), store, lambda: 1)
    await store.create_head(Head("old", "w", token(BEFORE), old_at))
    await store.create_head(Head("new", "w", token(AFTER), new_at))
    head = await (await conversation_of(token(AFTER), AFTER, store)).oldest_runnable()
    assert head is not None
    assert head.run == first


async def test_refused_lease_with_one_key_sends_no_further_request() -> None:
    class NoRelease(MemoryStore):
        async def release(self, conversation: str, owner: str) -> None:
            raise AssertionError(conversation)

    store = NoRelease()
    one = await conversation_of(token(BEFORE), BEFORE, store)
    assert await one.lease("a", 1.0, 60.0)
    assert not await one.lease("b", 1.0, 60.0)
