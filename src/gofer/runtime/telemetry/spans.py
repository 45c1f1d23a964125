"""The OpenTelemetry spans of a run: those of its trace, by the conventions for generative AI.

The run is an `invoke_workflow`; below it stand a `chat` for each time a model was asked, an `execute_tool` for each
call, and an `invoke_agent` for each subagent: with a `chat` of its own, or with all that stands in the journal of its
run, where it has one. What was said is named by the addresses of its
entries; the words themselves are added where an operator asked for them (`runtime/telemetry/contents.py`). A reason or
a summary is a sentence that may quote, so it counts as words.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gofer.journal.entries import Recorded, RunAccepted
from gofer.journal.purposes import is_own
from gofer.projections import trace
from gofer.projections.script_replay import is_of_a_script
from gofer.projections.trace import Span
from gofer.runtime.telemetry.contents import contents
from gofer.values.canonical_json import as_list

Value = str | bool | int | float | Sequence[str]

ROOT = "1.0"
"""Address of the claim, with which every journal begins: the span of the run itself."""
PROVIDER = "openai"
"""The format that models are spoken to in; the endpoint may belong to another provider."""
FINISHED = frozenset({"stop", "tool_calls", "length", "content_filter", "refusal"})
"""Reasons for stopping that are exported as they are."""
_CODE = re.compile(r"[a-z0-9_.-]{1,64}")
"""What a vendor's reason for a refusal looks like; anything longer may be a sentence."""
_TYPED = (
    "gen_ai.request.model",
    "gen_ai.request.temperature",
    "gen_ai.request.seed",
    "gen_ai.request.max_tokens",
    "gen_ai.response.model",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "gofer.bundle",
    "gofer.cost_usd",
    "gofer.effect",
    "gofer.endpoint",
    "gofer.event.kind",
    "gofer.llm_calls",
    "gofer.tool_calls",
    "gofer.waited_ms",
    "gofer.prompt.through",
    "gofer.context.window",
    "gofer.context.expected",
    "gofer.context.system",
    "gofer.context.tools",
    "gofer.context.skills",
    "gofer.context.files",
    "gofer.context.history",
    "gofer.context.tail",
    "gofer.compacted.turns",
    "gofer.compacted.by",
)
"""Attributes of a trace that hold names, ids and numbers only."""
_SENTENCES = ("gofer.reason", "gofer.summary", "gofer.deferred", "gofer.cancelled_by", "gofer.approval.by")
"""Attributes of a trace that hold what people or vendors may have said."""
_ERRORS = {
    "failed": "failed",
    "needs_attention": "needs_attention",
    "error": "_OTHER",
    "refused": "refused",
    "unknown": "unknown_outcome",
    "deferred": "unavailable",
}
"""Statuses that are errors, and the `error.type` of one that has no better."""
TRACE_BYTES = 16
SPAN_BYTES = 8


@dataclass(frozen=True, slots=True)
class Exported:
    """One span as OpenTelemetry has it. Times are unix milliseconds."""

    trace: bytes
    id: bytes
    parent: bytes
    """Empty for the root."""
    name: str
    start: int
    end: int
    client: bool
    """Return whether a system outside was asked: kind CLIENT; else INTERNAL."""
    attributes: Mapping[str, Value]
    error: str = ""
    """What the status says of an error: its type, or the sentence; empty when it went well."""
    linked: Sequence[tuple[bytes, bytes]] = field(default_factory=tuple[tuple[bytes, bytes], ...])
    """Trace and span of runs that this one goes on from."""


def exported(
    run: str,
    journal: Sequence[Recorded],
    below: Mapping[str, Sequence[Recorded]] | None = None,
    *,
    full: bool = False,
    base_url: str = "",
    conversation: str = "",
) -> Sequence[Exported]:
    """The spans of a run that ended, the root first; with what was said only when `full`.

    `below` has the journals of subagents by their runs, `base_url` is where people look at runs, `conversation` the
    token that its row has. Whether a run may be exported at all is decided before.
    """
    made = _Tree(trace_id(run), below or {}, full).of(run, journal, _common(run, journal, conversation))
    return [_root(run, made[0], trace.project(journal), base_url), *made[1:]]


@dataclass(frozen=True, slots=True)
class _Tree:
    """A run with all that stands below it, while its spans are made."""

    trace: bytes
    below: Mapping[str, Sequence[Recorded]]
    full: bool

    def of(
        self, run: str, journal: Sequence[Recorded], common: Mapping[str, Value], above: bytes = b""
    ) -> list[Exported]:
        """The spans of one journal; of a subagent's those `above` whose span they stand, which stands for its run."""
        said = contents(journal) if self.full else {}
        made = list[Exported]()
        for span in trace.project(journal):
            parent = b""
            if span.parent is not None:
                parent = above or span_id(run, ROOT)
            elif above:
                continue
            one = replace(_span(run, span, journal[-1].at, common), trace=self.trace, parent=parent)
            if self.full:
                words = {**said.get(span.began_in, {}), **_sentences(span)}
                one = replace(one, attributes={**one.attributes, **words})
            if _is_agent(span):
                made += self._subagent(run, span, one, common)
            else:
                made.append(one)
        return made

    def _subagent(self, run: str, span: Span, one: Exported, common: Mapping[str, Value]) -> list[Exported]:
        """A subagent and what it did; tokens and costs are of its exchanges, so that they count once."""
        child = str(span.attributes.get("gofer.subagent.run", ""))
        if not child:
            return _question(run, span, one)
        if not (journal := self.below.get(child, ())):
            # What it used is told nowhere else.
            return [one]
        named = {**common, "gofer.run.id": child, "gen_ai.agent.name": one.attributes["gen_ai.agent.name"]}
        return [_totalled(one), *self.of(child, journal, named, one.id)]


def _common(run: str, journal: Sequence[Recorded], conversation: str) -> dict[str, Value]:
    """What every span of a run says, so that it is found by any of them."""
    common: dict[str, Value] = {"gofer.run.id": run}
    if conversation:
        session = session_id(conversation)
        common |= {"gen_ai.conversation.id": session, "session.id": session}
    match journal[0].entry:
        case RunAccepted(workflow=workflow):
            return {**common, "gen_ai.agent.name": workflow}
        case _:
            return common


def _span(run: str, span: Span, last: int, common: Mapping[str, Value]) -> Exported:
    attributes = {**common, **_typed(span), "gofer.status": span.status, "gofer.entry": span.began_in}
    if span.ended_in:
        attributes["gofer.outcome.entry"] = span.ended_in
    error = _error(span)
    if error:
        attributes["error.type"] = error
    end = last
    if span.end is not None:
        end = span.end
    client = span.kind == "llm"
    own = span_id(run, span.began_in)
    return Exported(
        trace=trace_id(run),
        id=own,
        parent=b"",
        name=_name(span),
        start=span.start,
        end=max(span.start, end),
        client=client,
        attributes=attributes,
        error=error,
    )


def _name(span: Span) -> str:
    match span.kind:
        case "run":
            return f"invoke_workflow {span.name}"
        case "tool":
            return f"execute_tool {span.attributes.get('gen_ai.tool.name', span.name)}"
        case "llm" | "agent" if _is_agent(span):
            return f"invoke_agent {span.attributes['gen_ai.agent.name']}"
        case _:
            return span.name


def _typed(span: Span) -> dict[str, Value]:
    known: dict[str, Value] = {}
    for name in _TYPED:
        value = span.attributes.get(name)
        if isinstance(value, str | int | float):
            known[name] = value
    match span.kind:
        case "run":
            return {**known, "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": span.name}
        case "llm":
            if _is_agent(span):
                known["gen_ai.agent.name"] = str(span.attributes["gen_ai.agent.name"])
            return {**known, **_asked(span)}
        case "agent":
            own = {name: str(span.attributes[name]) for name in ("gen_ai.agent.name", "gofer.subagent.run")}
            return {**known, **own, "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": PROVIDER}
        case "tool":
            return {"gen_ai.tool.type": "function", **known, "gen_ai.operation.name": "execute_tool"}
        case _:
            # Not by the name that makes others count it as a call.
            if "gen_ai.tool.name" in known:
                known["gofer.approval.tool"] = known.pop("gen_ai.tool.name")
            return known


def _asked(span: Span) -> dict[str, Value]:
    """What is said of an exchange with a model."""
    asked: dict[str, Value] = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": PROVIDER}
    if reasons := as_list(span.attributes.get("gen_ai.response.finish_reasons")):
        asked["gen_ai.response.finish_reasons"] = [it if it in FINISHED else "other" for it in map(str, reasons)]
    cost = span.attributes.get("gofer.cost_usd")
    # The conventions have no name for it yet; this is the one that Langfuse and others read.
    if isinstance(cost, int | float):
        asked["gen_ai.usage.cost"] = cost
    return asked


def _error(span: Span) -> str:
    fallback = _ERRORS.get(span.status, "")
    code = span.attributes.get("error.type")
    if fallback and isinstance(code, str) and _CODE.fullmatch(code):
        return code
    return fallback


def _sentences(span: Span) -> dict[str, Value]:
    return {name: str(span.attributes[name]) for name in _SENTENCES if name in span.attributes}


def _is_agent(span: Span) -> bool:
    return span.attributes.get("gen_ai.operation.name") == "invoke_agent"


def _question(run: str, span: Span, one: Exported) -> list[Exported]:
    """A subagent that is asked one question, and its exchange with the model."""
    of_model = ("gen_ai.request.", "gen_ai.response.", "gen_ai.usage.", "gofer.cost_usd")
    attributes = {name: value for name, value in one.attributes.items() if not name.startswith(of_model)}
    agent = replace(one, client=False, attributes={**attributes, "gen_ai.operation.name": "invoke_agent"})
    model = f"chat {span.attributes.get('gen_ai.request.model', '')}"
    return [agent, replace(one, id=span_id(run, f"{span.began_in} chat"), parent=one.id, name=model)]


def _totalled(one: Exported) -> Exported:
    """A span with what all below it used under names of our own, so that no reader adds it up twice."""
    named = {name.replace("gen_ai.usage.", "gofer.usage."): value for name, value in one.attributes.items()}
    return replace(one, attributes={name: it for name, it in named.items() if not name.startswith("gen_ai.response.")})


def _calls(span: Span, name: str) -> int:
    """How many calls a span stands for: those of a subagent, or one."""
    found = span.attributes.get(name)
    if isinstance(found, int):
        return found
    return 1


def _tool_calls(span: Span) -> int:
    """Calls of tools that count; a model's call of a subagent and those below it do."""
    below = _count(span, "gofer.tool_calls")
    # A model asks for a subagent with a call of a tool, a script does not.
    asked = span.kind == "tool" or (span.kind == "agent" and not is_of_a_script(span.id))
    if asked and not is_own(span.id):
        return below + 1
    return below


def _root(run: str, root: Exported, spans: Sequence[Span], base_url: str) -> Exported:
    """The run with what all of it used; under names of our own, so that no reader adds it up twice."""
    asked = [span for span in spans if span.kind in ("llm", "agent")]
    used: dict[str, Value] = {
        "gofer.usage.input_tokens": sum(_count(span, "gen_ai.usage.input_tokens") for span in asked),
        "gofer.usage.output_tokens": sum(_count(span, "gen_ai.usage.output_tokens") for span in asked),
        "gofer.llm_calls": sum(_calls(span, "gofer.llm_calls") for span in asked),
        "gofer.tool_calls": sum(_tool_calls(span) for span in spans),
    }
    costs = [span.attributes.get("gofer.cost_usd") for span in asked if span.status == "ok"]
    known = [cost for cost in costs if isinstance(cost, int | float)]
    if len(known) == len(costs):
        used["gofer.cost_usd"] = float(sum(known))
    if base_url:
        used["gofer.run.url"] = f"{base_url}/runs/{run}"
    earlier = str(spans[0].attributes.get("gofer.continues", ""))
    linked: Sequence[tuple[bytes, bytes]] = ()
    if earlier:
        linked = ((trace_id(earlier), span_id(earlier, ROOT)),)
    return replace(root, attributes={**root.attributes, **used}, linked=linked)


def _count(span: Span, name: str) -> int:
    value = span.attributes.get(name)
    if isinstance(value, int):
        return value
    return 0


def trace_id(run: str) -> bytes:
    """The 16 bytes that name the trace of a run."""
    return hashlib.sha256(f"gofer trace {run}".encode()).digest()[:TRACE_BYTES]


def span_id(run: str, address: str) -> bytes:
    """The 8 bytes that name the span that begins with the entry at an address."""
    return hashlib.sha256(f"gofer span {run} {address}".encode()).digest()[:SPAN_BYTES]


def session_id(conversation: str) -> str:
    """Return the name of a conversation outside, of the token that rows have for it."""
    return hashlib.sha256(f"gofer conversation {conversation}".encode()).hexdigest()[:32]
