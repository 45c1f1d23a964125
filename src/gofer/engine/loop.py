"""How does a model work through a run? Project, gate, step, repeat.

New behaviour arrives as a gate, a tool, an entry or a projection, never as a branch in this loop.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gofer.engine import finish_gate, gates
from gofer.engine.context_window import View
from gofer.engine.results import cut
from gofer.engine.step import Permitted, Step
from gofer.engine.tail import tail
from gofer.journal.entries import Status, ToolResult
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.models.failures import said_of, told_of
from gofer.models.written_calls import before_call
from gofer.tools.definition import AnyTool, Provenance, Repertoire
from gofer.values.canonical_json import as_object
from gofer.values.errors import Cause, RunStopped
from gofer.values.messages import ToolAsk
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.output import read_answer
from gofer.workflows.reply_template import render
from gofer.workflows.schema import Workflow

MODEL_SECONDS = 300.0
"""How long one model may take for one answer at most."""
LEAST_SECONDS = 60.0
"""How long a model is given at least, however little the run has left: less would look as if it were not there."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the work of a run ended, before its answer is delivered."""

    status: Status
    answer: str = ""
    """What it has to show: the answer, or of work that ended early what there was by then."""
    reason: str = ""
    """For lists, logs and whoever runs Gofer."""
    notice: str = ""
    """What people are told instead of an answer."""
    output: Mapping[str, object] | None = None
    """The answer as a value, where the workflow asks for one."""
    cause: Cause = ""
    """Why it ended without its work done, for code."""
    system: str = ""
    """The system outside that was the cause."""
    said: str = ""
    """Of a failed one: words of a script that belong to the reason, for people only."""
    told: str = ""
    """The reason as a colleague reads it, where those are other sentences."""


async def coordinate(step: Step, bundle: Bundle, provenance: Provenance) -> Ending:
    """Lets the model decide until it answers or a limit stops it. Raises what `step` raises."""
    granted = step.services.granted(bundle.loaded.workflow, bundle.loaded.skills)
    required = frozenset(bundle.loaded.workflow.skills.required)
    step.repertoire = Repertoire(granted, bundle.loaded.skills, required)
    view = View(bundle)
    while not step.conversation.answered:
        stop = gates.answer(step.conversation)
        if not stop and step.conversation.open:
            step.shown = view.share(step, bundle)
            stop = await _turn(step, bundle, granted, provenance)
        elif not stop:
            stop = await _ask(step, bundle, view)
        if stop:
            told = _with_owner(stop.told, bundle.loaded.workflow.owner)
            written = as_people_read(so_far(step), bundle.loaded.workflow)
            return Ending(stop.status, written, stop.reason, told=told)
    ended = done(step.conversation.answer, bundle.loaded.workflow)
    return replace(ended, answer=finish_gate.with_needs(ended.answer, step.workspace.plan))


def so_far(step: Step) -> str:
    """Return what the model wrote for people before its work ended early, up to the first call written as text."""
    conversation = step.conversation
    written = [*conversation.drafts] * (conversation.flaw == "call_as_text")
    # Words before a call announce what never happened, so that they come last.
    for text in [conversation.so_far, *reversed(written)]:
        if words := before_call(text, step.repertoire.tools):
            return words
    return ""


def stopped(step: Step, error: RunStopped, loaded: Loaded | None) -> Ending:
    """The end of a run that cannot go on, with what its model wrote before; None when its workflow was taken away."""
    owner = "the people who run Gofer"
    if loaded is not None:
        owner = loaded.workflow.owner
    told = _with_owner(error.told, owner)
    if said := said_of(error):
        told = f"I could not finish this. {told_of(said, owner)}"
    written = so_far(step)
    if loaded is not None:
        written = as_people_read(written, loaded.workflow)
    return Ending("failed", written, str(error), told=told, cause=error.cause, system=error.system)


def _with_owner(told: str, owner: str) -> str:
    """Name the owner in a sentence for a colleague; one that quotes a model may hold any other braces."""
    return told.replace("{owner}", owner)


def done(answer: str, workflow: Workflow) -> Ending:
    """Return the end with an answer that passed; of one with an `output` people read a text made of its fields."""
    if workflow.output is None:
        return Ending("done", answer)
    return Ending("done", as_people_read(answer, workflow), output=read_answer(answer))


def as_people_read(written: str, workflow: Workflow) -> str:
    """Return what a model wrote as people read it: the fields of an object where the workflow has an `output`."""
    if workflow.output is None or not written.strip():
        return written
    try:
        value = read_answer(written)
    except ValueError:
        return written
    return render(workflow.reply_template, as_object(workflow.output), value)


def _gated(
    step: Step, workflow: Workflow, call: str, ask: ToolAsk, granted: Mapping[str, AnyTool]
) -> Permitted | gates.Refused:
    """What the gates make of one call, asked one after the other."""
    return (
        gates.uncarried(call, step.conversation)
        or gates.repeated(call, ask, step.repetition)
        or finish_gate.unplanned(call, ask, step.workspace, workflow)
        or finish_gate.finishing(call, ask, step.conversation, step.workspace, workflow, granted)
        or gates.permission(call, ask, granted)
    )


async def _ask(step: Step, bundle: Bundle, view: View) -> gates.Stop | None:
    """Asks the model what comes next."""
    limits = bundle.loaded.workflow.limits
    if stop := gates.model_call(step.progress, limits, step.now_ms()):
        return stop
    left = limits.minutes * 60 - step.progress.owned_ms(step.now_ms()) / 1000
    timeout = min(MODEL_SECONDS, max(left, LEAST_SECONDS))
    # Making room may cost a call of its own.
    stop = await view.make_room(step, bundle, _tail(step, bundle, view), timeout)
    if stop := stop or gates.model_call(step.progress, limits, step.now_ms()):
        return stop
    end = _tail(step, bundle, view)
    await step.ask_model(view.window, bundle.chain(), end, timeout, view.weigher(step, bundle, end))
    if said := finish_gate.remark(step.conversation, step.workspace, bundle.loaded.workflow, step.repertoire.tools):
        # In the frame of the answer: it leaves no other trace in the history.
        step.note(said)
    return None


def _tail(step: Step, bundle: Bundle, view: View) -> str:
    return tail(step.progress, step.workspace, bundle.loaded.workflow.limits, view.told(step, bundle))


async def _turn(
    step: Step, bundle: Bundle, granted: Mapping[str, AnyTool], provenance: Provenance
) -> gates.Stop | None:
    """Gives every open call of the model's last answer an outcome: reads at once, then each write in order."""
    await step.settle(granted, provenance)
    permitted: list[Permitted] = []
    for call, ask in step.conversation.open.items():
        match _gated(step, bundle.loaded.workflow, call, ask, granted):
            case Permitted() as allowed:
                permitted.append(allowed)
            case gates.Refused(call=refused, text=text, code=code):
                step.note(ToolResult(refused, "refused", cut(text), details={"code": code} if code else None))
    limits, counted = bundle.loaded.workflow.limits, [item for item in permitted if _counts(step, item)]
    if permitted and (stop := gates.tool_calls(step.progress, limits, len(counted), step.now_ms())):
        return stop
    reads = [item for item in permitted if item.tool.at_once]
    if reads:
        await step.call_together(reads, provenance)
    for item in permitted:
        if not item.tool.at_once:
            # Asked again: the write before this one may have locked its destination.
            if locked := gates.lock(item, step.locked):
                step.note(ToolResult(locked.call, "refused", locked.text))
            else:
                await step.call(item, provenance)
    return None


def _counts(step: Step, item: Permitted) -> bool:
    """Whether a call is to be counted; one that goes on was."""
    return item.tool.name not in BOOKKEEPING and item.call not in step.progress.in_doubt
