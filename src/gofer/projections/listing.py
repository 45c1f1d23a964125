"""What the lists of runs show of each run."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from gofer.journal.coordination import Head
from gofer.journal.unlisted_ends import Ends
from gofer.projections.progress import Progress
from gofer.projections.trace import timestamp
from gofer.projections.waits import dated

UNPRICED = "its cost is not known, because a model has no price"
"""Said of a run in lists, which `usd` did not limit."""


def unlisted_lines(ends: Sequence[Ends]) -> list[str]:
    """Return one line for each hour, cause and system of runs that no list shows."""
    return [f"{_hour(one.hour)}: {one.sentence()}" for one in ends]


def _hour(begin: int) -> str:
    """Return the hour that begins then, unix milliseconds, as people read it."""
    first = datetime.fromtimestamp(begin / 1000, UTC)
    after = first + timedelta(hours=1)
    return f"{first.day} {first:%B}, {first:%H:%M} to {after:%H:%M} UTC"


def why(head: Head) -> str:
    """Return the reason of a run; of a parked one what it waits for, and until when."""
    if head.status != "parked" or not head.wakes_at:
        return head.reason
    return dated(head.reason, timestamp(head.wakes_at))


def with_cost(reason: str, progress: Progress) -> str:
    """Return the reason of a run that ended, with a word on its cost where that is not known."""
    if progress.cost_usd is not None:
        return reason
    return "; ".join(filter(None, [reason.rstrip("."), UNPRICED]))


def row_of(head: Head) -> dict[str, object]:
    """One run as `gofer runs --json` and the page of runs have it; never of a private one."""
    return {
        "run": head.run,
        "workflow": head.workflow,
        "status": head.status,
        "reason": head.reason,
        "accepted_at": timestamp(head.accepted_at),
        "updated_at": timestamp(head.updated_at),
        "retention": head.retention,
    }
