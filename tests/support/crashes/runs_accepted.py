"""The runs that ingress accepted in a company whose worker does not run."""

from collections.abc import Sequence

from gofer.journal.entries import RunAccepted
from support.app.company import Company


async def accepted(made: Company, workflow: str) -> Sequence[RunAccepted]:
    """Return the runs that ingress accepted for a workflow, in order; no worker runs."""
    for system in made.embedded.simulated.systems.values():
        await system.settled()
    heads = await made.embedded.state.store.heads(100, private=True)
    ours = sorted((head for head in heads if head.workflow == workflow), key=lambda head: head.accepted_at)
    claims = [(await made.entries(head.run))[0] for head in ours]
    return [claim for claim in claims if isinstance(claim, RunAccepted)]
