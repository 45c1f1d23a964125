"""A conversation under all the tokens that its runs may have while an installation recognises several keys.

A run from before a rotation of the key has the token of the old key, and the next run of its thread that of the new
one. Each start then notes all tokens of the conversation in a memo for each of them, before the head of the run is
written. A worker leases the conversation under all of them, so the runs of one thread still act one after another.
With one key nothing is noted or read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gofer.journal.coordination import AGED_MS, Head
from gofer.journal.store import Store
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens


@dataclass(frozen=True, slots=True)
class Conversation:
    """The tokens of one conversation, sorted, so that all workers lease them in the same order."""

    tokens: Sequence[str]
    store: Store

    async def lease(self, owner: str, now: float, seconds: float) -> bool:
        """Take or extend the lease for `seconds` from `now` (unix seconds).

        Return False while another owner holds it under any token.
        """
        for number, token in enumerate(self.tokens):
            if not await self.store.lease(token, owner, now, seconds):
                for taken in self.tokens[:number]:
                    await self.store.release(taken, owner)
                return False
        return True

    async def release(self, owner: str) -> None:
        """Release the lease under every token; do nothing where another owner holds it."""
        for token in self.tokens:
            await self.store.release(token, owner)

    async def oldest_runnable(self) -> Head | None:
        """Return the run of the conversation that acts next (by `accepted_at`, then by id), or None."""
        found = [await self.store.oldest_runnable(token) for token in self.tokens]
        return min(filter(None, found), key=lambda head: (head.accepted_at, head.run), default=None)


async def note_conversation(name: str, tokens: Tokens, store: Store, now: Callable[[], int]) -> str:
    """Return the token of a conversation for a new head, and note its other tokens.

    `now` returns the current time in unix milliseconds. Raises TemporaryError.
    """
    every = sorted(one.conversation(name) for one in tokens.every)
    if len(every) > 1:
        at = now() - AGED_MS
        for token in every:
            await store.put_memo(_memo_key(token), " ".join(every), at)
    return tokens.conversation(name)


async def conversation_of(token: str, key: InstallationKey, store: Store) -> Conversation:
    """Return the conversation of a head's token. Raises TemporaryError."""
    if not key.others:
        return Conversation((token,), store)
    noted = await store.memo(_memo_key(token))
    return Conversation((noted or token).split(" "), store)


def _memo_key(token: str) -> str:
    return f"conversation:{token}"
