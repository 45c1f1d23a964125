"""The decisions of people about calls that wait for an approval, as the file of a case says them."""

from collections.abc import Mapping, Sequence
from typing import Literal

from gofer.app.embedded.simulated import Simulated
from gofer.app.embedded.simulators import members
from gofer.journal.approval_entries import ApprovalRequested
from gofer.projections.progress import Progress
from gofer.sources.receiver import Click
from gofer.sources.signed_decision import Stamp, token
from gofer.values.events import Actor
from gofer.values.installation_key import InstallationKey

_ANY_PERSON = "U0APPROVE"
"""The person who decides in a world without people."""


def decision(
    run: str, progress: Progress, approve: Mapping[str, bool], simulated: Simulated, key: InstallationKey, at: float
) -> Click | None:
    """Return the press of a button that decides the first open request of a run; None without a decision in the file.

    `key` is the installation key, which signed the buttons, and `at` the time of the press in unix seconds.
    """
    open_requests = [one.requested for one in progress.approvals.values() if one.decided is None]
    found = next((requested for requested in open_requests if requested.tool in approve), None)
    if found is None:
        return None
    decided: Literal["approved", "denied"] = "denied"
    if approve[found.tool]:
        decided = "approved"
    stamp = Stamp(run, found.call, found.about, found.arguments_sha256, decided)
    return Click(token(key, stamp), Actor(_approver(found, progress, simulated)), int(at * 1000))


def _approver(requested: ApprovalRequested, progress: Progress, simulated: Simulated) -> str:
    """Return the id of a person who may decide."""
    people = [person for name in requested.by for person in _people(name, progress, simulated)]
    return next(iter(people), _ANY_PERSON)


def _people(name: str, progress: Progress, simulated: Simulated) -> Sequence[str]:
    if name == "requester":
        return [event.actor.id for event in (progress.event,) if event is not None]
    return members(simulated, name) or [name]
