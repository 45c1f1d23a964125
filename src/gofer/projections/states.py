"""The states of a run: what it did at each moment, and the transitions that no run may make."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from gofer.journal.entries import Recorded

State = Literal[
    "",
    "accepted",
    "admission",
    "thinking",
    "acting",
    "observing",
    "compacting",
    "waiting_quiet_time",
    "waiting_model",
    "waiting_approval",
    "waiting_earlier_run",
    "waiting_rate_limit",
    "waiting_outage",
    "waiting_subagent",
    "handed_over",
    "delivering",
    "done",
]
"""The state of a run; empty before its first entry."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of the state, or an entry that the state does not allow."""

    at: int
    """Unix milliseconds."""
    address: str
    """The address of the entry."""
    before: State
    after: State
    violation: str = ""
    """One sentence that names both states and the entry; empty for a transition that the state allows."""


@dataclass(slots=True)
class States:
    """The states of one run so far."""

    state: State = ""
    transitions: list[Transition] = field(default_factory=list[Transition])
    is_script: bool = False
    """Whether a script coordinates the run; then it has no turns, and its branches make calls at the same time."""

    @property
    def violations(self) -> tuple[Transition, ...]:
        """The transitions that were not allowed, in order."""
        return tuple(one for one in self.transitions if one.violation)


def project(entries: Iterable[Recorded]) -> States:
    """Return the states of a whole journal."""
    state = States()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: States, recorded: Recorded) -> None:
    """Add one more entry to the states, in place."""
