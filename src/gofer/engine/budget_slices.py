"""How much of what a run has left may one of its subagents use?

A slice is reserved when the subagent begins, and what it really used is settled when it ends; so a run and all its
subagents together stay within the limits of the run, whichever of them are at work at once.
"""

from gofer.engine.gates import Stop, budget
from gofer.journal.subagent_entries import Slice
from gofer.projections.progress import Progress
from gofer.workflows.schema import Limits, SubagentLimits


def slice_of(
    progress: Progress, limits: Limits, wanted: SubagentLimits, now_ms: int, *, parts: int, kept: int
) -> Slice | Stop:
    """One of `parts` equal parts of what is left, or what the subagent wants at most; Stop when there is too little.

    `kept` model calls stay for whoever asks, so that it can say what came of it.
    """
    if stop := budget(progress, limits, now_ms):
        return stop
    reserved = progress.reserved()
    calls = limits.llm_calls - progress.llm_calls - reserved.llm_calls
    if calls <= kept:
        return Stop(f"stopped after {limits.llm_calls} model calls")
    used = progress.usage.input_tokens + progress.usage.output_tokens + reserved.tokens
    tokens, usd = limits.tokens - used, _usd_left(progress, limits) - reserved.usd
    if tokens < parts or usd <= 0:
        return Stop("stopped: what is left is reserved for subagents that are at work")
    tools = max(0, limits.tool_calls - progress.tool_calls - reserved.tool_calls)
    minutes = limits.minutes - progress.owned_ms(now_ms) / 60_000
    return Slice(
        llm_calls=min(wanted.llm_calls, max(1, calls // parts)),
        tool_calls=min(wanted.tool_calls, tools // parts),
        tokens=min(wanted.tokens, tokens // parts),
        usd=min(wanted.usd, usd / parts),
        # They are at work at the same time.
        minutes=min(wanted.minutes, minutes),
    )


def limits_of(part: Slice) -> Limits:
    """A slice as the limits of a run."""
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
    allowed = started.usd_left if started is not None else None
    return own if allowed is None else min(own, allowed - spent)
