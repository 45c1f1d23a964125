"""Coordination rows: the heads, leases, inbox items and usage beside the journals.

They decide who acts and what lists show, never what happened; losing them loses no run.
"""

from dataclasses import dataclass, replace
from typing import Literal

from gofer.journal.entries import Status

HeadStatus = Literal["queued", "running", "parked"] | Status
RUNNABLE: tuple[HeadStatus, ...] = ("queued", "running")
"""Statuses in which a run waits for a worker or has one."""
UNFINISHED: tuple[HeadStatus, ...] = (*RUNNABLE, "parked")
"""Statuses of runs that have not ended."""


Retention = Literal["due", "kept", "deleting", "deleted"]
"""What becomes of a run's contents: deleted in their time, kept by the wish of a person, being deleted, gone."""


@dataclass(frozen=True, slots=True)
class Head:
    """One line about a run, for lists and for finding the next run of a conversation."""

    run: str
    workflow: str
    conversation: str
    """The token of the conversation, which does not say where that is (`row_tokens.Tokens`)."""
    accepted_at: int
    """Unix milliseconds; the order of runs within a conversation."""
    status: HeadStatus = "queued"
    private: bool = True
    """A private run has no list row; unknown counts as private until admission knows better."""
    updated_at: int = 0
    """Unix milliseconds."""
    reason: str = ""
    wakes_at: int = 0
    """Unix milliseconds until which it is parked; 0 when it is not."""
    frames: int = 0
    """How many frames the run is known to have at least, 0 when unknown; a journal with fewer was cut."""
    retention: Retention = "due"
    """Changed by `Store.retain` only, and never by the owner of the run."""

    @property
    def ended(self) -> bool:
        """Whether it says that nothing more will happen; a head may lie, a journal does not."""
        return self.status not in UNFINISHED

    @property
    def touched_at(self) -> int:
        """When anybody last wrote about the run, or will ring for it, unix milliseconds."""
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
    ) -> "Head":
        """Return the head after a change; `private` None leaves it as it is, and so do fewer `frames` than before."""
        if private is None:
            private = self.private
        known = max(self.frames, frames)
        return replace(
            self, status=status, updated_at=at, reason=reason, wakes_at=wakes_at, private=private, frames=known
        )


HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
"""Windows in which usage is counted, milliseconds."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one run used of what one person, or one workflow, may use: one row for each scope and run."""

    scope: str
    """A token: the person or the workflow cannot be read from it (`tokens.Tokens`)."""
    run: str
    at: int
    """When the run was accepted, unix milliseconds."""
    usd: float
    """US dollars so far."""


@dataclass(frozen=True, slots=True)
class InboxItem:
    """Something an outsider wants journaled: a sealed entry. The owner of the run journals and drops it."""

    id: str
    """Unique per run; the same item put twice stands once. Items are read in the order of their ids."""
    entry: bytes
