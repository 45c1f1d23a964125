"""How does the answer reach the people who asked, and what are they told when there is none?

Delivery is a journaled step like any other (`answer/1`), so a run cannot end without its answer having arrived or
with a visible reason why not.
"""

from gofer.engine.loop import Ending
from gofer.engine.step import Outcome, Permitted, Step
from gofer.events import Event
from gofer.journal.entries import RunFinished, ToolResult
from gofer.tools.tool import Provenance
from gofer.workflows.schema import Reply

ANSWER = "answer/1"
"""Call id of delivering the answer."""


async def deliver(step: Step, event: Event, reply: Reply, provenance: Provenance, ending: Ending) -> RunFinished:
    """Posts what is to be said and gives the end of the run as it is to be recorded."""
    text = spoken(ending)
    if reply == "none" and ending.status == "done":
        return RunFinished(ending.status, ending.reason, text)
    tool = step.services.tools["slack_post_message"]
    arguments: dict[str, object] = {"text": text}
    if reply != "channel":
        arguments["thread_ts"] = event.place["thread_ts"]
    permitted = Permitted(ANSWER, tool, tool.parse(arguments), arguments)
    return _finish(ending, text, await step.call(permitted, provenance))


def spoken(ending: Ending) -> str:
    """What people read: the answer, with the reason in front when it is not the whole answer."""
    match ending.status:
        case "done":
            return ending.answer.strip() or "I have nothing to say to this: the model's answer was empty."
        case "limited":
            so_far = ending.answer.strip() or "nothing I could show yet."
            return f"_I {ending.reason}; here is what I have:_\n\n{so_far}"
        case _:
            return f"I could not finish this: {ending.reason}"


def _finish(ending: Ending, text: str, delivered: Outcome) -> RunFinished:
    match delivered:
        case ToolResult(status="ok"):
            return RunFinished(ending.status, ending.reason, text)
        case ToolResult(text=why):
            return RunFinished("failed", f"the answer was not delivered: {why}", text)
        case _:
            return RunFinished("needs_attention", "nobody can tell whether the answer was delivered", text)
