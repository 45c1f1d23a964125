"""May a permitted call be made now, or does somebody have to agree first, or was it done already?

Asked right before an intent, whoever coordinates: a model's turn and a script's `run.call` come through here alike.
"""

from dataclasses import dataclass

from gofer.engine import once
from gofer.engine.approval import Wanted, approved
from gofer.engine.leaving import leaves
from gofer.engine.step import Outcome, Permitted, Step
from gofer.journal.coordination import DAY_MS
from gofer.journal.entries import ToolResult
from gofer.tools.tool import Provenance
from gofer.workflows.schema import Workflow

_KEPT = "Not called: this run began in a private channel, and may write nothing elsewhere. Answer there."


@dataclass(frozen=True, slots=True)
class Clearance:
    """What the workflow of a run says about its calls."""

    workflow: Workflow

    async def clear(self, step: Step, item: Permitted, provenance: Provenance) -> Permitted | Outcome:
        """The call as it may be made, or what it is told instead. Raises Cancelled, Parked."""
        step.heed_cancel()
        limited = item.tool.effect != "read" and item.tool.name in self._once
        # Nobody is asked for what was done already; what somebody decided stands.
        if limited and not _decided(step, item.call) and (outcome := await once.answered(step, item)):
            return outcome
        if refused := await self._agreed(step, item, provenance):
            return refused
        return await once.claim(step, item) if limited else item

    def may_leave(self, step: Step, call: str) -> bool:
        """Whether a call may take what is private with it: its workflow lets every call, or who started the run did."""
        decided = approval.decided if (approval := step.progress.approvals.get(("leaving", call))) else None
        allowed = self.workflow.private_channels == "allow"
        return allowed or (decided is not None and decided.decision == "approved")

    async def _agreed(self, step: Step, item: Permitted, provenance: Provenance) -> ToolResult | None:
        event, owner, approve = step.progress.event, self.workflow.owner, self.workflow.approve
        if event is not None and leaves(item, event, private=step.progress.private):
            match self.workflow.private_channels:
                case "refuse":
                    return ToolResult(item.call, "refused", _KEPT)
                case "reply_only":
                    wanted = Wanted("leaving", ("requester",), DAY_MS)
                    if refused := await approved(step, item, wanted, provenance):
                        return refused
                case "allow":
                    pass
        if approve is not None and item.tool.name in approve.tools:
            return await approved(step, item, Wanted("call", approve.by, approve.expires_ms, owner), provenance)
        return None

    @property
    def _once(self) -> frozenset[str]:
        return frozenset(grant.name for grant in self.workflow.tools if grant.once == "per_message")


def _decided(step: Step, call: str) -> bool:
    return any(name == call and one.decided is not None for (_, name), one in step.progress.approvals.items())
