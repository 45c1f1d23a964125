"""Approvals of calls with exact arguments: requested, awaited and decided in journaled steps.

    approval.requested   the call, the people who may decide, and the deadline
    question/…           asks people; the buttons are stamped for this run, call and arguments
    run.parked           no owner works on the run, and its conversation is free
    approval.clicked     a person clicked a button; journaled before that person is looked up
    approver/…           looks up whether the person may decide; if not, `objection/…` tells that person why
    approval.decided     the decision, written once; only this entry permits the call
    decision/…           shows the decision in place of the buttons

Each step is durable before the next begins, so a run that crashed between two steps resumes at the second.
"""

from dataclasses import dataclass

from gofer.engine.approval_question import (
    Question,
    arguments_sha256,
    as_recorded,
    close_shown,
    decision_text,
    objection_call,
    question_calls,
)
from gofer.engine.model_order import Parked
from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import Permitted
from gofer.journal.approval_entries import About, ApprovalClicked, ApprovalDecided, ApprovalRequested
from gofer.journal.entries import RunParked
from gofer.journal.entries import ToolResult as Result
from gofer.projections.approval_requests import Approval
from gofer.tools.definition import Provenance


@dataclass(frozen=True, slots=True)
class ApprovalTerms:
    """The terms of an approval: its subject, its approvers, and how long they have."""

    about: About
    by: tuple[str, ...]
    expires_ms: int
    owner: str = ""
    """The owner of the workflow. The question goes to the owner's channel if the event's source asks no people."""
    where: str = ""
    """The name of the place that the call writes to; empty unless the question is about that place."""
    whole: bool = True
    """Whether people see all arguments whole; False for a run from before this rule."""


async def ask_approval(step: OwnStep, item: Permitted, terms: ApprovalTerms, provenance: Provenance) -> Result | None:
    """Return None when the call may be made, else its refusal. Raises Parked until a person has decided."""
    sha256 = arguments_sha256(item)
    name = _name(terms.about, item.call)
    known = step.progress.approvals.get(name)
    # A recorded decision of this very call comes first, because a crash may have kept people from seeing it.
    decided = known is not None and known.decided is not None
    if not decided and (refused := _denied_before(step, item, sha256, terms.about)):
        return refused
    if known is None:
        until = step.now_ms() + terms.expires_ms
        step.note(
            ApprovalRequested(
                call=item.call,
                tool=item.tool.name,
                arguments_sha256=sha256,
                by=terms.by,
                until=until,
                about=terms.about,
                arguments=item.recorded if item.rebuilt else None,
            )
        )
    requested = step.progress.approvals[name].requested
    if requested.arguments_sha256 != sha256:
        return _refused(item.call, "its arguments differ from those of the approval request", "changed")
    question = Question(step, item, requested, terms.owner, terms.where, whole=terms.whole)
    if step.progress.approvals[name].decided is None:
        await _decide(step, question, provenance)
    await question.show_decision(provenance)
    return _outcome(item.call, step.progress.approvals[name].decided)


async def close(step: OwnStep, provenance: Provenance) -> None:
    """Remove the buttons that the questions of a run still have, because the run is over."""
    for approval in list(step.progress.approvals.values()):
        requested = approval.requested
        if requested.about != "call":
            continue
        for call in question_calls(requested):
            if asked := as_recorded(step, call):
                await step.call(PurposeCall(call, asked), provenance)
        await close_shown(step, requested, _last_words(step, approval), None, provenance)


def _last_words(step: OwnStep, approval: Approval) -> str:
    """Return the ending of a question whose decision was not shown before the run ended, so its call was not made."""
    tool = approval.requested.tool
    match approval.decided:
        case None:
            return f"{tool} was not called: the run ended before a decision."
        case ApprovalDecided(decision="approved") as decided:
            return f"{decision_text(step, decided)} {tool} was not called: the run ended first."
        case decided:
            return decision_text(step, decided)


def _name(about: About, call: str) -> tuple[About, str]:
    return about, call


async def _decide(step: OwnStep, question: Question, provenance: Provenance) -> None:
    """Ask the question and judge the clicks. Raises Parked when no click counts and there is time left."""
    requested = question.requested
    name = requested.about, requested.call
    if failure := await question.ask(provenance):
        step.note(ApprovalDecided(requested.call, "denied", f"Gofer: {failure}", about=requested.about))
        return
    while True:
        # A new click may arrive while an earlier one is judged.
        while click := _open_click(step, name):
            if objection := await question.objection(click, provenance):
                await question.notify(objection_call(click), click.actor, objection, provenance)
            else:
                by = question.name_of(click)
                step.note(ApprovalDecided(requested.call, click.decision, by, click.item, requested.about))
                return
        if step.now_ms() < requested.until:
            step.heed_cancel()
            raise Parked(RunParked("approval", requested.until))
        # An entry gets the time at which its frame began. A frame from before the deadline would expire too early.
        await step.commit()
        if _open_click(step, name) is None:
            step.note(ApprovalDecided(requested.call, "expired", about=requested.about))
            return


def _open_click(step: OwnStep, name: tuple[About, str]) -> ApprovalClicked | None:
    """Return the first click for a request that has not been objected to; None when there is none."""
    clicks = (one for one in step.progress.clicks if (one.about, one.call) == name)
    return next((one for one in clicks if objection_call(one) not in step.progress.outcomes), None)


def _denied_before(step: OwnStep, item: Permitted, sha256: str, about: About) -> Result | None:
    """Refuse a call that people denied or left undecided before: they are asked only once about the same call."""
    for approval in step.progress.approvals.values():
        requested = approval.requested
        decided = approval.decided
        same = (requested.arguments_sha256, requested.about) == (sha256, about) and requested.call != item.call
        # A denial without a click means that no person could be asked, so this call may be asked about.
        answered = decided is not None and (decided.decision == "expired" or decided.item)
        if same and answered and decided is not None and decided.decision != "approved":
            return _refused(item.call, "the same call was not approved before", decided.decision)
    return None


def _outcome(call: str, decided: ApprovalDecided | None) -> Result | None:
    match decided:
        case ApprovalDecided(decision="approved"):
            return None
        case ApprovalDecided(decision="denied", by=by, item=""):
            return _refused(call, f"it needs approval, and {by.removeprefix('Gofer: ')}", "denied")
        case ApprovalDecided(decision="denied", by=by):
            return _refused(call, f"{by or 'an approver'} denied it", "denied")
        case _:
            return _refused(call, "no person approved it in time", "expired")


def _refused(call: str, reason: str, code: str) -> Result:
    text = f"Not called: {reason}. Do not repeat this call. Continue without it, or tell the asker."
    return Result(call, "refused", text, details={"code": code})
