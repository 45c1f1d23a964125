"""Delivery: posts the answer, the message before it, or the reason why there is no answer.

A run posts one message (`status/1`) as soon as it is admitted, and its answer replaces the text of that message. The
answer is journaled first (`run.concluded`), so that a resumed run delivers this answer and does not work further.
Delivery is a step like any other: a run ends only after its answer arrived or with a visible reason why not. A long
answer takes several messages, each with its own call. The same text always gives the same messages, so these calls need
no arguments in the journal. The announcement and the notice of a wait are in no other entry, so their calls have them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.engine.finish_gate import is_unmet
from gofer.engine.loop import Ending
from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import DELIVERY
from gofer.engine.private_answer import answer_privately, nothing_new, notice, show_notice
from gofer.engine.source_context import cause_of, thread_of
from gofer.engine.written_outside import written_outside
from gofer.journal.entries import RunConcluded, RunFinished, ToolResult
from gofer.journal.purposes import (
    ANSWER,
    ANSWER_ANEW,
    ANSWER_FILE,
    ANSWER_PART,
    STATUS,
    STATUS_DELETED,
    is_notice_of_wait,
)
from gofer.projections.progress import Progress
from gofer.sources.part_values import Outcome
from gofer.sources.registry import source_of
from gofer.sources.source import Answers, Messages
from gofer.tools.definition import AnyTool, Provenance
from gofer.values.events import Event
from gofer.workflows.schema import Reply, Workflow

AT_WORK = "_On it. The answer will replace this message._"
_SO_FAR = "\n\n_Here is what I have:_\n\n"
_DONE_BEFORE = "_Already done; I told the person who asked._"
_DELETED = "_Stopped: the message that asked for this was deleted._"
_IGNORED = "_There is nothing for me to do here._"
_IN_FILE = "_This is the beginning; the attached file has the whole answer._"
_NO_FILE = "_This is the beginning; the rest is too long for messages, and could not be attached._"
_NOTHING_DONE = "_I made no change in {systems}, which is what this is for. Ask again, or tell {owner}._\n\n"
_DOUBT = "_I do not know whether my last change in {systems} arrived. Please check it there before you ask again._"


@dataclass(frozen=True, slots=True)
class Announced:
    """The message that announced that the run is working."""

    step: OwnStep
    messages: Messages
    posted: Mapping[str, object]
    """The result of posting it."""

    def edit(self, call: str, text: str) -> PurposeCall:
        """Return the call that replaces its text."""
        return PurposeCall(call, self.messages.edit(self.posted, text), recorded=False, longest_wait=DELIVERY)

    def delete(self) -> PurposeCall:
        """Return the call that deletes it."""
        return PurposeCall(STATUS_DELETED, self.messages.delete(self.posted), longest_wait=DELIVERY)


@dataclass(frozen=True, slots=True)
class Delivery:
    """The delivery of the answer of one run: its destination and format."""

    step: OwnStep
    event: Event
    reply: Reply
    answers: Answers

    @property
    def place(self) -> str:
        """The thread of the first message; empty if it is posted in the channel."""
        if self.reply == "channel":
            return ""
        return thread_of(self.step, self.event)

    @property
    def thread(self) -> str:
        """The thread of the other messages; in a channel, the thread of the first message."""
        if place := self.place:
            return place
        if (messages := self.answers.messages) is None:
            return ""
        for call in (ANSWER_ANEW, ANSWER, STATUS):
            match self.step.progress.outcomes.get(call):
                case ToolResult(status="ok", details=details) if below := messages.below(details or {}):
                    return below
                case _:
                    pass
        return ""

    async def post(self, call: str, text: str, thread: str, provenance: Provenance) -> Outcome:
        """Post a text. Raises the errors of a step."""
        tool_call = self.answers.write(self.event, thread, text)
        return await self.step.call(PurposeCall(call, tool_call, recorded=False, longest_wait=DELIVERY), provenance)

    async def first(self, text: str, provenance: Provenance) -> Outcome:
        """Replace the announcement, or post a new message if there is none or it cannot be edited any more."""
        announced = announced_of(self.step, self.event)
        if announced is None:
            return await self.post(ANSWER, text, self.place, provenance)
        delivered = await self.step.call(announced.edit(ANSWER, text), provenance)
        match delivered:
            case ToolResult(status="error"):
                # An error is a refusal: the message was not edited. An edit that may have been made is unknown.
                anew = await self.post(ANSWER_ANEW, text, self.place, provenance)
                if _arrived(anew):
                    await self.step.call(replace(announced.delete(), longest_wait=0.0), provenance)
                return anew
            case _:
                return delivered


def conclude(ending: Ending, progress: Progress, tools: Mapping[str, AnyTool]) -> RunConcluded:
    """Return the end of the work as it is recorded and shown; writes with unknown outcomes need a person's attention.

    `tools` are the tools of Gofer by name.
    """
    if ending.status == "cancelled" and progress.cancelled and progress.cancelled.actor:
        # A cancellation with an actor counts only for runs of that person, who asked for this one.
        ending = replace(ending, plain_reason="Stopped, as you asked.")
    text = answer_text(ending)
    if progress.locked:
        names = sorted({tool for tool, _ in progress.locked})
        text = f"{text}\n\n{_DOUBT.format(systems=_systems(names, tools))}".strip()
        ending = _unclear(ending, f"the outcome of {', '.join(names)} cannot be determined")
    if (ending.status == "done" or ending.cause == "unmet") and (refused := _refused_credential(progress)):
        ending = replace(ending, reason="; ".join(filter(None, [ending.reason, refused])))
    return RunConcluded(ending.status, ending.reason, text, ending.output, ending.cause, ending.system)


def require_effect(
    ending: Ending, workflow: Workflow, settled: Collection[str], tools: Mapping[str, AnyTool]
) -> Ending:
    """Return the ending as one that needs attention if the work is done without the effect that its workflow requires.

    `settled` are the tools that the run has settled (`projections/calls.py`). The answer says why, and people read it.
    """
    if ending.status != "done" or not is_unmet(workflow, settled):
        return ending
    reason = f"no tool that it requires has succeeded: {' or '.join(workflow.requires)}"
    nothing_done = _NOTHING_DONE.format(systems=_systems(workflow.requires, tools), owner=workflow.owner)
    return replace(
        ending,
        status="needs_attention",
        reason=reason,
        notice=f"{nothing_done}{ending.answer}".strip(),
        cause="unmet",
    )


def _unclear(ending: Ending, unknown: str) -> Ending:
    """Return the ending with a note for the operator about unknown outcomes."""
    if ending.status == "done":
        return replace(ending, status="needs_attention", reason=unknown)
    return replace(ending, reason=f"{ending.reason.rstrip('.')}; {unknown}")


def _systems(names: Sequence[str], tools: Mapping[str, AnyTool]) -> str:
    """Return the display names of the systems that tools write to."""
    systems = {tools[name].target.system for name in names if name in tools}
    return " or ".join(sorted(systems - {""})) or "a system outside"


def _refused_credential(progress: Progress) -> str:
    """Return why an outside system refused Gofer's credential, or an empty text."""
    for outcome in progress.outcomes.values():
        match outcome:
            case ToolResult(status="error", details={"access": "credential"}, text=error):
                return error
            case _:
                pass
    return ""


async def announce(step: OwnStep, event: Event, reply: Reply, provenance: Provenance, text: str = AT_WORK) -> None:
    """Post once per run that the run is working, where the answer will be."""
    # Without a thread no person waits for an answer, and a message to one person alone cannot be edited later.
    answers = source_of(event).answers_to(event, reply)
    if answers is None or answers.messages is None:
        return
    if reply in ("thread", "channel") and thread_of(step, event):
        place = Delivery(step, event, reply, answers).place
        tool_call = answers.write(event, place, text)
        await step.call(PurposeCall(STATUS, tool_call), provenance)


async def deliver(
    step: OwnStep, event: Event, reply: Reply, provenance: Provenance, concluded: RunConcluded
) -> RunFinished:
    """Post the answer in place of the announcement, and return the end of the run."""
    if STATUS in step.progress.in_doubt:
        # The run ended before it was admitted. Its announcement may have been posted, and must not stay.
        await announce(step, event, reply, provenance)
    announced = announced_of(step, event)
    if concluded.status == "ignored":
        await _delete(announced, provenance, _IGNORED)
        return _ended(concluded)
    answers = source_of(event).answers_to(event, reply)
    if answers is None:
        return _undelivered_end(concluded)
    if answers.messages and _is_withdrawn(step, concluded):
        await _delete(announced, provenance, _DELETED)
        return _ended(concluded)
    text = concluded.text
    provenance = replace(provenance, wrote=await written_outside(step, event))
    if (words := answers.private) is not None:
        if concluded.status == "done" and nothing_new(step):
            if await show_notice(step, event, words, replace(provenance, wrote="")):
                await _delete(announced, provenance, _DONE_BEFORE)
                return _ended(concluded)
            text = notice(step.progress)
        if reply in ("dm", "ephemeral"):
            outcomes = await answer_privately(step, event, words, reply, provenance, text)
            return _finish(concluded, outcomes, source_of(event).system)
    for edit in filter(is_notice_of_wait, list(step.progress.in_doubt)):
        # Repeated first, because the earlier edit with an unknown outcome could still overwrite the answer.
        if announced:
            await step.call(replace(announced.edit(edit, AT_WORK), longest_wait=0.0), provenance)
    outcomes = await _write(Delivery(step, event, reply, answers), text, provenance)
    return _finish(concluded, outcomes, source_of(event).system)


async def _write(delivery: Delivery, text: str, provenance: Provenance) -> Sequence[Outcome]:
    """Post an answer in as many messages as it needs, its file first."""
    answer = delivery.answers.compose(text)
    outcomes: list[Outcome] = []
    texts = list(answer.messages)
    if answer.file and (messages := delivery.answers.messages):
        attached = messages.attach(delivery.thread, "answer.md", answer.file)
        purpose_call = PurposeCall(ANSWER_FILE, attached, recorded=False, longest_wait=DELIVERY)
        outcomes.append(await delivery.step.call(purpose_call, provenance))
        note = _NO_FILE
        if _arrived(outcomes[0]):
            note = _IN_FILE
        texts = [f"{texts[0]}\n\n{note}"]
    for number, part in enumerate(texts, 1):
        # Only the last message has the links and the writes below it, because the answer ends there.
        links = provenance.bare
        if number == len(texts):
            links = provenance
        if number == 1:
            outcomes.append(await delivery.first(part, links))
        else:
            outcomes.append(await delivery.post(ANSWER_PART.format(number), part, delivery.thread, links))
        if isinstance(outcomes[-1], ToolResult) and not _arrived(outcomes[-1]):
            break
    return outcomes


def place_of_answer(step: OwnStep, event: Event, reply: Reply, answers: Answers) -> str:
    """Return the thread in which people reply to a delivered answer; empty if there is none."""
    return Delivery(step, event, reply, answers).thread


def _is_withdrawn(step: OwnStep, concluded: RunConcluded) -> bool:
    """Return whether the run was cancelled because the message that asked for it was deleted."""
    cancelled = step.progress.cancelled
    return concluded.status == "cancelled" and cancelled is not None and cancelled.silent


async def _delete(announced: Announced | None, provenance: Provenance, instead: str) -> None:
    """Delete the announcement, or replace its text with `instead` if it cannot be deleted."""
    if announced is None:
        return
    step = announced.step
    if not _arrived(await step.call(announced.delete(), provenance)):
        await step.call(announced.edit(ANSWER, instead), provenance)


def answer_text(ending: Ending) -> str:
    """Return the text for people: the answer, or the reason first if the answer is not complete."""
    if ending.notice:
        return ending.notice
    match ending.status:
        case "done":
            return ending.answer.strip() or "I have no answer: the model returned an empty text."
        case "ignored":
            return ""
        case "cancelled":
            text = ending.plain_reason or f"Stopped: {ending.reason}."
            return f"_{text}_"
        case "limited":
            so_far = ending.answer.strip() or "nothing I could show yet."
            text = ending.plain_reason or f"I {ending.reason}; here is what I have:"
            return f"_{text}_\n\n{so_far}"
        case _:
            so_far = ending.answer.strip()
            if not so_far:
                return _failure_text(ending)
            return f"{_failure_text(ending)}{_SO_FAR}{so_far}"


def _failure_text(ending: Ending) -> str:
    """Return why a run failed, in words for a colleague if there are some."""
    if ending.plain_reason:
        return ending.plain_reason
    reason = ending.reason.removeprefix("poison: ")
    if ending.script_error:
        reason = f"{reason}: {ending.script_error}"
    return f"I could not finish this: {reason}"


def announced_of(step: OwnStep, event: Event) -> Announced | None:
    """Return the announcement, or None if there is none or its outcome is unknown."""
    answers = source_of(event).answers
    outcome = step.progress.outcomes.get(STATUS)
    match outcome:
        case ToolResult(status="ok", details=dict() as posted) if answers is not None and answers.messages is not None:
            return Announced(step, answers.messages, posted)
        case _:
            return None


def _ended(concluded: RunConcluded) -> RunFinished:
    return RunFinished(concluded.status, concluded.reason, concluded.cause, concluded.system)


def _undelivered_end(concluded: RunConcluded) -> RunFinished:
    ended = _ended(concluded)
    if concluded.status in ("done", "cancelled") or concluded.cause:
        return ended
    return replace(ended, cause="stopped")


def _arrived(outcome: Outcome) -> bool:
    return isinstance(outcome, ToolResult) and outcome.status == "ok"


def _finish(concluded: RunConcluded, outcomes: Sequence[Outcome], system: str) -> RunFinished:
    missing = [outcome for outcome in outcomes if not _arrived(outcome)]
    partly = " as a whole"
    if len(missing) == len(outcomes):
        partly = ""
    match missing:
        case []:
            return _ended(concluded)
        case [*_, ToolResult(text=error) as outcome]:
            # The cause that ended the work takes precedence over the cause of the failed delivery.
            cause = concluded.cause or cause_of(outcome)
            reason = f"the answer was not delivered{partly}: {error}"
            return RunFinished("failed", reason, cause, concluded.system or system)
        case _:
            unclear = f"the answer may not have been delivered{partly}: {missing[-1].text}"
            return RunFinished("needs_attention", unclear, concluded.cause or "unknown", concluded.system or system)
