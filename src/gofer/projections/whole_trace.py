"""One trace of a run and its subagent runs, from all their journals."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.child_runs import SubagentJournals
from gofer.journal.entries import Recorded
from gofer.projections import progress
from gofer.projections.trace import Span, project, timestamp
from gofer.projections.waits import dated


def whole_trace(entries: Sequence[Recorded], subagents: SubagentJournals) -> Sequence[Span]:
    """Return the spans of a journal, with the spans of each subagent run below the span of the subagent.

    The span of a subagent has the reason why its run ended, waits or cannot be read. The span of a parked run has what
    the run waits for.
    """
    spans: list[Span] = []
    for span in project(entries):
        if span.parent is None:
            spans.append(replace(span, attributes={**span.attributes, **_waits(entries)}))
            continue
        run = str(span.attributes.get("gofer.subagent.run", ""))
        spans_below = whole_trace(subagents.journals.get(run, ()), subagents)
        attributes = dict(span.attributes)
        if spans_below:
            root = spans_below[0].attributes
            attributes |= {name: root[name] for name in ("gofer.reason", "gofer.waits_for") if name in root}
        if run in subagents.damaged:
            attributes["gofer.reason"] = subagents.damaged[run]
        spans += [replace(span, attributes=attributes), *_nested_spans(span, spans_below)]
    return spans


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


def _waits(entries: Sequence[Recorded]) -> dict[str, object]:
    """Return what a parked run waits for, as an attribute; empty for any other run."""
    state = progress.project(entries)
    if state.parked is None or state.finished is not None:
        return {}
    return {"gofer.waits_for": dated(state.parked_reason, timestamp(state.parked.until))}
