"""The texts and fields of a run in lists."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from gofer.journal.coordination import Head
from gofer.journal.unlisted_ends import Ends
from gofer.projections.progress import Progress
from gofer.projections.tracing.trace import timestamp
from gofer.projections.waits import dated

ONE_EVENT_MS = 3_000
"""The most milliseconds between the acceptances of runs of one event."""
UNPRICED = "its cost is not known, because a model has no price"
"""A note for runs whose limit `usd` could not be checked."""


def unlisted_lines(ends: Sequence[Ends]) -> list[str]:
    """Return one line for each hour, cause and system of unlisted runs."""
    return [f"{_hour(group.hour)}: {group.sentence()}" for group in ends]


def _hour(begin: int) -> str:
    """Return the hour that begins at `begin` (unix milliseconds), for people."""
    first = datetime.fromtimestamp(begin / 1000, UTC)
    after = first + timedelta(hours=1)
    return f"{first.day} {first:%B}, {first:%H:%M} to {after:%H:%M} UTC"


def why(head: Head) -> str:
    """Return the reason of a run; for a parked run, what it waits for and until when."""
    if head.status != "parked" or not head.wakes_at:
        return head.reason
    return dated(head.reason, timestamp(head.wakes_at))


def one_for_each_event(heads: Sequence[Head]) -> Sequence[Head]:
    """Return runs for a list, without the ignored runs of other workflows beside the one that an event started.

    If all workflows ignored the event, the first run stays. `gofer runs --status ignored` lists them all.
    """
    kept: dict[str, list[Head]] = {}
    for head in sorted(heads, key=lambda one: one.status == "ignored"):
        others = kept.setdefault(head.conversation, [])
        if head.status != "ignored" or not any(_is_beside(other, head) for other in others):
            others.append(head)
    shown = {head.run for others in kept.values() for head in others}
    return [head for head in heads if head.run in shown]


def _is_beside(other: Head, head: Head) -> bool:
    """Return whether two runs of different workflows may be of one event."""
    same = other.conversation == head.conversation and other.workflow != head.workflow
    return same and abs(other.accepted_at - head.accepted_at) < ONE_EVENT_MS


def unplaced_reason(progress: Progress) -> str:
    """Return what a parked run in an unknown or private place waits for: only the kind of wait and the system."""
    parked = progress.parked
    wait = max(progress.waits.values(), key=lambda one: one.until, default=None)
    system = "a system outside"
    if wait is not None and wait.system:
        system = wait.system
    match parked and parked.reason:
        case "outage":
            return f"{system} does not answer"
        case "rate_limit":
            return f"{system} accepts no more requests now"
        case "model":
            return "the model does not answer"
        case "approval":
            return "waits for approval"
        case _:
            return ""


def with_cost(reason: str, progress: Progress) -> str:
    """Return the reason of an ended run, with a note if its cost is unknown."""
    if progress.cost_usd is not None:
        return reason
    return "; ".join(filter(None, [reason.rstrip("."), UNPRICED]))


def row_of(head: Head) -> dict[str, object]:
    """Return a run as `gofer runs --json` and the page of runs show it. Never call this for a private run."""
    return {
        "run": head.run,
        "workflow": head.workflow,
        "status": head.status,
        "reason": head.reason,
        "accepted_at": timestamp(head.accepted_at),
        "updated_at": timestamp(head.updated_at),
        "retention": head.retention,
    }
