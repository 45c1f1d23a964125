"""The link to the page of a private run, shown to the person who asked and to no other."""

from gofer.engine.asker import ASKED, LOOKED_UP
from gofer.engine.permitted_call import Permitted
from gofer.engine.slack_context import thread_of
from gofer.engine.step import Step
from gofer.journal.entries import ToolResult
from gofer.tools.definition import Provenance
from gofer.values.events import Event
from gofer.workflows.schema import Reply

LINK = "link/1"
"""Call id of showing the link."""
_TEXT = "_Only you see this. While I am at work, people of this conversation can see [how far I am]({url})._"


async def show_link(step: Step, event: Event, reply: Reply, provenance: Provenance) -> None:
    """Show the asker where the page of a private run is; once per run, in one attempt.

    Without effect on the run: what became of the call is recorded, and nothing follows from it. Raises Cancelled,
    OutOfTime.
    """
    if not _is_wanted(step, event, reply):
        return
    tool = step.services.tools["slack_post_ephemeral"]
    url = step.services.links.run_url(step.run)
    thread_ts = thread_of(step, event)
    arguments = tool.parse({"text": _TEXT.format(url=url), "thread_ts": thread_ts})
    bare = Provenance(workflow=provenance.workflow, prompt_url="", run=provenance.run, run_url=None)
    await step.call(Permitted(LINK, tool, arguments, longest=0.0, waits=False), bare)


def _is_wanted(step: Step, event: Event, reply: Reply) -> bool:
    """Return whether there is a page that the asker can open, and a place where the workflow says something."""
    # With `reply: none` nothing is written where a run began.
    if reply == "none" or not step.progress.private or not step.services.links.signs_in:
        return False
    return event.kind in ASKED and "channel" in event.place and _is_member(step)


def _is_member(step: Step) -> bool:
    """Return whether the asker is a full member: guests do not sign in."""
    match step.progress.outcomes.get(LOOKED_UP):
        case ToolResult(status="ok", details={"kind": "member"}):
            return True
        case _:
            return False
