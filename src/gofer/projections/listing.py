"""What does a list of runs tell of one, for programs?"""

from gofer.journal.coordination import Head
from gofer.projections.trace import timestamp


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
