"""The OpenTelemetry spans of a run, made from its trace by the conventions for generative AI.

Each span of the trace is one exported span. The run is an `invoke_workflow`. Below it are a `chat` for each attempt of
a model, an `execute_tool` for each tool call, and an `invoke_agent` for each subagent: with a `chat` below it, or with
the spans of its own run. A span has the addresses of its entries. Texts are added only if the operator asked for them
(`runtime/telemetry/contents.py`). A reason or a summary may quote, so it counts as text.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from gofer.journal.entries import FollowUp, Recorded, RunAccepted, RunGraded
from gofer.journal.grade_entries import Grade
from gofer.journal.purposes import is_own
from gofer.projections.script_replay import is_of_a_script
from gofer.projections.tracing import trace
from gofer.projections.tracing.evaluation_events import EXPLANATION, explanation
from gofer.projections.tracing.span_ids import ROOT, session_id, span_id, subagent_chat_id, trace_id
from gofer.projections.tracing.spans import RUN, Span
from gofer.runtime.telemetry.contents import contents
from gofer.runtime.telemetry.exported_span import Exported, ExportedEvent, Value
from gofer.values.canonical_json import as_list
from gofer.values.events import checked_traceparent

PROVIDER = "openai"
"""The wire format of the models; another provider may serve the endpoint."""
FINISHED = frozenset({"stop", "tool_calls", "length", "content_filter", "refusal"})
"""The finish reasons that are exported unchanged."""
_CODE = re.compile(r"[a-z0-9_.-]{1,64}")
"""The form of a vendor's error code; anything longer may be a sentence."""
_TYPED = (
    "gen_ai.request.model",
    "gen_ai.request.temperature",
    "gen_ai.request.seed",
    "gen_ai.request.max_tokens",
    "gen_ai.response.model",
    "openai.response.system_fingerprint",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "gofer.bundle",
    "gofer.cost_usd",
    "gofer.effect",
    "gofer.eval.case",
    "gofer.eval.evidence",
    "gofer.eval.number",
    "gofer.eval.outcome",
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
    "gofer.compacted.by",
    "gofer.compacted.tokens_before",
    "gofer.compacted.tokens_after",
    "gofer.file.id",
    "gofer.file.type",
    "gofer.file.size",
    "gofer.file.unit",
    "gofer.file.start",
    "gofer.file.stop",
    "gofer.wait.reason",
    "gofer.wait.until",
)
"""The attributes of a trace that hold names, ids and numbers only."""
_SENTENCES = (
    *("gofer.reason", "gofer.summary", "gofer.deferred", "gofer.cancelled_by"),
    *("gofer.approval.by", "gofer.rule", "gofer.readers"),
)
"""The attributes of a trace that may hold texts of people or vendors."""
_ERRORS = {
    "failed": "failed",
    "needs_attention": "needs_attention",
    "error": "_OTHER",
    "refused": "refused",
    "unknown": "unknown_outcome",
    "deferred": "unavailable",
}
"""The statuses that are errors, with the `error.type` of an error without a code."""
_BEFORE_THE_NAME = frozenset({"", "unknown_tool", "too_many_calls", "cut_call", "deprecated", "no_plan"})
"""The reasons for which Gofer refuses a call before it knows that the tool exists. Its name is then a model's text."""
_NO_NAME = "(refused)"
_AGENT = ("gen_ai.agent.name", "gofer.subagent.run")


def exported(
    run: str,
    journal: Sequence[Recorded],
    subagents: Mapping[str, Sequence[Recorded]] | None = None,
    *,
    full: bool = False,
    base_url: str = "",
    conversation: str = "",
) -> Sequence[Exported]:
    """Return the spans of a run that ended, the root first; with texts only if `full`.

    `subagents` are the journals of its subagents by run, `base_url` is the address of the pages of runs, and
    `conversation` is the token in the row of the run. The caller decides whether the run may be exported.
    """
    spans = _Tree(trace_id(run), subagents or {}, full).of(run, journal, _common(run, journal, conversation))
    root = _root(run, spans[0], trace.project(journal), base_url)
    return [replace(root, linked=(*root.linked, *_callers(journal))), *spans[1:]]


def _callers(journal: Sequence[Recorded]) -> Sequence[tuple[bytes, bytes]]:
    """Return the span that the caller of a webhook named in `traceparent`."""
    match journal[0].entry:
        case RunAccepted(event=event) if caller := checked_traceparent(event.place.get("traceparent", "")):
            _, traced, spanned, _ = caller.split("-")
            return [(bytes.fromhex(traced), bytes.fromhex(spanned))]
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class _Tree:
    """A run and its subagent runs, while their spans are made."""

    trace: bytes
    subagents: Mapping[str, Sequence[Recorded]]
    full: bool

    def of(
        self, run: str, journal: Sequence[Recorded], common: Mapping[str, Value], above: bytes = b""
    ) -> list[Exported]:
        """Return the spans of one journal.

        For a subagent run, `above` is the span of the subagent, which replaces the root of the run.
        """
        texts = contents(journal) if self.full else {}
        spans = list[Exported]()
        # The id that stands for each span as a parent. A step stands below the caller of its model, as a sibling.
        parents: dict[str, bytes] = {}
        # Grades, feedback and the review are given after the end of a run, and open no span.
        last = max(recorded.at for recorded in journal if not isinstance(recorded.entry, RunGraded | FollowUp))
        for span in trace.project(journal):
            parent = b""
            if span.parent is not None:
                parent = parents[span.parent]
            exported_span = replace(_span(run, span, last, common), trace=self.trace, parent=parent)
            match span.kind:
                case "run" if above:
                    parents[span.id] = above
                    continue
                case "llm":
                    parents[span.id] = parent
                case _:
                    parents[span.id] = exported_span.id
            if self.full:
                texts_of_span = {**texts.get(span.began_in, {}), **_sentences(span)}
                exported_span = replace(
                    exported_span,
                    attributes={**exported_span.attributes, **texts_of_span},
                    events=_with_explanations(exported_span.events, journal),
                )
            if child := str(span.attributes.get("gofer.subagent.run", "")):
                spans += self._subagent(child, exported_span, common)
            else:
                spans.append(exported_span)
        return spans

    def _subagent(self, child: str, agent: Exported, common: Mapping[str, Value]) -> list[Exported]:
        """Return the spans of a subagent with its own run. Only its model calls have tokens, which then count once."""
        journal = self.subagents.get(child, ())
        if not journal:
            # The journal of the run is missing, so its usage is only in this span.
            return [agent]
        named = {**common, "gofer.run.id": child, "gen_ai.agent.name": agent.attributes["gen_ai.agent.name"]}
        return [_with_own_usage_names(agent), *self.of(child, journal, named, agent.id)]


def _common(run: str, journal: Sequence[Recorded], conversation: str) -> dict[str, Value]:
    """Return the attributes that all spans of a run have, so that a search for any of them finds the run."""
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
    return Exported(
        trace=trace_id(run),
        id=_id(run, span),
        parent=b"",
        name=_name(span),
        start=span.start,
        end=max(span.start, end),
        client=client,
        attributes=attributes,
        error=error,
        events=[ExportedEvent(event.name, event.at, _values(event.attributes)) for event in span.events],
    )


def _values(attributes: Mapping[str, object]) -> Mapping[str, Value]:
    return {name: value for name, value in attributes.items() if isinstance(value, str | int | float)}


def _with_explanations(events: Sequence[ExportedEvent], journal: Sequence[Recorded]) -> Sequence[ExportedEvent]:
    """Return the events of a run, which are one for each grade, with the texts of the grades."""
    given = [grade for one in journal if isinstance(one.entry, RunGraded) for grade in one.entry.grades]
    return [
        replace(event, attributes={**event.attributes, **_explained(grade)})
        for event, grade in zip(events, given, strict=False)
    ]


def _explained(grade: Grade) -> Mapping[str, Value]:
    said = explanation(grade)
    if not said:
        return {}
    return {EXPLANATION: said}


def _id(run: str, span: Span) -> bytes:
    if span.kind == "llm" and span.parent != RUN:
        return subagent_chat_id(run, span.began_in)
    return span_id(run, span.began_in)


def _name(span: Span) -> str:
    match span.kind:
        case "run":
            return f"invoke_workflow {span.name}"
        case "tool":
            return f"execute_tool {_tool(span)}"
        case "agent":
            return f"invoke_agent {span.attributes['gen_ai.agent.name']}"
        case "llm" | "approval" | "file" | "wait" | "compaction" | "error":
            return span.name
        case _:
            assert_never(span.kind)


def _tool(span: Span) -> str:
    """Return the name of a tool. A name that the model may have made up counts as text."""
    code = str(span.attributes.get("error.type", ""))
    if span.status == "refused" and code in _BEFORE_THE_NAME and not is_of_a_script(span.id):
        return _NO_NAME
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
            return {**known, **_exchange(span)}
        case "agent":
            own = {name: str(span.attributes[name]) for name in _AGENT if name in span.attributes}
            return {**known, **own, "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": PROVIDER}
        case "tool":
            operation = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
            return {**known, **operation, "gen_ai.tool.name": _tool(span)}
        case "approval":
            # With `gen_ai.tool.name` other tools would count the approval as a call.
            return {**known, "gofer.approval.tool": str(known.pop("gen_ai.tool.name", ""))}
        case "file" | "wait" | "compaction" | "error":
            return known
        case _:
            assert_never(span.kind)


def _exchange(span: Span) -> dict[str, Value]:
    """Return the attributes of a model call."""
    exchange: dict[str, Value] = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": PROVIDER}
    if reasons := as_list(span.attributes.get("gen_ai.response.finish_reasons")):
        exchange["gen_ai.response.finish_reasons"] = [_finish_reason(str(reason)) for reason in reasons]
    cost = span.attributes.get("gofer.cost_usd")
    # The conventions have no attribute for costs yet. Langfuse and others read this one.
    if isinstance(cost, int | float):
        exchange["gen_ai.usage.cost"] = cost
    return exchange


def _finish_reason(reason: str) -> str:
    if reason in FINISHED:
        return reason
    return "other"


def _error(span: Span) -> str:
    fallback = _ERRORS.get(span.status, "")
    code = span.attributes.get("error.type")
    if fallback and isinstance(code, str) and _CODE.fullmatch(code):
        return code
    return fallback


def _sentences(span: Span) -> dict[str, Value]:
    return {name: str(span.attributes[name]) for name in _SENTENCES if name in span.attributes}


def _with_own_usage_names(exported_span: Exported) -> Exported:
    """Return a span with its usage under attribute names of Gofer, so that no reader adds it to the spans below it."""
    named = {name.replace("gen_ai.usage.", "gofer.usage."): value for name, value in exported_span.attributes.items()}
    return replace(
        exported_span,
        attributes={name: value for name, value in named.items() if not name.startswith("gen_ai.response.")},
    )


def _llm_calls(span: Span) -> int:
    """Return the number of model calls of a span: one for an attempt of a model, and the calls of a subagent run."""
    if span.kind == "llm":
        return 1
    return _count(span, "gofer.llm_calls")


def _tool_calls(span: Span) -> int:
    """Return the number of tool calls of a span: a model's call of a subagent, and the calls of the subagent."""
    calls = _count(span, "gofer.tool_calls")
    # A model asks for a subagent with a tool call, a script does not.
    asked = span.kind == "tool" or (span.kind == "agent" and not is_of_a_script(span.id))
    if asked and not is_own(span.id):
        return calls + 1
    return calls


def _root(run: str, root: Exported, spans: Sequence[Span], base_url: str) -> Exported:
    """Return the span of the run with its total usage.

    Its attributes have names of Gofer, so that no reader adds them to the spans below.
    """
    asked = [span for span in spans if span.kind == "llm" or "gofer.subagent.run" in span.attributes]
    used: dict[str, Value] = {
        "gofer.usage.input_tokens": sum(_count(span, "gen_ai.usage.input_tokens") for span in asked),
        "gofer.usage.output_tokens": sum(_count(span, "gen_ai.usage.output_tokens") for span in asked),
        "gofer.llm_calls": sum(map(_llm_calls, asked)),
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
