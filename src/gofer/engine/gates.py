"""The gates of a step: budgets and permissions, decided from the journal and never from a model's claims.

Gates are plain functions of the progress so far. They await nothing and write nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from gofer.engine.permitted_call import Permitted
from gofer.journal.subagent_entries import Slice
from gofer.journal.workspace_entries import BOOKKEEPING, FINISH
from gofer.models.call_forms import Offered, before_call
from gofer.models.failures import RULES
from gofer.projections.conversation import Conversation, Flaw
from gofer.projections.progress import Progress
from gofer.projections.repetition import Repetition
from gofer.tools.argument_bounds import beyond_bounds
from gofer.tools.definition import ANYWHERE, SEARCH, AnyTool, Arguments
from gofer.tools.plan import plan_after
from gofer.values.amounts import counted
from gofer.values.errors import GoferError, ToolError
from gofer.values.events import Event
from gofer.values.messages import ToolAsk
from gofer.workflows.schema import Limits, SubagentLimits

CALLS_PER_TURN = 64
"""Tool calls of one answer that may be made; further calls are refused."""
REPETITIONS = 2
"""How often in a row the same call may return the same result before it is refused."""
DENIALS = 2
"""Calls of a run that people deny before its model may ask them about no further one."""
NOT_MADE_HERE = "not_made_here"
"""The code of a refused change of an object that no call of the run made."""
STRIKES = 3
"""Useless answers in a row that end a run."""
_ALWAYS = frozenset({"todo_read", FINISH})
"""Tools that may repeat their result: `finish` ends the run, and `todo_read` brings a model back to its plan."""
_QUOTED = 300
"""Characters of a model's refusal that people see."""
_OTHER_MODEL = "use another model"
_BETTER_MODEL = "use a model that is better at calling tools"
_LARGER = "a larger max_output_tokens helps"
_ASK_AGAIN = "Please ask again, and tell {owner} if that does not help."
_MISUSED = f"The language model did not use its tools correctly three times. {_ASK_AGAIN}"
_SILENT = f"The language model gave no answer three times. {_ASK_AGAIN}"
_SHAPELESS = f"The language model did not answer in the form that this workflow asks for three times. {_ASK_AGAIN}"
_TOO_LONG = "The answers were too long for this workflow. Please ask for less, or tell {owner}."
_FAILURES: Mapping[Flaw, tuple[str, str, str]] = {
    "": ("was empty", _OTHER_MODEL, _SILENT),
    "empty": ("was empty", _OTHER_MODEL, _SILENT),
    "cut": ("was cut off before its first word", _LARGER, _TOO_LONG),
    "cut_call": ("was cut off in the middle of a tool call", _LARGER, _TOO_LONG),
    "call_as_text": ("was a tool call written as text", _BETTER_MODEL, _MISUSED),
    "deprecated": ("called a tool in the deprecated function_call", _BETTER_MODEL, _MISUSED),
    "broken": ("called a tool with arguments that it does not take", _BETTER_MODEL, _MISUSED),
    "unknown_tool": ("called a tool that does not exist", _BETTER_MODEL, _MISUSED),
    "uncallable": ("asked for tools in a way that cannot be carried out", _BETTER_MODEL, _MISUSED),
    "unfit": (
        "did not fit the `output` schema of its workflow",
        "use a better model, or simplify the schema",
        _SHAPELESS,
    ),
}
"""By flaw: what the last answer was and what to do, both for the operator, then the text for the colleague."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused call. The model reads the reason, and the run continues."""

    call: str
    text: str
    code: str
    """The gate that refused, for code and for traces."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a run at a gate, with the result so far or as failed."""

    reason: str
    status: Literal["limited", "failed"] = "limited"
    plain_reason: str = ""
    """The text for the colleague in place of the reason, with `{owner}` for the owner of the workflow."""


class Limited(GoferError):
    """A limit stops a call of a script or a subagent."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.reason)
        self.stop = stop


def answer(conversation: Conversation, tools: Offered) -> Stop | None:
    """Return the stop after the model's last answer: a refusal, or the third useless answer in a row; else None.

    `tools` are the tools of the run, which identify a call written as text, which people do not read.
    """
    text = before_call(conversation.answer, tools).strip()[:_QUOTED]
    match conversation.flaw:
        case "refusal" if text:
            return Stop("the model refused", "failed", f"The language model declined to answer: “{text}”")
        case "refusal":
            return Stop("the model refused", "failed", "The language model declined to answer.")
        case "filtered":
            reason = "the filter of the model's provider stopped its answer; ask in other words"
            return Stop(reason, "failed", RULES["filtered"].plain_reason)
        case flaw if conversation.useless_answers >= STRIKES:
            return _useless(flaw, text)
        case _:
            return None


def _useless(flaw: Flaw, text: str) -> Stop:
    """Return the stop after the third useless answer in a row; `flaw` and `text` are those of the last answer."""
    match flaw:
        case "cut" if text:
            reason = f"stopped after {STRIKES} useless answers in a row, the last one cut off at its limit; {_LARGER}"
            return Stop(reason, plain_reason="The answer was too long for one piece. This is its beginning:")
        case "repeated":
            reason = f"stopped after {STRIKES} answers in a row that repeated the same calls, with nothing new since"
            plain_reason = "I stopped because I looked up the same thing again and again. Here is what I have:"
            return Stop(f"{reason}; {_OTHER_MODEL}", plain_reason=plain_reason)
        case "premature":
            reason = f"stopped after {STRIKES} answers in a row that came before the plan was done"
            return Stop(
                f"{reason}; {_OTHER_MODEL}", plain_reason="I stopped before my plan was done. Here is what I have:"
            )
        case _:
            what, remedy, plain_reason = _FAILURES[flaw]
            reason = f"{STRIKES} answers of the model in a row were useless: the last one {what}; {remedy}"
            return Stop(reason, "failed", f"I could not finish this. {plain_reason}")


def budget(progress: Progress, limits: Limits, now_ms: int) -> Stop | None:
    """Return the stop of a run that has reached its limit of money, tokens or minutes."""
    used = progress.usage.input_tokens + progress.usage.output_tokens
    if progress.spent_usd >= limits.usd:
        return Stop(f"stopped at {limits.usd:.2f} USD")
    started = progress.started
    if started and started.usd_left is not None and progress.spent_usd >= started.usd_left:
        return Stop(f"stopped at {started.usd_left_of}")
    if used >= limits.tokens:
        return Stop(f"stopped at {limits.tokens} tokens")
    if progress.owned_ms(now_ms) >= limits.minutes * 60_000:
        return Stop(f"stopped after {limits.minutes:g} minutes")
    return None


def model_call(progress: Progress, limits: Limits, now_ms: int) -> Stop | None:
    """Return the stop of a run that may not ask its model again."""
    if progress.llm_calls >= limits.llm_calls:
        return Stop(f"stopped after {limits.llm_calls} model calls")
    return budget(progress, limits, now_ms)


def subagent_call(progress: Progress, limits: Limits, call: str, now_ms: int) -> Stop | None:
    """Return the stop of a run that may not ask a subagent. Open questions count, and a repeated one counts once."""
    if progress.llm_calls + progress.reserved(but=call).llm_calls >= limits.llm_calls:
        return Stop(f"stopped after {limits.llm_calls} model calls")
    return budget(progress, limits, now_ms)


def tool_calls(progress: Progress, limits: Limits, calls: int, now_ms: int) -> Stop | None:
    """Return the stop of a run that has no budget left for so many tool calls."""
    if progress.tool_calls + calls > limits.tool_calls:
        return Stop(f"stopped at {limits.tool_calls} tool calls")
    return budget(progress, limits, now_ms)


def permission(call: str, ask: ToolAsk, granted: Mapping[str, AnyTool]) -> Permitted | Refused:
    """Permit a call of a granted tool with valid arguments; refuse any other call."""
    tool = granted.get(ask.tool)
    if int(call.rpartition(".")[2]) >= CALLS_PER_TURN:
        text = f"Not called: at most {CALLS_PER_TURN} tool calls fit one turn. Make this call in the next turn."
        return Refused(call, text, code="too_many_calls")
    if tool is None:
        known = f"The tools of this workflow: {', '.join(granted) or 'none'}."
        if SEARCH in granted:
            known = f"Find the right one with {SEARCH}."
        return Refused(call, f"There is no tool {ask.tool[:64]!r} here. {known}", code="unknown_tool")
    try:
        return Permitted(call, tool, arguments_of(tool, ask.arguments))
    except ToolError as error:
        return Refused(call, error.message_to_model, code=error.code or "broken")


def arguments_of(tool: AnyTool, asked: str | Mapping[str, object]) -> Arguments:
    """Return the arguments that a model or a script asks for.

    Raises ToolError for arguments that the tool does not take, or that the workflow file does not allow.
    """
    arguments: Arguments = tool.parse(asked)
    if wrong := beyond_bounds(arguments, tool.bounds):
        text = f"{tool.name} was not called: the rule `arguments` of this workflow bounds it: {wrong}."
        raise ToolError(f"{text} Call it so, or continue without it.", code="bounded")
    return arguments


def not_carried_out(call: str, conversation: Conversation) -> Refused | None:
    """Refuse a call in an answer that was cut off, or that uses the deprecated function_call."""
    match conversation.finish:
        case "length":
            text = "your answer was cut off at the limit of one answer, so this call may be incomplete."
            return Refused(call, f"Not called: {text} Write a shorter answer.", code="cut_call")
        case "function_call":
            text = "it is in the deprecated function_call, which Gofer does not carry out. Call the tool in tool_calls."
            return Refused(call, f"Not called: {text}", code="deprecated")
        case _:
            return None


def repeated(call: str, ask: ToolAsk, repetition: Repetition, granted: Mapping[str, AnyTool]) -> Refused | None:
    """Refuse a call that returned the same result repeatedly, with nothing new since, unless its tool polls.

    A plan that nothing changes is refused at once, unless another call was made since it was written.
    """
    if repetition.idle and _keeps_plan(ask, repetition, granted):
        text = "Not called: your plan is exactly this already, and you made no other call since you wrote it."
        hint = "Work on its current item, change an item, or answer with what you have."
        return Refused(call, f"{text} {hint}", code="repeated")
    if repetition.repeats(ask) < REPETITIONS or ask.tool in _ALWAYS:
        return None
    if ask.tool in granted and granted[ask.tool].polls:
        return None
    text = f"Not called: {ask.tool} returned the same for these arguments {REPETITIONS} times, with nothing new since."
    hint = "The result is above. Use other arguments, call another tool, or answer with what you have."
    return Refused(call, f"{text} {hint}", code="repeated")


def _keeps_plan(ask: ToolAsk, repetition: Repetition, granted: Mapping[str, AnyTool]) -> bool:
    if ask.tool not in granted or ask.tool not in BOOKKEEPING:
        return False
    try:
        return plan_after(granted[ask.tool].parse(ask.arguments), repetition.plan) == repetition.plan
    except ToolError:
        return False


def most(item: Permitted, most: int, *, made: int) -> Refused | None:
    """Refuse a call of a tool of which the run and its subagents made as many calls as the workflow file allows."""
    if made < most:
        return None
    tool = item.tool.name
    text = f"Not called: the rule `most` lets a run call {tool} {counted(most, 'time')}, and this run did."
    remedy = f"The owner of the workflow can allow more: `tools: [{{{tool}: {{most: {most * 2}}}}}]`."
    return Refused(item.call, f"{text} Tell the asker what is left to do. {remedy}", code="most")


def question(item: Permitted, denied: int) -> Refused | None:
    """Refuse a call that needs an approval once so many calls of the run were denied, or wait, that it asks no more."""
    if item.for_script or denied < DENIALS:
        return None
    decided = f"people denied {DENIALS} calls of this run, or have not decided yet"
    text = f"Not called: it needs approval, and {decided}, so it asks no person again."
    return Refused(item.call, f"{text} Continue without it, or tell the asker.", code="denied_before")


def change(item: Permitted, event: Event, made: Iterable[Mapping[str, object]]) -> Refused | None:
    """Refuse the change of an object that no call of the run made; `made` are the details of what its calls made."""
    if item.tool.target.changes is None:
        return None
    wanted = item.tool.target.changes(event, item.sent_arguments)
    if any(wanted.items() <= details.items() for details in made):
        return None
    text = f"Not called: {item.tool.name} changes only what this run, or a run that it continues, made by a call."
    return Refused(item.call, f"{text} Do not repeat this call.", code=NOT_MADE_HERE)


def lock(item: Permitted, locked: Collection[tuple[str, str]]) -> Refused | None:
    """Refuse a call if an earlier call of its tool to the same destination has an unknown outcome."""
    if not {(item.tool.name, item.destination), (item.tool.name, ANYWHERE)} & set(locked):
        return None
    text = f"Not called: an earlier {item.tool.name} may have happened; its outcome is unknown."
    return Refused(item.call, f"{text} Tell the asker.", code="locked")


def slice_of(
    progress: Progress, limits: Limits, subagent: SubagentLimits, now_ms: int, *, parts: int, kept: int
) -> Slice | Stop:
    """Return one of `parts` equal parts of the remaining budget, within the subagent's limits; Stop if none is left.

    The asking run needs `kept` model calls afterwards, to report the result.
    """
    if stop := budget(progress, limits, now_ms):
        return stop
    reserved = progress.reserved()
    calls = limits.llm_calls - progress.llm_calls - reserved.llm_calls
    if calls <= kept:
        return Stop(f"stopped after {limits.llm_calls} model calls")
    used = progress.usage.input_tokens + progress.usage.output_tokens + reserved.tokens
    tokens = limits.tokens - used
    usd = _usd_left(progress, limits) - reserved.usd
    if tokens < parts or usd <= 0:
        return Stop("stopped: the remaining budget is reserved for subagents that are at work")
    tools = max(0, limits.tool_calls - progress.tool_calls - reserved.tool_calls)
    minutes = limits.minutes - progress.owned_ms(now_ms) / 60_000
    return Slice(
        llm_calls=min(subagent.llm_calls, max(1, calls // parts)),
        tool_calls=min(subagent.tool_calls, tools // parts),
        tokens=min(subagent.tokens, tokens // parts),
        usd=min(subagent.usd, usd / parts),
        # Subagents work at the same time, so they do not divide the minutes.
        minutes=min(subagent.minutes, minutes),
    )


def limits_of(part: Slice) -> Limits:
    """Return a slice as the limits of a run."""
    return Limits(
        tool_calls=part.tool_calls,
        llm_calls=part.llm_calls,
        tokens=part.tokens,
        minutes=part.minutes,
        usd=part.usd,
    )


def _usd_left(progress: Progress, limits: Limits) -> float:
    started = progress.started
    spent = progress.spent_usd
    own = limits.usd - spent
    if started is None or started.usd_left is None:
        return own
    return min(own, started.usd_left - spent)
