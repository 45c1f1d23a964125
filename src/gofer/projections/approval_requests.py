"""The approval requests of a run and their decisions."""

from dataclasses import dataclass, replace

from gofer.journal.approval_entries import About, ApprovalDecided, ApprovalRequested


@dataclass(frozen=True, slots=True)
class Approval:
    """An approval request and its decision, or None before that."""

    requested: ApprovalRequested
    decided: ApprovalDecided | None = None


class Approvals(dict[tuple[About, str], Approval]):
    """The approval requests of a run, by question and call id, in the order in which they were made."""


def record(approvals: Approvals, change: ApprovalRequested | ApprovalDecided) -> None:
    """Add a request, or the decision of one."""
    name = change.about, change.call
    if isinstance(change, ApprovalRequested):
        approvals[name] = Approval(change)
    elif name in approvals:
        approvals[name] = replace(approvals[name], decided=change)


def undecided(approvals: Approvals) -> Approval | None:
    """Return the first request without a decision, or None."""
    return next((one for one in approvals.values() if one.decided is None), None)
