"""The link to the page of a private run, shown to the person who asked and to no other."""

from dataclasses import replace

from gofer.engine.answer_thread import thread_of
from gofer.engine.asker import private_words
from gofer.engine.own_calls import derived
from gofer.engine.step import Step
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import ACTOR, PRIVATE_LINK
from gofer.tools.definition import Provenance
from gofer.values.events import Event
from gofer.workflows.schema import Reply

_TEXT = "_Only you see this. While I am at work, people of this conversation can see [how far I am]({url})._"


async def show_link(step: Step, event: Event, reply: Reply, provenance: Provenance) -> None:
    """Show the asker where the page of a private run is; once per run, in one attempt.

    Without effect on the run: what became of the call is recorded, and nothing follows from it. Raises Cancelled,
    OutOfTime.
    """
    words = private_words(event)
    if words is None or not _is_wanted(step, event, reply):
        return
    url = step.services.links.run_url(step.run)
    shown = words.in_place(thread_of(step, event), _TEXT.format(url=url))
    bare = Provenance(workflow=provenance.workflow, prompt_url="", run=provenance.run, run_url=None)
    await step.call(replace(derived(step, PRIVATE_LINK, shown, longest=0.0), waits=False), bare)


def _is_wanted(step: Step, event: Event, reply: Reply) -> bool:
    """Return whether there is a page that the asker can open, and a place where the workflow says something."""
    # With `reply: none` nothing is written where a run began.
    if reply == "none" or not step.progress.private or not step.services.links.signs_in:
        return False
    return "channel" in event.place and _is_member(step)


def _is_member(step: Step) -> bool:
    """Return whether the asker is a full member: guests do not sign in."""
    match step.progress.outcomes.get(ACTOR):
        case ToolResult(status="ok", details={"kind": "member"}):
            return True
        case _:
            return False
