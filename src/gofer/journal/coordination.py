"""Coordination rows: the heads, leases, inbox items and usage beside the journals.

They decide which worker acts and what lists show, but never what happened. No run is lost if they are lost.
"""

from dataclasses import dataclass, replace
from typing import Literal

from gofer.journal.entries import Status
from gofer.journal.head_facts import decode, without_tokens

HeadStatus = Literal["queued", "running", "parked"] | Status
RUNNABLE: tuple[HeadStatus, ...] = ("queued", "running")
"""The statuses of a run that waits for a worker or has one."""
UNFINISHED: tuple[HeadStatus, ...] = (*RUNNABLE, "parked")
"""The statuses of a run that has not ended."""


Retention = Literal["due", "kept", "unseen", "deleting", "deleted"]
"""The retention of the contents of a run: deleted when due, kept at the wish of a person, kept for some time until the
owner of its workflow has looked at bad feedback, being deleted, or deleted."""
HELD: tuple[Retention, ...] = ("due", "kept", "unseen")
"""The retentions of a run with contents."""

Mark = Literal["", "abandoned", "rated"]
"""What lists of a few among many ended runs look for: runs that no worker could finish, and runs with feedback."""


ANY_OF_PLACE = "*"
"""The end of a pattern that matches all conversations of a place, after the colon."""


def is_in(conversation: str, conversations: str) -> bool:
    """Return whether a conversation is the one of a token, or in the place of a pattern with `:*` at its end."""
    if conversations.endswith(f":{ANY_OF_PLACE}"):
        return conversation.startswith(conversations.removesuffix(ANY_OF_PLACE))
    return conversation == conversations


def place_of(conversations: str) -> str:
    """Return the token of the place of a conversation, or of a pattern."""
    return conversations.rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class Head:
    """The row of a run, for lists and to find the next run of a conversation."""

    run: str
    workflow: str
    conversation: str
    """The token of the conversation, which does not reveal the place (`row_tokens.Tokens`)."""
    accepted_at: int
    """Unix milliseconds; runs of a conversation act in this order."""
    status: HeadStatus = "queued"
    private: bool = True
    """Whether lists leave the run out. A run is private until admission knows its place."""
    updated_at: int = 0
    """Unix milliseconds."""
    reason: str = ""
    wakes_at: int = 0
    """Unix milliseconds until which the run is parked, or 0."""
    frames: int = 0
    """The least number of frames of the run, 0 if unknown. A journal with fewer frames has lost some."""
    facts: str = ""
    """What statistics need of an ended run (`head_facts.encode`); empty before its end, and always if it is private."""
    by_person: bool = False
    """Whether a person started the run, so that its messages do not wait behind those of machines."""
    retention: Retention = "due"
    """Changed only by `Store.retain`, and never by the owner of the run."""

    @property
    def ended(self) -> bool:
        """Whether the run ended, as far as the head says. Only the journal is always right."""
        return self.status not in UNFINISHED

    @property
    def has_contents(self) -> bool:
        """Whether the contents are there, and no deletion has begun."""
        return self.retention in HELD

    @property
    def mark(self) -> Mark:
        """Why a list of few runs may show the run. A private run that finished may seem abandoned."""
        if self.status == "needs_attention" and not self.facts:
            return "abandoned"
        if self.ended and (facts := decode(self.facts)) is not None and facts.has_feedback:
            return "rated"
        return ""

    @property
    def touched_at(self) -> int:
        """The latest time at which the run was accepted, was written or wakes, unix milliseconds."""
        return max(self.accepted_at, self.updated_at, self.wakes_at)

    def now(
        self,
        status: HeadStatus,
        at: int,
        *,
        private: bool | None = None,
        reason: str = "",
        wakes_at: int = 0,
        frames: int = 0,
        facts: str = "",
    ) -> "Head":
        """Return the head after a change. `private` None and fewer `frames` than before keep the old values."""
        if private is None:
            private = self.private
        if private:
            facts = ""
        return replace(
            self,
            status=status,
            updated_at=at,
            reason=reason,
            wakes_at=wakes_at,
            private=private,
            frames=max(self.frames, frames),
            facts=facts,
        )

    def hidden(self) -> "Head":
        """Return the head marked as private, without facts."""
        return replace(self, private=True, facts="")

    def followed_up(self, facts: str, frames: int) -> "Head":
        """Return the head of an ended run after feedback or a review, which do not make its contents younger."""
        if self.private:
            facts = ""
        return replace(self, facts=facts, frames=max(self.frames, frames))

    def retained(self, retention: Retention) -> "Head":
        """Return the head with another retention and the facts that it leaves."""
        return replace(self, retention=retention, facts=facts_left(self.facts, retention))


def facts_left(facts: str, retention: Retention) -> str:
    """Return the facts of a head with a retention. Once a deletion begins, no token of a person or a place is left."""
    if retention in HELD:
        return facts
    return without_tokens(facts)


HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
"""The windows in which usage is counted, in milliseconds."""
AGED_MS = 336 * DAY_MS
"""How much older than now a memo is written, in milliseconds, that goes after 30 days, and not after the 366 days of
other memos (`runtime/retention.py`)."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of one run for one person or one workflow with a usage limit: one row for each scope and run."""

    scope: str
    """A token that does not reveal the person or the workflow (`row_tokens.Tokens`)."""
    run: str
    at: int
    """The time at which the run was accepted, unix milliseconds."""
    usd: float
    """The cost so far in US dollars."""


SPENT_MS = 300_000
"""The steps in which amounts are added up, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the runs of one scope cost that were accepted in one step of SPENT_MS."""

    until: int
    """The end of the step, which belongs to it, unix milliseconds."""
    usd: float
    """The cost so far in US dollars."""


def spent_until(at: int) -> int:
    """Return the end of the step that a time belongs to, both in unix milliseconds."""
    return -(-at // SPENT_MS) * SPENT_MS


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A sealed entry that another process sends to a run. The owner of the run journals it and removes the item."""

    id: str
    """Unique per run: putting the same item twice stores it once. Items are read in the order of their ids."""
    entry: bytes
