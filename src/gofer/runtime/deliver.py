"""Delivery: the answer reaches the people who asked, and they read what happens before it, or why there is none.

A run posts one message (`status/1`) as soon as it is admitted; its answer replaces the text of that message. What will
be said is journaled first (`run.concluded`), so that a resumed run delivers that and works no further. Delivery is a
step like any other: a run cannot end without its answer having arrived or with a visible reason why not. A long answer
is several messages, each a call of its own; the same text always gives the same ones, so the calls need no arguments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.engine.loop import Ending
from gofer.engine.model_order import DEFERRED_MINUTES
from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import DELIVERY
from gofer.engine.private_answer import answer_privately, nothing_new, notice, show_notice
from gofer.engine.source_context import cause_of, thread_of
from gofer.journal.entries import RunConcluded, RunFinished, RunParked, ToolResult
from gofer.journal.purposes import ANSWER, ANSWER_ANEW, ANSWER_FILE, ANSWER_PART, STATUS, STATUS_DELETED, WAITING
from gofer.projections.progress import Progress
from gofer.projections.waits import moment
from gofer.sources.part_values import Outcome
from gofer.sources.registry import source_of
from gofer.sources.source import Answers, Messages
from gofer.tools.definition import AnyTool, Provenance
from gofer.values.events import Event
from gofer.workflows.schema import Reply

AT_WORK = "_On it. The answer will replace this message._"
WAITS = f"_The language model does not answer. I keep trying for {DEFERRED_MINUTES} minutes._"
_SO_FAR = "\n\n_Here is what I have:_\n\n"
_AWAY = "_{system} does not answer. I keep trying until {last}._"
_BUSY = "_{system} takes no more requests now. I go on by myself at {next}._"
_DONE_BEFORE = "_Already done; I told the person who asked._"
_DELETED = "_Stopped: the message that asked for this was deleted._"
_IN_FILE = "_This is the beginning; the attached file has all of it._"
_NO_FILE = "_This is the beginning; the rest is too long for messages, and could not be attached._"
_DOUBT = "_I do not know whether my last change in {systems} arrived. Please check it there before you ask again._"


@dataclass(frozen=True, slots=True)
class Announced:
    """The message that said that the run is at work."""

    step: OwnStep
    messages: Messages
    posted: Mapping[str, object]
    """What posting it gave."""

    def edit(self, call: str, text: str) -> PurposeCall:
        """Return the call that replaces its text."""
        return PurposeCall(call, self.messages.edit(self.posted, text), recorded=False, longest_wait=DELIVERY)

    def delete(self) -> PurposeCall:
        """Return the call that takes it back."""
        return PurposeCall(STATUS_DELETED, self.messages.delete(self.posted), longest_wait=DELIVERY)


@dataclass(frozen=True, slots=True)
class Delivery:
    """The answer of one run on its way: where it goes, and how it is written there."""

    step: OwnStep
    event: Event
    reply: Reply
    answers: Answers

    @property
    def place(self) -> str:
        """The thread of the first message; empty for one that stands in the channel itself."""
        if self.reply == "channel":
            return ""
        return thread_of(self.step, self.event)

    @property
    def thread(self) -> str:
        """The thread of everything but the first message: in a channel it is the one below that message."""
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
        """Write a text. Raises what a step raises."""
        asked = self.answers.write(self.event, thread, text)
        return await self.step.call(PurposeCall(call, asked, recorded=False, longest_wait=DELIVERY), provenance)

    async def first(self, text: str, provenance: Provenance) -> Outcome:
        """Replace what was announced, or post anew where that cannot be changed any more or never was."""
        announced = _announced(self.step, self.event)
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
    """Return the end of the work as it is recorded and told; a write of unknown outcome needs a person's attention.

    `tools` are those that Gofer has, by name.
    """
    if ending.status == "cancelled" and progress.cancelled and progress.cancelled.actor:
        # Such a stop counts only for what the same person asked for.
        ending = replace(ending, plain_reason="Stopped, as you asked.")
    text = spoken(ending)
    if progress.locked:
        names = sorted({tool for tool, _ in progress.locked})
        text = f"{text}\n\n{_DOUBT.format(systems=_systems(names, tools))}".strip()
        ending = _unclear(ending, f"the outcome of {', '.join(names)} cannot be determined")
    if ending.status == "done" and (locked_out := _locked_out(progress)):
        ending = replace(ending, reason=locked_out)
    return RunConcluded(ending.status, ending.reason, text, ending.output, ending.cause, ending.system)


def _unclear(ending: Ending, unknown: str) -> Ending:
    """Add for the operator what is not known at the end."""
    if ending.status == "done":
        return replace(ending, status="needs_attention", reason=unknown)
    return replace(ending, reason=f"{ending.reason.rstrip('.')}; {unknown}")


def _systems(names: Sequence[str], tools: Mapping[str, AnyTool]) -> str:
    """Name the systems that tools write to, as people know them."""
    systems = {tools[name].target.system for name in names if name in tools}
    return " and ".join(sorted(systems - {""})) or "a system outside"


def _locked_out(progress: Progress) -> str:
    """Return why a system outside did not let Gofer in before its credential is renewed; empty when all did."""
    for outcome in progress.outcomes.values():
        match outcome:
            case ToolResult(status="error", details={"access": "credential"}, text=why):
                return why
            case _:
                pass
    return ""


async def announce(step: OwnStep, event: Event, reply: Reply, provenance: Provenance) -> None:
    """Post that the run is at work, where the answer will be; once per run."""
    # Without a thread no person waits, and what one person alone sees cannot be changed later.
    answers = answers_of(event, reply)
    if answers is None or answers.messages is None:
        return
    if reply in ("thread", "channel") and thread_of(step, event):
        place = Delivery(step, event, reply, answers).place
        asked = answers.write(event, place, AT_WORK)
        await step.call(PurposeCall(STATUS, asked, recorded=False), provenance)


async def postpone(step: OwnStep, provenance: Provenance, parked: RunParked) -> None:
    """Say once, in place of what was announced, what the run waits for. It waits no longer for this notice."""
    event = step.progress.event
    if event is None or (announced := _announced(step, event)) is None:
        return
    if words := _notice(step, parked, source_of(event).system):
        await step.call(replace(announced.edit(WAITING, words), longest_wait=0.0), provenance)


def _notice(step: OwnStep, parked: RunParked, told_in: str) -> str:
    """Return what people are told of a wait; empty for a wait that they know of, or for the system they are told in."""
    if parked.reason == "model":
        return WAITS
    waits = [wait for wait in step.progress.waits.values() if wait.until == parked.until and wait.system != told_in]
    if not waits or parked.reason not in ("rate_limit", "outage"):
        return ""
    words = _AWAY if parked.reason == "outage" else _BUSY
    wait = waits[0]
    last = moment(wait.last_attempt_at, step.now_ms())
    following = moment(wait.until, step.now_ms())
    return words.format(system=wait.system or "A system outside", last=last, next=following)


async def deliver(
    step: OwnStep, event: Event, reply: Reply, provenance: Provenance, concluded: RunConcluded
) -> RunFinished:
    """Write what was concluded, in place of what was announced, and return the end of the run."""
    if concluded.status == "ignored":
        return _ended(concluded)
    answers = answers_of(event, reply)
    if answers is None:
        return _told_nowhere(concluded)
    announced = _announced(step, event)
    if answers.messages and _is_taken_back(step, concluded):
        await _take_back(announced, provenance, _DELETED)
        return _ended(concluded)
    text = concluded.text
    if (words := answers.private) is not None:
        if concluded.status == "done" and nothing_new(step):
            if await show_notice(step, event, words, provenance):
                await _take_back(announced, provenance, _DONE_BEFORE)
                return _ended(concluded)
            text = notice(step.progress)
        if reply in ("dm", "ephemeral"):
            outcomes = await answer_privately(step, event, words, reply, provenance, text)
            return _finish(concluded, outcomes, source_of(event).system)
    if announced and WAITING in step.progress.in_doubt:
        # Settled first: an edit whose outcome is not known could land over the answer.
        await step.call(replace(announced.edit(WAITING, AT_WORK), longest_wait=0.0), provenance)
    outcomes = await _write(Delivery(step, event, reply, answers), text, provenance)
    return _finish(concluded, outcomes, source_of(event).system)


async def _write(delivery: Delivery, text: str, provenance: Provenance) -> Sequence[Outcome]:
    """Write an answer in as many messages as it takes, with its file before them."""
    answer = delivery.answers.compose(text)
    outcomes: list[Outcome] = []
    texts = list(answer.messages)
    if answer.file and (messages := delivery.answers.messages):
        attached = messages.attach(delivery.thread, "answer.md", answer.file)
        asked = PurposeCall(ANSWER_FILE, attached, recorded=False, longest_wait=DELIVERY)
        outcomes.append(await delivery.step.call(asked, provenance))
        texts = [f"{texts[0]}\n\n{_IN_FILE if _arrived(outcomes[0]) else _NO_FILE}"]
    for number, part in enumerate(texts, 1):
        # The links stand under the last message, where the answer ends.
        links = provenance if number == len(texts) else replace(provenance, prompt_url="", run_url=None)
        if number == 1:
            outcomes.append(await delivery.first(part, links))
        else:
            outcomes.append(await delivery.post(ANSWER_PART.format(number), part, delivery.thread, links))
        if isinstance(outcomes[-1], ToolResult) and not _arrived(outcomes[-1]):
            break
    return outcomes


def nowhere(event: Event, reply: Reply) -> bool:
    """Return whether nothing of a run is written where it began, be it an answer or a failure."""
    return answers_of(event, reply) is None


def answers_of(event: Event, reply: Reply) -> Answers | None:
    """Return how a run is answered where it began; None where nothing of it is written."""
    answers = source_of(event).answers
    if reply == "none" or answers is None or not answers.has_place(event):
        return None
    return answers


def _is_taken_back(step: OwnStep, concluded: RunConcluded) -> bool:
    """Return whether the run was stopped because the message that asked for it was deleted."""
    cancelled = step.progress.cancelled
    return concluded.status == "cancelled" and cancelled is not None and cancelled.silent


async def _take_back(announced: Announced | None, provenance: Provenance, instead: str) -> None:
    """Delete what was announced; where it may not be deleted, it reads `instead`."""
    if announced is None:
        return
    step = announced.step
    if not _arrived(await step.call(announced.delete(), provenance)):
        await step.call(announced.edit(ANSWER, instead), provenance)


def spoken(ending: Ending) -> str:
    """Return what people read: the answer, with the reason in front when it is not the whole answer."""
    if ending.notice:
        return ending.notice
    match ending.status:
        case "done":
            return ending.answer.strip() or "I have nothing to say to this: the model's answer was empty."
        case "ignored":
            return ""
        case "cancelled":
            told = ending.plain_reason or f"Stopped: {ending.reason}."
            return f"_{told}_"
        case "limited":
            so_far = ending.answer.strip() or "nothing I could show yet."
            told = ending.plain_reason or f"I {ending.reason}; here is what I have:"
            return f"_{told}_\n\n{so_far}"
        case _:
            so_far = ending.answer.strip()
            return f"{_why(ending)}{so_far and _SO_FAR + so_far}"


def _why(ending: Ending) -> str:
    """Return why a run failed, in the words for a colleague where there are some."""
    if ending.plain_reason:
        return ending.plain_reason
    reason = ending.reason.removeprefix("poison: ")
    return f"I could not finish this: {reason}{ending.script_error and f': {ending.script_error}'}"


def _announced(step: OwnStep, event: Event) -> Announced | None:
    """Return what was announced; None when nothing was, or where its outcome is unknown."""
    answers = source_of(event).answers
    outcome = step.progress.outcomes.get(STATUS)
    match outcome:
        case ToolResult(status="ok", details=dict() as posted) if answers is not None and answers.messages is not None:
            return Announced(step, answers.messages, posted)
        case _:
            return None


def _ended(concluded: RunConcluded) -> RunFinished:
    return RunFinished(concluded.status, concluded.reason, concluded.cause, concluded.system)


def _told_nowhere(concluded: RunConcluded) -> RunFinished:
    ended = _ended(concluded)
    if concluded.status in ("done", "cancelled") or concluded.cause:
        return ended
    return replace(ended, cause="stopped")


def _arrived(outcome: Outcome) -> bool:
    return isinstance(outcome, ToolResult) and outcome.status == "ok"


def _finish(concluded: RunConcluded, outcomes: Sequence[Outcome], system: str) -> RunFinished:
    missing = [outcome for outcome in outcomes if not _arrived(outcome)]
    whole = "" if len(missing) == len(outcomes) else " as a whole"
    match missing:
        case []:
            return _ended(concluded)
        case [*_, ToolResult(text=why) as outcome]:
            # What ended its work comes before what kept people from hearing of it.
            cause = concluded.cause or cause_of(outcome)
            reason = f"the answer was not delivered{whole}: {why}"
            return RunFinished("failed", reason, cause, concluded.system or system)
        case _:
            unclear = f"the answer may not have been delivered{whole}: {missing[-1].text}"
            return RunFinished("needs_attention", unclear, concluded.cause or "unknown", concluded.system or system)
