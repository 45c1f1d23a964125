"""The attempts at a run that made no progress, in a row, and the limits on their number.

There are four counts, because an attempt leaves its mark elsewhere depending on how early it ends: see "Counting
attempts" in docs/architecture.md.
"""

from dataclasses import dataclass

SUSPECT = 2
"""Crashed owners after which the run itself may be the cause, so that a worker runs only one such run at a time."""
CRASHES = 5
"""Owners in a row without progress that crashed or stopped in the middle of a call, after which a run is poison."""
UNREAD = 10
"""Owners in a row that crashed before they had read the journal, after which no further owner tries."""
UNSTORED = 20
"""Owners in a row that left because a store refused, after which a run is poison: each may have paid a model."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """The number of attempts in a row without progress, by how they ended."""

    receives: int = 1
    """Receipts of the queue message that led to this attempt, including this one; the queue counts them."""
    unread: int = 0
    """Owners that crashed before they had read the journal; a memo counts them. The last one may have crashed later."""
    crashed: int = 0
    """Owners that crashed once they had the run, or left in the middle of a call; the journal counts them."""
    unstored: int = 0
    """Owners that left because a store refused to write; the journal counts them."""

    @property
    def may_have_acted(self) -> bool:
        """Whether an earlier owner without a trace in the journal may have acted."""
        return self.receives > 1 or self.unread > 0

    @property
    def suspect(self) -> bool:
        """Whether the run may crash its owners."""
        return self.unread >= SUSPECT or self.crashed >= SUSPECT

    @property
    def unreadable(self) -> bool:
        """Whether owners crash while they read the journal."""
        return self.unread >= UNREAD

    @property
    def poisoned(self) -> bool:
        """Whether the run stops at the same point again and again."""
        return self.crashed >= CRASHES or self.unstored >= UNSTORED
