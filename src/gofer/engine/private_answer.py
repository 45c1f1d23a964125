"""Messages that only the asker sees: private answers, the link to a private run, the notice of an earlier request."""

from collections.abc import Sequence
from typing import Literal, assert_never

from gofer.engine.asker import private_words
from gofer.engine.once import EARLIER_TOOL
from gofer.engine.own_step import OwnStep, PurposeCall
from gofer.engine.permitted_call import DELIVERY
from gofer.engine.source_context import thread_of
from gofer.journal.entries import ToolResult
from gofer.journal.purposes import ACTOR, DONE_BEFORE, PRIVATE_ANSWER, PRIVATE_LINK, is_own
from gofer.projections.progress import Progress
from gofer.sources.part_values import Outcome, OwnCall
from gofer.sources.source import PrivateWords
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object, as_text
from gofer.values.events import Event
from gofer.workflows.schema import Reply

PrivateWay = Literal["dm", "ephemeral"]
"""The two kinds of private answers, as workflow files name them."""
_LINK_TEXT = "_Only you see this. While I am at work, people of this conversation can follow [my progress]({url})._"


async def answer_privately(
    step: OwnStep, event: Event, words: PrivateWords, way: PrivateWay, provenance: Provenance, text: str
) -> Sequence[Outcome]:
    """Send an answer to the asker alone, in as many messages as it needs; the same text gives the same messages.

    A private message cannot be changed later and takes no files, so the answer has neither a progress message nor
    attachments.
    """
    texts = words.split(text)
    outcomes: list[Outcome] = []
    for number, part in enumerate(texts, 1):
        links = provenance
        if number < len(texts):
            links = provenance.bare
        asked = _private_call(step, event, words, way, part)
        call = PurposeCall(PRIVATE_ANSWER.format(number), asked, recorded=False, longest_wait=DELIVERY)
        outcomes.append(await step.call(call, links))
        if isinstance(outcomes[-1], ToolResult) and outcomes[-1].status != "ok":
            break
    return outcomes


def _private_call(step: OwnStep, event: Event, words: PrivateWords, way: PrivateWay, text: str) -> OwnCall:
    match way:
        case "dm":
            return words.direct(text)
        case "ephemeral":
            return words.in_place(thread_of(step, event), text)
        case _:
            assert_never(way)


async def show_link(step: OwnStep, event: Event, reply: Reply, provenance: Provenance) -> None:
    """Show the asker the link to the page of a private run; once per run, in one attempt.

    The outcome of the call is recorded and has no effect on the run. Raises Cancelled, OutOfTime.
    """
    words = private_words(event)
    if words is None or not _is_wanted(step, event, reply):
        return
    url = step.services.links.run_url(step.run)
    shown = words.in_place(thread_of(step, event), _LINK_TEXT.format(url=url))
    await step.call(PurposeCall(PRIVATE_LINK, shown, recorded=False, longest_wait=0.0, waits=False), provenance.bare)


def _is_wanted(step: OwnStep, event: Event, reply: Reply) -> bool:
    """Return whether the asker can open a page of the run, and the workflow replies in the channel."""
    # With `reply: none` Gofer writes nothing where a run began.
    if reply == "none" or not step.progress.private or not step.services.links.signs_in:
        return False
    return "channel" in event.place and _is_member(step)


def _is_member(step: OwnStep) -> bool:
    """Return whether the asker is a full member; guests cannot sign in."""
    match step.progress.outcomes.get(ACTOR):
        case ToolResult(status="ok", details={"kind": "member"}):
            return True
        case _:
            return False


def nothing_new(step: OwnStep) -> bool:
    """Return whether the run asked for writes, and earlier runs had made all of them.

    A run that asked a subagent, or that has a failed call, may have more to report.
    """
    progress = step.progress
    asked = (outcome for call, outcome in progress.outcomes.items() if not is_own(call))
    if progress.subagents or not all(isinstance(one, ToolResult) and one.status == "ok" for one in asked):
        return False
    tools = step.services.tools
    # A tool that was removed may have written, so its calls do not count as reads.
    only_read = all(name in tools and tools[name].effect == "read" for name in progress.called)
    return only_read and bool(_answered(progress))


def notice(progress: Progress) -> str:
    """Return the notice for the second asker, with links to the results of the earlier run."""
    linked = [details for result in _answered(progress) if (details := as_object(result.details)).get("url")]
    if not linked:
        return "An earlier request for this message did the same; nothing was done again."
    listed = ", ".join(dict.fromkeys(as_text(details.get("url")) for details in linked))
    if all("issue" in as_text(details.get(EARLIER_TOOL)) for details in linked):
        return f"Already filed: {listed}"
    return f"Already done: {listed}"


async def show_notice(step: OwnStep, event: Event, words: PrivateWords, provenance: Provenance) -> bool:
    """Show the notice to the asker alone; return whether it certainly arrived."""
    asked = words.in_place(thread_of(step, event), notice(step.progress))
    shown = await step.call(PurposeCall(DONE_BEFORE, asked), provenance)
    return isinstance(shown, ToolResult) and shown.status == "ok"


def _answered(progress: Progress) -> Sequence[ToolResult]:
    outcomes = progress.outcomes.values()
    return [one for one in outcomes if isinstance(one, ToolResult) and as_object(one.details).get(EARLIER_TOOL)]
