"""The texts about what a parked run waits for."""

from datetime import UTC, datetime

from gofer.journal.entries import CallDeferred

ATTEMPTS = "; next attempt "
"""The words before the times of the next attempts. A reason that contains them needs no other time."""


def moment(at: int, now: int) -> str:
    """Return a time for people, such as `14:30 UTC`, with its date if it is not today; both in unix milliseconds."""
    then = datetime.fromtimestamp(at / 1000, UTC)
    if then.date() == datetime.fromtimestamp(now / 1000, UTC).date():
        return f"{then:%H:%M} UTC"
    return f"{then:%H:%M} UTC on {then.day} {then:%B}"


def sentence_of(wait: CallDeferred) -> str:
    """Return why a tool call waits, and the times of its next and its last attempt."""
    following = f"{wait.reason.rstrip('.')}{ATTEMPTS}{moment(wait.until, wait.until)}"
    if not wait.last_attempt_at:
        return following
    return f"{following}, last {moment(wait.last_attempt_at, wait.until)}"


def sentence_of_quiet(wait: CallDeferred | None) -> str:
    """Return what a run with a call in doubt waits for; `wait` is the last wait of that call, or None."""
    if wait is None:
        return "waits until messages that a crashed worker may have sent would be visible"
    why = wait.reason.rstrip(".")
    return f"{why}; before the next attempt, Gofer waits until a late message would be visible"


def cause_in(reason: str) -> str:
    """Return what a parked run waits for, as several runs wait for it: without times and names."""
    for known in ("waits for approval", "waits for its subagent"):
        if reason.startswith(known):
            return known
    return reason.partition(ATTEMPTS)[0].rstrip(".") or "waits for a time"


def dated(reason: str, until: str) -> str:
    """Return what a run waits for and until when, unless the reason names times itself."""
    if ATTEMPTS in reason:
        return reason
    return f"until {until}: {reason or 'it waits'}"
