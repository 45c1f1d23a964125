"""What a run paid for nothing, by rule and without a model: malformed calls, repeats, retries and unused results.

A call costs the output tokens that asked for it, and the input tokens that its words and its result took in each later
request. Each call has at most one reason, so the parts add up and never exceed the usage of the run.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gofer.journal import entries as e
from gofer.projections import calls as calls_projection
from gofer.projections.calls import Call
from gofer.projections.conversation import REFUSALS
from gofer.projections.examination.call_tokens import AS_TEXT, CallTokens, Spent, call_tokens
from gofer.projections.examination.unused_results import unused_results
from gofer.projections.prompted_run import PromptedRun
from gofer.projections.tool_names import known_tools, shown_tool
from gofer.values.canonical_json import encode_text

Reason = Literal["malformed", "repeats", "retries", "unused"]
REASONS: Mapping[Reason, str] = {
    "malformed": "calls that could not be made",
    "repeats": "calls that returned what they had returned before",
    "retries": "failed calls of a tool that the model called again, in the next turn or with the same arguments",
    "unused": "results of which nothing was used later",
}
"""The reasons with their meaning, in the order of precedence."""
_MALFORMED = frozenset(REFUSALS) - {"repeated"} | {"call_as_text"}


@dataclass(frozen=True, slots=True)
class Wasted:
    """The waste of a run for one reason. Tokens are whole and rounded down."""

    reason: Reason
    calls: int
    tools: Mapping[str, int]
    """The number of these calls by tool."""
    input_tokens: int
    """Tokens in requests that were not cached."""
    cached_tokens: int
    output_tokens: int
    usd: float | None
    """None if the price of an answer is unknown."""

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.cached_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Waste:
    """The waste of a run and its subagent runs."""

    parts: Sequence[Wasted]
    """The reasons that occur."""
    run_tokens: int
    """All tokens of the run and its subagent runs."""
    run_usd: float | None
    model_attempts: int
    """Requests to a model that were not answered. Providers count no tokens for them."""
    tool_attempts: int
    """Attempts of tools that were made again later. They cost no tokens, because the model was not asked."""

    @property
    def tokens(self) -> int:
        """The tokens of all reasons."""
        return sum(part.tokens for part in self.parts)

    @property
    def share(self) -> float:
        """The share of the run's tokens; 0 for a run without tokens."""
        if not self.run_tokens:
            return 0.0
        return self.tokens / self.run_tokens


def waste(run: PromptedRun) -> Waste:
    """Return the waste of a run and its subagent runs."""
    examined = [_examine(one) for one in run.with_subagents()]
    is_priced = all(one.tokens.is_priced for one in examined)
    deferred = [entry for one in run.with_subagents() for entry in _deferred(one)]
    run_usd = None
    if is_priced:
        run_usd = sum(one.tokens.total.usd for one in examined)
    return Waste(
        parts=[part for reason in REASONS if (part := _part(reason, examined, is_priced=is_priced)).calls],
        run_tokens=sum(round(one.tokens.total.tokens) for one in examined),
        run_usd=run_usd,
        model_attempts=sum(entry.call == "model" for entry in deferred),
        tool_attempts=sum(entry.call != "model" for entry in deferred),
    )


def _deferred(run: PromptedRun) -> Iterator[e.CallDeferred]:
    for recorded in run.entries:
        if isinstance(recorded.entry, e.CallDeferred):
            yield recorded.entry


@dataclass(frozen=True, slots=True)
class _Examined:
    """The calls of one run with their tokens, and the reasons of the wasted ones by call id."""

    calls: Mapping[str, Call]
    known: frozenset[str]
    """The names of tools that may be shown."""
    tokens: CallTokens
    reasons: Mapping[str, Reason]


def _examine(run: PromptedRun) -> _Examined:
    calls = calls_projection.project(run.entries).calls
    tokens = call_tokens(run)
    reasons = dict(_reasons(calls, unused_results(run.entries, calls)))
    written = AS_TEXT.partition("{")[0]
    for call in tokens.calls:
        if call.startswith(written):
            reasons[call] = "malformed"
    return _Examined(calls, known_tools(calls.values(), run.tools), tokens, reasons)


def _reasons(calls: Mapping[str, Call], unused: frozenset[str]) -> Iterator[tuple[str, Reason]]:
    """Yield the wasted calls of a model, each with its first reason."""
    made = [(call, _identity(call)) for call in calls.values() if call.turn]
    last_turns = {identity: call.turn for call, identity in made}
    turns_of_tools = {(call.turn, call.tool) for call, _ in made}
    outcomes: set[tuple[str, str]] = set()
    for call, identity in made:
        outcome = identity, call.text
        is_made_again = last_turns[identity] > call.turn or (call.turn + 1, call.tool) in turns_of_tools
        if call.status == "refused" and call.code in _MALFORMED:
            yield call.id, "malformed"
        elif call.code == "repeated" or outcome in outcomes:
            yield call.id, "repeats"
        elif call.status == "error" and is_made_again:
            yield call.id, "retries"
        elif call.id in unused:
            yield call.id, "unused"
        if call.ended_in:
            outcomes.add(outcome)


def _identity(call: Call) -> str:
    """Return a text that is equal for equal tools and arguments, however the arguments are formatted."""
    if call.arguments is None:
        return f"{call.tool} {call.asked_for}"
    return f"{call.tool} {encode_text(call.arguments)}"


def _part(reason: Reason, examined: Sequence[_Examined], *, is_priced: bool) -> Wasted:
    spent = Spent()
    tools: Counter[str] = Counter()
    for one in examined:
        for call, why in one.reasons.items():
            if why == reason:
                spent.add(one.tokens.calls.get(call, Spent()))
                tools[_tool(one, call)] += 1
    usd = None
    if is_priced:
        usd = spent.usd
    return Wasted(
        reason=reason,
        calls=tools.total(),
        tools=dict(tools),
        input_tokens=int(spent.input + spent.written),
        cached_tokens=int(spent.cached),
        output_tokens=int(spent.output),
        usd=usd,
    )


def _tool(examined: _Examined, call: str) -> str:
    if call not in examined.calls:
        return "a call written as text"
    return shown_tool(examined.calls[call].tool, examined.known)
