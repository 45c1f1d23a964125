"""The last checks before an intent: whether an earlier run made the call, the rule for its place, and its approval.

They apply to calls of a model, to `run.call` of a script, and to the runs of subagents.
"""

import asyncio
from dataclasses import dataclass, field, replace

from gofer.engine import family, gates, once
from gofer.engine.approvals import ApprovalTerms, ask_approval
from gofer.engine.outgoing import chooses_address
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.place_rules import Judge, Judged, leaves_private_channel
from gofer.journal.coordination import DAY_MS
from gofer.journal.entries import ToolResult
from gofer.sources.part_values import Outcome
from gofer.tools.definition import Provenance
from gofer.values.events import Event
from gofer.workflows.grants import most_calls
from gofer.workflows.schema import Workflow

_STAYS_PRIVATE = (
    "Not called: this run began in a private channel and may not write anywhere else. Answer in that channel."
)


@dataclass(frozen=True, slots=True)
class Clearance:
    """The guard of a run's calls, by the rules of its workflow."""

    workflow: Workflow
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """The lock held during the look-up of a place."""

    async def clear(self, step: OwnStep, item: Permitted, provenance: Provenance) -> Permitted | Outcome:
        """Return the call as it may be made, or its outcome instead. Raises Cancelled, Parked."""
        step.heed_cancel()
        is_once = item.tool.effect != "read" and item.tool.name in self._once
        # People are not asked to approve a call that an earlier run made; a decision of theirs stays valid.
        if is_once and not _decided(step, item.call) and (outcome := await once.earlier_outcome(step, item)):
            return outcome
        most = most_calls(self.workflow.tools, item.tool.name)
        if most is None:
            return await self._judge(step, item, provenance, is_once=is_once)
        if refused := _result_of(gates.most(item, most, made=await family.calls_made(step, item))):
            return refused
        family.reserve(step, item)
        may_be_made = False
        try:
            cleared = await self._judge(step, item, provenance, is_once=is_once)
            may_be_made = isinstance(cleared, Permitted)
            return cleared
        finally:
            if not may_be_made:
                family.release(step, item)

    async def _judge(
        self, step: OwnStep, item: Permitted, provenance: Provenance, *, is_once: bool
    ) -> Permitted | Outcome:
        match await self._judge_place(step, item, provenance):
            case Judged() as judged:
                item = judged.item
            case result:
                return result
        if refused := await self._change_refusal(step, item):
            return refused
        if refused := await self._refusal_of(step, judged, provenance):
            return refused
        if is_once:
            return await once.claim(step, item)
        return item

    async def _change_refusal(self, step: OwnStep, item: Permitted) -> ToolResult | None:
        event = step.progress.event
        if event is None or item.tool.target.changes is None:
            return None
        made = await family.made_by_calls(step, item.tool.target.system)
        return _result_of(gates.change(item, event, made))

    async def _judge_place(self, step: OwnStep, item: Permitted, provenance: Provenance) -> Judged | ToolResult:
        event = step.progress.event
        if event is None:
            return Judged(item, "yes")
        return await Judge(step, event, self.workflow, provenance, self.looking).judge(item)

    async def _refusal_of(self, step: OwnStep, judged: Judged, provenance: Provenance) -> ToolResult | None:
        item = judged.item
        verdict = judged.verdict
        event = step.progress.event
        owner = self.workflow.owner
        approve = self.workflow.approve
        if event is not None and _leaves(step, item, event):
            match self.workflow.private_channels:
                case "refuse":
                    return ToolResult(item.call, "refused", _STAYS_PRIVATE, details={"code": "stays_private"})
                case "reply_only":
                    terms = ApprovalTerms("leaving", ("requester",), DAY_MS, where=judged.where)
                    if refused := await self._ask(step, item, terms, provenance):
                        return refused
                    # The asker has just approved this call, so the rule for places needs no second question.
                    if verdict == "ask":
                        verdict = "yes"
                case "allow":
                    pass
        if verdict == "no":
            return ToolResult(item.call, "refused", judged.refusal, details={"code": "elsewhere"})
        if verdict == "ask":
            terms = ApprovalTerms("elsewhere", ("requester",), DAY_MS, where=judged.where)
            if refused := await self._ask(step, item, terms, provenance):
                return refused
        if approve is not None and item.tool.name in approve.tools:
            return await self._ask(step, item, ApprovalTerms("call", approve.by, approve.expires_ms, owner), provenance)
        return None

    async def _ask(
        self, step: OwnStep, item: Permitted, terms: ApprovalTerms, provenance: Provenance
    ) -> ToolResult | None:
        """Return None when people approved the call, else its refusal. Raises Parked until a person has decided."""
        is_new = (terms.about, item.call) not in step.progress.approvals
        # The workflow of a run from before these rules has no limit for tools that write.
        is_bounded = item.tool.effect == "read" or most_calls(self.workflow.tools, item.tool.name) is not None
        if is_new and is_bounded and (refused := _result_of(gates.question(item, await family.denials(step)))):
            return refused
        return await ask_approval(step, item, replace(terms, whole=is_bounded or item.for_script), provenance)

    @property
    def _once(self) -> frozenset[str]:
        return frozenset(grant.name for grant in self.workflow.tools if grant.once == "per_message")


def _leaves(step: OwnStep, item: Permitted, event: Event) -> bool:
    return leaves_private_channel(item, event, private=step.progress.private) or chooses_address(step, item)


def _decided(step: OwnStep, call: str) -> bool:
    return any(name == call and one.decided is not None for (_, name), one in step.progress.approvals.items())


def _result_of(refused: gates.Refused | None) -> ToolResult | None:
    if refused is None:
        return None
    return ToolResult(refused.call, "refused", refused.text, details={"code": refused.code})
