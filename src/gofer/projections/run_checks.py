"""The checks of a run: what its journal must show when it ended, and the verdict of each check.

`CheckState` is folded entry by entry, and `verdicts` is a pure function of it. The runtime journals the verdicts in the
frame of the end (`engine/checked_end.py`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.projections import calls, progress
from gofer.projections.calls import Calls
from gofer.projections.check_settings import Settings
from gofer.projections.checks_of_calls import no_orphaned_tools, no_tool_loops, plan_call_budget
from gofer.projections.progress import Progress


@dataclass(slots=True)
class CheckState:
    """The views of one run that its checks look at."""

    progress: Progress = field(default_factory=Progress)
    calls: Calls = field(default_factory=Calls)


def project(entries: Iterable[e.Recorded]) -> CheckState:
    """Return the state of the checks after a whole journal."""
    state = CheckState()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: CheckState, recorded: e.Recorded) -> None:
    """Add one more entry to the state, in place."""
    progress.fold(state.progress, recorded)
    calls.fold(state.calls, recorded)


def verdicts(state: CheckState, settings: Settings) -> tuple[Verdict, ...]:
    """Return the verdict of each check that is not off, in the order of their documentation."""
    made = (
        no_tool_loops(state.calls, settings),
        no_orphaned_tools(state.calls, cancelled=state.progress.cancelled is not None),
        plan_call_budget(state.calls, settings),
    )
    return tuple(verdict for verdict in made if verdict.check not in settings.off)
