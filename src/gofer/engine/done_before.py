"""The notice to a second person who asks for what an earlier run did for the same message."""

from collections.abc import Sequence

from gofer.engine.answer_thread import thread_of
from gofer.engine.own_calls import permitted
from gofer.engine.step import Step
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import DONE_BEFORE, is_own
from gofer.projections.progress import Progress
from gofer.sources.source import PrivateWords
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text
from gofer.values.events import Event

MARK = "done_before"
"""The detail of a call's result that an earlier run's journal answered: the name of the tool."""


def nothing_new(step: Step) -> bool:
    """Return whether the run asked for writes, and an earlier run had made every one of them.

    A run that asked a subagent, or one of whose calls failed, may have more to say.
    """
    progress = step.progress
    asked = (outcome for call, outcome in progress.outcomes.items() if not is_own(call))
    if progress.subagents or not all(isinstance(one, ToolResult) and one.status == "ok" for one in asked):
        return False
    tools = step.services.tools
    # Of a tool that is gone by now nothing is known: it may have written.
    only_read = all(name in tools and tools[name].effect == "read" for name in progress.called)
    return only_read and bool(_answered(progress))


def notice(progress: Progress) -> str:
    """Return what the second person reads, with the links of what there is."""
    linked = [details for result in _answered(progress) if (details := as_object(result.details)).get("url")]
    if not linked:
        return "An earlier request for this message did the same; nothing was done again."
    listed = ", ".join(dict.fromkeys(as_text(details.get("url")) for details in linked))
    if all("issue" in as_text(details.get(MARK)) for details in linked):
        return f"Already filed: {listed}"
    return f"Already done: {listed}"


async def tell(step: Step, event: Event, words: PrivateWords, provenance: Provenance) -> bool:
    """Show the notice to the person who asked, and to no other; return whether it certainly arrived."""
    asked = words.in_place(thread_of(step, event), notice(step.progress))
    shown = await step.call(permitted(step, DONE_BEFORE, asked), provenance)
    return isinstance(shown, ToolResult) and shown.status == "ok"


def _answered(progress: Progress) -> Sequence[ToolResult]:
    outcomes = progress.outcomes.values()
    return [one for one in outcomes if isinstance(one, ToolResult) and as_object(one.details).get(MARK)]
