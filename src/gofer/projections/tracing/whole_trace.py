"""One trace of a run and its subagent runs, from all their journals."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.child_runs import SubagentJournals
from gofer.journal.entries import Recorded
from gofer.projections import progress
from gofer.projections.tracing.spans import Span, timestamp
from gofer.projections.tracing.trace import project
from gofer.projections.waits import dated


def whole_trace(entries: Sequence[Recorded], subagents: SubagentJournals) -> Sequence[Span]:
    """Return the spans of a journal, each followed by the spans below it, and those of the same parent by their starts.

    The spans of a subagent run are below the span of the subagent.
    The span of a subagent has the reason why its run ended or cannot be read. The span of an open wait has what the run
    waits for.
    """
    spans: list[Span] = []
    for span in project(entries):
        if span.kind == "wait" and span.end is None:
            spans.append(replace(span, attributes={**span.attributes, "gofer.waits_for": _sentence_of_wait(entries)}))
            continue
        run = str(span.attributes.get("gofer.subagent.run", ""))
        spans_below = whole_trace(subagents.journals.get(run, ()), subagents)
        attributes = dict(span.attributes)
        if spans_below:
            attributes |= _reason(spans_below[0])
        if run in subagents.damaged:
            attributes["gofer.reason"] = subagents.damaged[run]
        spans += [replace(span, attributes=attributes), *_nested_spans(span, spans_below)]
    return _as_tree(spans)


def _as_tree(spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans with each one right before those below it. Calls made at once otherwise mix with their files."""
    below: dict[str | None, list[Span]] = defaultdict(list)
    for span in spans:
        below[span.parent].append(span)
    ordered: list[Span] = []
    left = below[None][::-1]
    while left:
        span = left.pop()
        ordered.append(span)
        left += reversed(below[span.id])
    return ordered


def _nested_spans(span: Span, below: Sequence[Span]) -> Sequence[Span]:
    """Return the spans of a subagent run below the span of the subagent, which stands for the run itself."""
    nested: list[Span] = []
    for child in below:
        if child.parent is None:
            continue
        parent = f"{span.id}>{child.parent}"
        if child.parent == "run":
            parent = span.id
        nested.append(replace(child, id=f"{span.id}>{child.id}", parent=parent))
    return nested


def _reason(span: Span) -> dict[str, object]:
    if "gofer.reason" not in span.attributes:
        return {}
    return {"gofer.reason": span.attributes["gofer.reason"]}


def _sentence_of_wait(entries: Sequence[Recorded]) -> str:
    """Return what a parked run waits for, and until when."""
    state = progress.project(entries)
    if state.parked is None:
        return ""
    return dated(state.parked_reason, timestamp(state.parked.until))
