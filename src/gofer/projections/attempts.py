"""The attempts at a run that brought it nowhere, in a row, and what follows from how many there were.

Four counts, because an attempt that ends early leaves its mark elsewhere: see "Counting attempts" in
docs/architecture.md.
"""

from dataclasses import dataclass

SUSPECT = 2
"""Crashed owners after which a run may be what kills them, so that no other such run is continued beside it."""
CRASHES = 5
"""Crashed owners, each without anything new done, after which a run is poison."""
UNREAD = 10
"""Owners that crashed before they had read the journal, after which no further one tries to read it."""
UNSTORED = 20
"""Owners that left because a store refused, after which a run is poison: each may have paid a model."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often in a row a run was tried without anything new done."""

    receives: int = 1
    """Receipts of the queue message that led to the run, this one included; the queue counts them."""
    unread: int = 0
    """Owners that crashed before they had read the journal, the last one perhaps later; a memo counts them."""
    crashed: int = 0
    """Owners that crashed after they had taken the run over; the journal counts them."""
    unstored: int = 0
    """Owners that left because a store refused to write; the journal counts them."""

    @property
    def may_have_acted(self) -> bool:
        """Whether an owner of whom the journal says nothing may have acted before this one."""
        return self.receives > 1 or self.unread > 0

    @property
    def suspect(self) -> bool:
        """Whether the run may be what kills its owners."""
        return self.unread >= SUSPECT or self.crashed >= SUSPECT

    @property
    def unreadable(self) -> bool:
        """Whether nothing but reading its journal kills its owners."""
        return self.unread >= UNREAD

    @property
    def poisoned(self) -> bool:
        """Whether the run breaks off at the same point again and again."""
        return self.crashed >= CRASHES or self.unstored >= UNSTORED
