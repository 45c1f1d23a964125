"""How does the answer reach the people who asked, and what are they told before, or when there is none?

A run posts one message (`status/1`) as soon as it is admitted; its answer replaces the text of that message. What will
be said is journaled first (`run.concluded`), so that a resumed run delivers that and works no further. Delivery is a
step like any other: a run cannot end without its answer having arrived or with a visible reason why not. A long answer
is several messages, each a call of its own; the same text always gives the same ones, so the calls need no arguments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gofer.engine.done_before import nothing_new, notice, tell
from gofer.engine.loop import Ending
from gofer.engine.model_order import DEFERRED_MINUTES
from gofer.engine.permitted_call import DELIVERY, OUTAGE
from gofer.engine.private_answer import answer_privately
from gofer.engine.slack_context import thread_of
from gofer.engine.step import Outcome, Permitted, Step
from gofer.engine.surfaces import surface
from gofer.engine.unmet_needs import cause_of
from gofer.journal.entries import RunConcluded, RunFinished, RunParked, ToolResult
from gofer.projections.progress import Progress
from gofer.projections.waits import moment
from gofer.sources.slack.parts import compose
from gofer.tools.definition import Provenance, Tool
from gofer.values.events import Event
from gofer.workflows.schema import Reply

STATUS = "status/1"
"""Call id of posting the message that says that somebody is at work."""
WAITING = "status/2"
"""Call id of saying that the model is not there."""
ANSWER = "answer/1"
"""Call id of delivering the answer, or its first message."""
ANSWER_ANEW = "answer/2"
"""Call id of posting that anew, when the message it was to replace cannot be changed any more."""
PART = "part/{}"
"""Call id of posting the second message of the answer, the third, and so on."""
FILE = "file/1"
"""Call id of attaching an answer that is too long for messages."""
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
COMMENT_LIMIT = 18_000
"""Characters of a comment outside Slack at most; what takes comments takes that much of each, links included."""
_IN_COMMENT = "_This is the beginning; the rest is too long for a comment._"
TAKEN_BACK = "taken-back/1"
"""Call id of deleting what was announced, when whoever asked deleted their message."""
TOOLS = ("slack_post_message", "slack_update_message", "slack_post_file", "slack_delete_message")
"""Tools that a run calls by itself to deliver its answer."""


def conclude(ending: Ending, progress: Progress, tools: Mapping[str, Tool[Any]]) -> RunConcluded:
    """Return the end of the work as it is recorded and told; a write of unknown outcome needs a person's attention.

    `tools` are those that Gofer has, by name.
    """
    if ending.status == "cancelled" and progress.cancelled and progress.cancelled.of:
        # Such a stop counts only for what the same person asked for.
        ending = replace(ending, told="Stopped, as you asked.")
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


def _systems(names: Sequence[str], tools: Mapping[str, Tool[Any]]) -> str:
    """Name the systems that tools write to, as people know them."""
    systems = {tools[name].system for name in names if name in tools}
    return " and ".join(sorted(systems - {""})) or "a system outside"


def _locked_out(progress: Progress) -> str:
    """Why a system outside did not let Gofer in before its credential is renewed; empty when all did."""
    for outcome in progress.outcomes.values():
        match outcome:
            case ToolResult(status="error", details={"access": "credential"}, text=why):
                return why
            case _:
                pass
    return ""


async def announce(step: Step, event: Event, reply: Reply, provenance: Provenance) -> None:
    """Posts that somebody is at work, where the answer will stand; once per run."""
    # Where nobody asked nobody waits, and what one person alone sees cannot be changed later.
    if reply in ("thread", "channel") and thread_of(step, event):
        announced = _post(step, STATUS, AT_WORK, _place(step, event, reply))
        await step.call(replace(announced, longest=OUTAGE), provenance)


async def postpone(step: Step, provenance: Provenance, parked: RunParked) -> None:
    """Say once, in place of what was announced, what the run waits for. It waits no longer for this notice."""
    posted = _posted(step)
    words = _notice(step, parked)
    if posted and words:
        await step.call(replace(_edit(step, WAITING, posted, words), longest=0.0), provenance)


def _notice(step: Step, parked: RunParked) -> str:
    """Return what people are told of a wait; empty for one that they know of, or that Slack itself is the cause of."""
    if parked.why == "model":
        return WAITS
    waits = [wait for wait in step.progress.waits.values() if wait.until == parked.until and wait.system != "Slack"]
    if not waits or parked.why not in ("limit", "outage"):
        return ""
    words = _AWAY if parked.why == "outage" else _BUSY
    wait = waits[0]
    last = moment(wait.last, step.now_ms())
    following = moment(wait.until, step.now_ms())
    return words.format(system=wait.system or "A system outside", last=last, next=following)


async def deliver(
    step: Step, event: Event, reply: Reply, provenance: Provenance, concluded: RunConcluded
) -> RunFinished:
    """Says what was concluded, in place of what was announced, and gives the end of the run."""
    if concluded.status == "ignored":
        return _ended(concluded)
    if nowhere(event, reply):
        return _told_nowhere(concluded)
    asked = comment(event, _brief(concluded.text)) if (comment := surface(event).comment) else None
    if asked:
        comment_call = _comment(step, *asked)
        return _finish(concluded, [await step.call(comment_call, provenance)], comment_call.tool.system)
    if concluded.status == "cancelled" and step.progress.cancelled and step.progress.cancelled.silent:
        await _take_back(step, provenance, _DELETED)
        return _ended(concluded)
    text = concluded.text
    if concluded.status == "done" and nothing_new(step):
        if await tell(step, event, provenance):
            await _take_back(step, provenance, _DONE_BEFORE)
            return _ended(concluded)
        text = notice(step.progress)
    if reply in ("dm", "ephemeral"):
        return _finish(concluded, await answer_privately(step, event, reply, provenance, text))
    if (posted := _posted(step)) and WAITING in step.progress.in_doubt:
        # Settled first: an edit whose outcome is not known could land over the answer.
        await step.call(replace(_edit(step, WAITING, posted, AT_WORK), longest=0.0), provenance)
    answer = compose(text)
    outcomes: list[Outcome] = []
    texts = list(answer.messages)
    if answer.file:
        outcomes.append(await step.call(_attach(step, event, reply, answer.file), provenance))
        texts = [f"{texts[0]}\n\n{_IN_FILE if _arrived(outcomes[0]) else _NO_FILE}"]
    for number, text in enumerate(texts, 1):
        # The links stand under the last message, where the answer ends.
        links = provenance if number == len(texts) else replace(provenance, prompt_url="", run_url=None)
        say = _say_first if number == 1 else partial(_say_further, number=number)
        outcomes.append(await say(step, event, reply, text, links))
        if isinstance(outcomes[-1], ToolResult) and not _arrived(outcomes[-1]):
            break
    return _finish(concluded, outcomes)


def nowhere(event: Event, reply: Reply) -> bool:
    """Return whether nothing of a run is written where it began, be it an answer or a failure."""
    if reply == "none":
        return True
    comment = surface(event).comment
    return event.source != "slack" and (comment is None or comment(event, "") is None)


async def _take_back(step: Step, provenance: Provenance, instead: str) -> None:
    """Delete what was announced; where Slack does not let Gofer delete it, it reads `instead`."""
    if (posted := _posted(step)) and not _arrived(await step.call(_delete(step, posted), provenance)):
        await step.call(_edit(step, ANSWER, posted, instead), provenance)


def _delete(step: Step, posted: Mapping[str, object]) -> Permitted:
    tool = step.services.tools["slack_delete_message"]
    arguments = {"channel": posted["channel"], "ts": posted["ts"]}
    return Permitted(TAKEN_BACK, tool, tool.parse(arguments), arguments, longest=DELIVERY)


async def _say_first(step: Step, event: Event, reply: Reply, text: str, provenance: Provenance) -> Outcome:
    """Replaces what was announced, or posts anew where that cannot be changed any more or never was."""
    if (posted := _posted(step)) is None:
        return await step.call(_post(step, ANSWER, text, _place(step, event, reply)), provenance)
    delivered = await step.call(_edit(step, ANSWER, posted, text), provenance)
    match delivered:
        case ToolResult(status="error"):
            # An error is a refusal: Slack did not edit the message. An edit that Slack may have made is unknown.
            anew = await step.call(_post(step, ANSWER_ANEW, text, _place(step, event, reply)), provenance)
            if _arrived(anew):
                await step.call(replace(_delete(step, posted), longest=0.0), provenance)
            return anew
        case _:
            return delivered


async def _say_further(
    step: Step, event: Event, reply: Reply, text: str, provenance: Provenance, number: int
) -> Outcome:
    return await step.call(_post(step, PART.format(number), text, _thread(step, event, reply)), provenance)


def _attach(step: Step, event: Event, reply: Reply, text: str) -> Permitted:
    tool = step.services.tools["slack_post_file"]
    arguments = tool.parse({"name": "answer.md", "text": text, **_thread(step, event, reply)})
    return Permitted(FILE, tool, arguments, longest=DELIVERY)


def _comment(step: Step, name: str, arguments: Mapping[str, object]) -> Permitted:
    tool = step.services.tools[name]
    return Permitted(ANSWER, tool, tool.parse(arguments), longest=DELIVERY)


def _brief(text: str) -> str:
    """A text as one comment takes it; a long one loses its end, between two blocks."""
    return text if len(text) <= COMMENT_LIMIT else f"{compose(text).messages[0]}\n\n{_IN_COMMENT}"


def _place(step: Step, event: Event, reply: Reply) -> Mapping[str, object]:
    """Where the first message goes; an event that is about no message has its answer in the channel itself."""
    thread_ts = "" if reply == "channel" else thread_of(step, event)
    return {"thread_ts": thread_ts} if thread_ts else {}


def _thread(step: Step, event: Event, reply: Reply) -> Mapping[str, object]:
    """Where everything but the first message goes: in a channel, into the thread below that one."""
    if place := _place(step, event, reply):
        return place
    for call in (ANSWER_ANEW, ANSWER, STATUS):
        match step.progress.outcomes.get(call):
            case ToolResult(status="ok", details={"ts": str(ts)}):
                return {"thread_ts": ts}
            case _:
                pass
    return {}


def spoken(ending: Ending) -> str:
    """What people read: the answer, with the reason in front when it is not the whole answer."""
    if ending.notice:
        return ending.notice
    match ending.status:
        case "done":
            return ending.answer.strip() or "I have nothing to say to this: the model's answer was empty."
        case "ignored":
            return ""
        case "cancelled":
            told = ending.told or f"Stopped: {ending.reason}."
            return f"_{told}_"
        case "limited":
            so_far = ending.answer.strip() or "nothing I could show yet."
            told = ending.told or f"I {ending.reason}; here is what I have:"
            return f"_{told}_\n\n{so_far}"
        case _:
            so_far = ending.answer.strip()
            return f"{_why(ending)}{so_far and _SO_FAR + so_far}"


def _why(ending: Ending) -> str:
    """Why a run failed, in the words for a colleague where there are some."""
    if ending.told:
        return ending.told
    reason = ending.reason.removeprefix("poison: ")
    return f"I could not finish this: {reason}{ending.said and f': {ending.said}'}"


def _post(step: Step, call: str, text: str, place: Mapping[str, object]) -> Permitted:
    tool = step.services.tools["slack_post_message"]
    return Permitted(call, tool, tool.parse({"text": text, **place}), longest=DELIVERY)


def _posted(step: Step) -> Mapping[str, object] | None:
    """Channel and ts of what was announced; None when nothing was, or nobody can tell."""
    outcome = step.progress.outcomes.get(STATUS)
    return outcome.details if isinstance(outcome, ToolResult) and outcome.status == "ok" else None


def _edit(step: Step, call: str, posted: Mapping[str, object], text: str) -> Permitted:
    tool = step.services.tools["slack_update_message"]
    arguments = tool.parse({"text": text, "channel": posted["channel"], "ts": posted["ts"]})
    return Permitted(call, tool, arguments, longest=DELIVERY)


def _ended(concluded: RunConcluded) -> RunFinished:
    return RunFinished(concluded.status, concluded.reason, concluded.cause, concluded.system)


def _told_nowhere(concluded: RunConcluded) -> RunFinished:
    ended = _ended(concluded)
    if concluded.status in ("done", "cancelled") or concluded.cause:
        return ended
    return replace(ended, cause="stopped")


def _arrived(outcome: Outcome) -> bool:
    return isinstance(outcome, ToolResult) and outcome.status == "ok"


def _finish(concluded: RunConcluded, outcomes: Sequence[Outcome], system: str = "Slack") -> RunFinished:
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
