"""How does the answer reach the people who asked, and what are they told when there is none?

What will be said is journaled first (`run.concluded`), so that a resumed run delivers that and works no further.
Delivery is a step like any other (`answer/1`): a run cannot end without its answer having arrived or with a visible
reason why not.
"""

from gofer.engine.loop import Ending
from gofer.engine.step import Outcome, Permitted, Step
from gofer.events import Event
from gofer.journal.entries import RunConcluded, RunFinished, ToolResult
from gofer.projections.progress import Progress
from gofer.tools.tool import Provenance
from gofer.workflows.schema import Reply

ANSWER = "answer/1"
"""Call id of delivering the answer."""


def conclude(ending: Ending, progress: Progress) -> RunConcluded:
    """The end of the work as it is recorded and told; a call that nobody can tell about needs a person's attention."""
    if ending.status == "done" and progress.locked:
        tools = ", ".join(sorted({tool for tool, _ in progress.locked}))
        ending = Ending("needs_attention", ending.answer, f"nobody can tell whether {tools} took effect")
    return RunConcluded(ending.status, ending.reason, spoken(ending))


async def deliver(
    step: Step, event: Event, reply: Reply, provenance: Provenance, concluded: RunConcluded
) -> RunFinished:
    """Posts what was concluded and gives the end of the run."""
    if reply == "none" and concluded.status == "done":
        return RunFinished(concluded.status, concluded.reason)
    tool = step.services.tools["slack_post_message"]
    arguments = {"text": concluded.text}
    if reply != "channel":
        arguments["thread_ts"] = event.place["thread_ts"]
    return _finish(concluded, await step.call(Permitted(ANSWER, tool, tool.parse(arguments)), provenance))


def spoken(ending: Ending) -> str:
    """What people read: the answer, with the reason in front when it is not the whole answer."""
    match ending.status:
        case "done":
            return ending.answer.strip() or "I have nothing to say to this: the model's answer was empty."
        case "limited":
            so_far = ending.answer.strip() or "nothing I could show yet."
            return f"_I {ending.reason}; here is what I have:_\n\n{so_far}"
        case "needs_attention":
            return f"{ending.answer.strip()}\n\n_Please check what I did: {ending.reason}._".strip()
        case _:
            said = f": {ending.answer}" if ending.answer else ""
            return f"I could not finish this: {ending.reason}{said}"


def _finish(concluded: RunConcluded, delivered: Outcome) -> RunFinished:
    match delivered:
        case ToolResult(status="ok"):
            return RunFinished(concluded.status, concluded.reason)
        case ToolResult(text=why):
            return RunFinished("failed", f"the answer was not delivered: {why}")
        case _:
            return RunFinished("needs_attention", "nobody can tell whether the answer was delivered")
