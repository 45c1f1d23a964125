"""The loop of a model that works through a run: project, gate, step, repeat.

New behaviour arrives as a gate, a tool, an entry or a projection, never as a branch in this loop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.engine import finish_gate, gates
from gofer.engine.compaction import ContextWindow
from gofer.engine.own_step import OwnStep
from gofer.engine.permitted_call import Permitted
from gofer.engine.results import cut
from gofer.engine.tail import tail
from gofer.engine.working_step import WorkingStep
from gofer.journal.entries import Status, ToolResult
from gofer.journal.workspace_entries import BOOKKEEPING
from gofer.models.call_forms import Offered, before_call
from gofer.models.failures import plain_reason_of, provider_error_of
from gofer.models.language_model import Refused
from gofer.projections.conversation import Conversation
from gofer.tools.definition import Provenance
from gofer.values.canonical_json import as_object
from gofer.values.errors import Cause, RunStopped
from gofer.values.messages import ToolAsk
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Loaded
from gofer.workflows.output import read_answer
from gofer.workflows.reply_template import render
from gofer.workflows.schema import Limits, Workflow

LEAST_SECONDS = 60.0
"""Shortest time of one model for one answer, even if the run has less left: less would look like an outage."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the work of a run ended, before its answer is delivered."""

    status: Status
    answer: str = ""
    """The answer; of a run that ended early, the text that the model had written by then."""
    reason: str = ""
    """The reason for lists, logs and operators."""
    notice: str = ""
    """The message to people in place of an answer."""
    output: Mapping[str, object] | None = None
    """The answer as a value; None unless the workflow has an `output`."""
    cause: Cause = ""
    """Why the run ended without its work done, for code."""
    system: str = ""
    """The external system that was the cause."""
    script_error: str = ""
    """The text of a script's error. It may hold contents, so only people see it, and lists do not."""
    plain_reason: str = ""
    """The reason for a colleague; empty when `reason` serves both readers."""


async def coordinate(step: WorkingStep, bundle: Bundle, provenance: Provenance) -> Ending:
    """Let the model decide until it answers or a limit stops it. Raises what `step` raises."""
    window = ContextWindow(bundle, step.own.services)
    conversation = step.own.conversation
    while not conversation.answered:
        stop = gates.answer(conversation, step.repertoire.tools)
        if not stop and conversation.open:
            limited = replace(step, shown=window.display_limits(step, bundle))
            stop = await _turn(limited, bundle, provenance)
        elif not stop:
            stop = await _ask(step, bundle, window)
        if stop:
            plain_reason = _with_owner(stop.plain_reason, bundle.loaded.workflow.owner)
            text = text_for_people(so_far(conversation, step.repertoire.tools), bundle.loaded.workflow)
            return Ending(stop.status, text, stop.reason, plain_reason=plain_reason)
    ended = done(conversation.answer, bundle.loaded.workflow)
    return replace(ended, answer=finish_gate.with_needs(ended.answer, step.own.workspace.plan))


def so_far(conversation: Conversation, tools: Offered) -> str:
    """Return the model's text for people before its run ended early, up to the first call written as text.

    `tools` are the tools of the run, which identify such a call.
    """
    drafts: Sequence[str] = ()
    if conversation.flaw == "call_as_text":
        drafts = conversation.drafts
    # Words before a call announce an action that never happened, so other words take precedence.
    for text in [conversation.text_so_far, *reversed(drafts)]:
        if words := before_call(text, tools):
            return words
    return ""


def stopped(step: OwnStep, error: RunStopped, loaded: Loaded | None, tools: Offered) -> Ending:
    """Return the ending of a run that an error stopped, with the model's text so far; `loaded` is None if removed."""
    owner = "the person who runs Gofer"
    if loaded is not None:
        owner = loaded.workflow.owner
    plain_reason = _with_owner(error.plain_reason, owner)
    if provider_error := provider_error_of(error):
        plain_reason = f"I could not finish this. {plain_reason_of(provider_error, owner)}"
    text = so_far(step.conversation, tools)
    if loaded is not None:
        text = text_for_people(text, loaded.workflow)
    return Ending("failed", text, str(error), plain_reason=plain_reason, cause=error.cause, system=error.system)


def _with_owner(text: str, owner: str) -> str:
    """Name the owner in a text for a colleague. `format` would fail on the braces of a quoted model."""
    return text.replace("{owner}", owner)


def done(answer: str, workflow: Workflow) -> Ending:
    """Return the ending with an accepted answer; if the workflow has an `output`, people read its fields as a text."""
    if workflow.output is None:
        return Ending("done", answer)
    return Ending("done", text_for_people(answer, workflow), output=read_answer(answer))


def text_for_people(text: str, workflow: Workflow) -> str:
    """Return the text of a model for people: the fields of its object as a text if the workflow has an `output`."""
    if workflow.output is None or not text.strip():
        return text
    try:
        value = read_answer(text)
    except ValueError:
        return text
    return render(workflow.reply_template, as_object(workflow.output), value)


def _check(step: WorkingStep, workflow: Workflow, call: str, ask: ToolAsk) -> Permitted | gates.Refused:
    """Return the first refusal of the gates, or the permitted call."""
    own = step.own
    granted = step.repertoire.tools
    return (
        gates.not_carried_out(call, own.conversation)
        or gates.repeated(call, ask, own.repetition, granted)
        or finish_gate.missing_plan(call, ask, own.workspace, workflow)
        or finish_gate.early_finish(call, ask, own, workflow, granted)
        or gates.permission(call, ask, granted)
    )


async def _ask(step: WorkingStep, bundle: Bundle, window: ContextWindow) -> gates.Stop | None:
    """Ask the model for its next answer, and note the remark that code makes about it."""
    limits = bundle.loaded.workflow.limits
    if stop := gates.model_call(step.own.progress, limits, step.own.now_ms()):
        return stop
    left = limits.minutes * 60 - step.own.progress.owned_ms(step.own.now_ms()) / 1000
    timeout = max(left, LEAST_SECONDS)
    end = _tail(step, limits, window)
    epoch = step.own.conversation.epoch
    # Compaction may use a model call, so the limit is checked again after it.
    stop = await window.make_room(step, bundle, end, timeout)
    if stop := stop or gates.model_call(step.own.progress, limits, step.own.now_ms()):
        return stop
    if step.own.conversation.epoch != epoch:
        end = _tail(step, limits, window)
    try:
        await step.ask_model(window.window, bundle.chain(), end, timeout, window.estimates(step.own, end))
    except Refused as error:
        # The provider counts otherwise than the estimate, or its window is smaller than the files say.
        if error.provider_error.failure != "too_large" or not await window.shrink(step, bundle, timeout):
            raise
        return None
    if remark := finish_gate.remark(step.own, bundle.loaded.workflow, step.repertoire.tools):
        # The remark shares the frame of the answer, which leaves no other trace in the history.
        step.own.note(remark)
    return None


def _tail(step: WorkingStep, limits: Limits, window: ContextWindow) -> str:
    return tail(step.own.progress, step.own.workspace, limits, window.usage_text(step.own))


async def _turn(step: WorkingStep, bundle: Bundle, provenance: Provenance) -> gates.Stop | None:
    """Give every open call of the model's last answer an outcome: all reads at once, then each write in order."""
    await step.settle(provenance)
    permitted: list[Permitted] = []
    for call, ask in step.own.conversation.open.items():
        match _check(step, bundle.loaded.workflow, call, ask):
            case Permitted() as allowed:
                permitted.append(allowed)
            case gates.Refused(call=refused, text=text, code=code):
                step.own.note(ToolResult(refused, "refused", cut(text), details={"code": code}))
    limits = bundle.loaded.workflow.limits
    counted = [item for item in permitted if _counts(step, item)]
    if permitted and (stop := gates.tool_calls(step.own.progress, limits, len(counted), step.own.now_ms())):
        return stop
    reads = [item for item in permitted if item.tool.at_once]
    if reads:
        await step.call_together(reads, provenance)
    for item in permitted:
        if not item.tool.at_once:
            # Checked right before the call, because the write before it may have locked its destination.
            if locked := gates.lock(item, step.own.locked):
                step.own.note(ToolResult(locked.call, "refused", locked.text, details={"code": locked.code}))
            else:
                await step.call(item, provenance)
    return None


def _counts(step: WorkingStep, item: Permitted) -> bool:
    """Return whether a call counts towards the limit; a resumed call was counted before."""
    return item.tool.name not in BOOKKEEPING and item.call not in step.own.progress.in_doubt
