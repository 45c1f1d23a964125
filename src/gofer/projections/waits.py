"""The words about what a parked run waits for."""

from datetime import UTC, datetime

from gofer.journal.entries import CallDeferred

ATTEMPTS = "; next attempt "
"""What introduces the times of the attempts that follow; a sentence with it says by itself until when a run waits."""


def moment(at: int, now: int) -> str:
    """Return a time as people read it, as `14:30 UTC`, with its day when that is another one; unix milliseconds."""
    then = datetime.fromtimestamp(at / 1000, UTC)
    if then.date() == datetime.fromtimestamp(now / 1000, UTC).date():
        return f"{then:%H:%M} UTC"
    return f"{then:%H:%M} UTC on {then.day} {then:%B}"


def sentence_of(wait: CallDeferred) -> str:
    """Return why a call of a tool waits, and when its next and its last attempt are."""
    following = f"{wait.reason.rstrip('.')}{ATTEMPTS}{moment(wait.until, wait.until)}"
    if not wait.last_attempt_at:
        return following
    return f"{following}, last {moment(wait.last_attempt_at, wait.until)}"


def sentence_of_quiet(wait: CallDeferred | None) -> str:
    """Return what a run with a call in doubt waits for; `wait` is the last wait of that call, if it ever waited."""
    if wait is None:
        return "waits until messages that a crashed worker may have sent would be visible"
    why = wait.reason.rstrip(".")
    return f"{why}; before the next attempt, Gofer waits until a late message would be visible"


def dated(reason: str, until: str) -> str:
    """Return what a run waits for with the time until which it does, unless the reason has times of its own."""
    if ATTEMPTS in reason:
        return reason
    return f"until {until}: {reason or 'it waits'}"
