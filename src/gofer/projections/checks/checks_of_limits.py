"""The checks that compare a run with a limit: its context window, its model calls and its time; and its states."""

from gofer.journal.check_entries import FailureKind, Verdict
from gofer.projections.checks.check_settings import Settings, addresses, passed, quoted
from gofer.projections.progress import Progress
from gofer.projections.requests.context import Utilisation
from gofer.projections.states import States

_NAMED = 3


def context_window_headroom(utilisation: Utilisation, settings: Settings) -> Verdict:
    """Return whether no request filled too much of the window in force, and no pinned text left it."""
    most = settings.limit("context-window-headroom")
    parts: list[str] = []
    if utilisation.peak >= most:
        parts.append(f"A request filled {utilisation.peak:.0%} of the window; the check allows less than {most:.0%}.")
    lost = list(dict.fromkeys(utilisation.lost))
    if lost:
        parts.append(f"Texts that must stay and left the window: {len(lost)}.")
    if not parts:
        return passed("context-window-headroom")
    detail = ""
    implies: FailureKind = ""
    if lost:
        detail = f"These left the window: {', '.join(map(quoted, lost[:_NAMED]))}."
        implies = "context_drift"
    return Verdict(
        "context-window-headroom",
        passed=False,
        summary=" ".join(parts),
        detail=detail,
        implies=implies,
    )


def no_state_violations(states: States) -> Verdict:
    """Return whether the run made only transitions that its state machine allows."""
    found = states.violations
    if not found:
        return passed("no-state-violations")
    return Verdict(
        "no-state-violations",
        passed=False,
        summary=f"Transitions that are not allowed: {len(found)}.",
        detail=" ".join(one.violation for one in found[:_NAMED]),
        entries=addresses(one.address for one in found),
    )


def llm_call_budget(progress: Progress, settings: Settings) -> Verdict:
    """Return whether the run asked models seldom enough, calls of its subagents included."""
    most = int(settings.limit("llm-call-budget"))
    if progress.llm_calls <= most:
        return passed("llm-call-budget", "warning")
    summary = f"The run made {progress.llm_calls} model calls; the check allows {most}."
    return Verdict("llm-call-budget", passed=False, severity="warning", summary=summary)


def execution_time(progress: Progress, settings: Settings) -> Verdict:
    """Return whether workers owned the run short enough; waits for people and systems do not count."""
    most = settings.limit("execution-time")
    seconds = progress.owned_ms(progress.last_at) / 1000
    if seconds <= most:
        return passed("execution-time", "warning")
    summary = f"Workers owned the run for {seconds:,.1f} s; the check allows {most:g} s."
    return Verdict("execution-time", passed=False, severity="warning", summary=summary)
