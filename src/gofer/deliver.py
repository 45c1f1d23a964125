"""How does the answer reach the people who asked, and what are they told before, or when there is none?

A run posts one message (`status/1`) as soon as it is admitted; its answer replaces the text of that message. What will
be said is journaled first (`run.concluded`), so that a resumed run delivers that and works no further. Delivery is a
step like any other (`answer/1`): a run cannot end without its answer having arrived or with a visible reason why not.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gofer.engine.asking import PUT_OFF_MINUTES
from gofer.engine.loop import Ending
from gofer.engine.step import Outcome, Permitted, Step
from gofer.events import Event
from gofer.journal.entries import RunConcluded, RunFinished, ToolResult
from gofer.projections.progress import Progress
from gofer.tools.tool import Provenance
from gofer.workflows.schema import Reply

STATUS = "status/1"
"""Call id of posting the message that says that somebody is at work."""
WAITING = "status/2"
"""Call id of saying that the model is not there."""
ANSWER = "answer/1"
"""Call id of delivering the answer."""
ANSWER_ANEW = "answer/2"
"""Call id of posting the answer anew, when the message it was to replace is gone."""
AT_WORK = "_On it …_"
WAITS = f"_The language model is not available now. I go on by myself when it is, within {PUT_OFF_MINUTES} minutes._"


def conclude(ending: Ending, progress: Progress) -> RunConcluded:
    """The end of the work as it is recorded and told; a call that nobody can tell about needs a person's attention."""
    if ending.status == "done" and progress.locked:
        tools = ", ".join(sorted({tool for tool, _ in progress.locked}))
        reason = f"nobody can tell whether {tools} took effect"
        ending = replace(ending, status="needs_attention", reason=reason)
    return RunConcluded(ending.status, ending.reason, spoken(ending), ending.output)


async def announce(step: Step, event: Event, reply: Reply, provenance: Provenance) -> None:
    """Posts that somebody is at work, where the answer will stand; once per run."""
    if reply != "none":
        await step.call(_post(step, STATUS, event, reply, AT_WORK), provenance)


async def postpone(step: Step, provenance: Provenance) -> None:
    """Says once, in place of what was announced, that the run waits for its model."""
    if posted := _posted(step):
        await step.call(_edit(step, WAITING, posted, WAITS), provenance)


async def deliver(
    step: Step, event: Event, reply: Reply, provenance: Provenance, concluded: RunConcluded
) -> RunFinished:
    """Says what was concluded, in place of what was announced, and gives the end of the run."""
    if reply == "none" and concluded.status == "done":
        return RunFinished(concluded.status, concluded.reason)
    post = partial(_post, step, event=event, reply=reply, text=concluded.text)
    if posted := _posted(step):
        delivered = await step.call(_edit(step, ANSWER, posted, concluded.text), provenance)
        if isinstance(delivered, ToolResult) and delivered.status == "error":
            delivered = await step.call(post(ANSWER_ANEW), provenance)
    else:
        delivered = await step.call(post(ANSWER), provenance)
    return _finish(concluded, delivered)


def spoken(ending: Ending) -> str:
    """What people read: the answer, with the reason in front when it is not the whole answer."""
    if ending.notice:
        return ending.notice
    match ending.status:
        case "done":
            return ending.answer.strip() or "I have nothing to say to this: the model's answer was empty."
        case "cancelled":
            return f"_Stopped: {ending.reason}._"
        case "limited":
            so_far = ending.answer.strip() or "nothing I could show yet."
            return f"_I {ending.reason}; here is what I have:_\n\n{so_far}"
        case "needs_attention":
            return f"{ending.answer.strip()}\n\n_Please check what I did: {ending.reason}._".strip()
        case _:
            said = f": {ending.answer}" if ending.answer else ""
            return f"I could not finish this: {ending.reason.removeprefix('poison: ')}{said}"


def _post(step: Step, call: str, event: Event, reply: Reply, text: str) -> Permitted:
    tool = step.services.tools["slack_post_message"]
    thread = {} if reply == "channel" else {"thread_ts": event.place["thread_ts"]}
    return Permitted(call, tool, tool.parse({"text": text, **thread}))


def _posted(step: Step) -> Mapping[str, object] | None:
    """Channel and ts of what was announced; None when nothing was, or nobody can tell."""
    outcome = step.progress.outcomes.get(STATUS)
    return outcome.details if isinstance(outcome, ToolResult) and outcome.status == "ok" else None


def _edit(step: Step, call: str, posted: Mapping[str, object], text: str) -> Permitted:
    tool = step.services.tools["slack_update_message"]
    return Permitted(call, tool, tool.parse({"text": text, "channel": posted["channel"], "ts": posted["ts"]}))


def _finish(concluded: RunConcluded, delivered: Outcome) -> RunFinished:
    match delivered:
        case ToolResult(status="ok"):
            return RunFinished(concluded.status, concluded.reason)
        case ToolResult(text=why):
            return RunFinished("failed", f"the answer was not delivered: {why}")
        case _:
            return RunFinished("needs_attention", "nobody can tell whether the answer was delivered")
