"""The checks of a run: what its journal must show when it ended, and the verdict of each check.

`CheckState` is folded entry by entry, and `verdicts` is a pure function of it. The owner journals the verdicts in the
frame of the end (`engine/checked_end.py`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gofer.journal import entries as e
from gofer.journal.check_entries import Verdict
from gofer.projections import calls, progress, states
from gofer.projections.calls import Calls
from gofer.projections.checks import named_values
from gofer.projections.checks.check_settings import Settings, addresses, bounded
from gofer.projections.checks.checks_of_answers import no_empty_evidence, no_invented_names
from gofer.projections.checks.checks_of_calls import no_orphaned_tools, no_tool_loops, plan_call_budget
from gofer.projections.checks.checks_of_limits import (
    context_window_headroom,
    execution_time,
    llm_call_budget,
    no_state_violations,
)
from gofer.projections.checks.named_values import NamedValues
from gofer.projections.progress import Progress
from gofer.projections.requests import context
from gofer.projections.requests.context import Utilisation
from gofer.projections.states import States


@dataclass(slots=True)
class CheckState:
    """The views of one run that its checks look at."""

    progress: Progress = field(default_factory=Progress)
    calls: Calls = field(default_factory=Calls)
    states: States = field(default_factory=States)
    utilisation: Utilisation = field(default_factory=Utilisation)
    names: NamedValues = field(default_factory=NamedValues)
    below: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The checks that subagent runs failed, with the entry of each answer."""


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
    states.fold(state.states, recorded)
    context.fold(state.utilisation, recorded)
    named_values.fold(state.names, recorded)
    if isinstance(recorded.entry, e.SubagentFinished):
        for check in recorded.entry.failed_checks:
            state.below.setdefault(check, []).append(recorded.address)


def verdicts(state: CheckState, settings: Settings) -> tuple[Verdict, ...]:
    """Return the verdict of each check that is not off: errors first, then warnings.

    A check that only subagent runs failed fails too, because no alert looks at their journals.
    """
    made = (
        context_window_headroom(state.utilisation, settings),
        no_tool_loops(state.calls, settings),
        no_orphaned_tools(state.calls, settings, complete=_is_complete(state.progress)),
        no_state_violations(state.states),
        llm_call_budget(state.progress, settings),
        plan_call_budget(state.calls, settings),
        execution_time(state.progress, settings),
        no_invented_names(state.names, settings),
        no_empty_evidence(state.calls, state.progress),
    )
    return tuple(bounded(_with_subagents(verdict, state)) for verdict in made if verdict.check not in settings.off)


def _with_subagents(verdict: Verdict, state: CheckState) -> Verdict:
    entries = state.below.get(verdict.check)
    if not verdict.passed or not entries:
        return verdict
    summary = f"Subagent runs that failed this check: {len(entries)}."
    return replace(verdict, passed=False, summary=summary, entries=addresses(entries))


def _is_complete(state: Progress) -> bool:
    return state.concluded is not None and state.concluded.status == "done"
