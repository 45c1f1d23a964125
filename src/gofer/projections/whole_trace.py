"""One trace of a run and of its subagents, from all their journals."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.child_runs import SubagentJournals
from gofer.journal.entries import Recorded
from gofer.projections import progress
from gofer.projections.trace import Span, project, timestamp, within
from gofer.projections.waits import dated


def whole_trace(entries: Sequence[Recorded], below: SubagentJournals) -> Sequence[Span]:
    """Return the spans of a journal, each subagent's below its own.

    The span of a subagent says why its run ended, waits or cannot be read; that of a parked run says what it waits for.
    """
    spans: list[Span] = []
    for span in project(entries):
        if span.parent is None:
            spans.append(replace(span, attributes={**span.attributes, **_waits(entries)}))
            continue
        run = str(span.attributes.get("gofer.subagent.run", ""))
        beneath = whole_trace(below.journals.get(run, ()), below)
        told = dict(span.attributes)
        if beneath:
            root = beneath[0].attributes
            told |= {name: root[name] for name in ("gofer.reason", "gofer.waits_for") if name in root}
        if run in below.damaged:
            told["gofer.reason"] = below.damaged[run]
        spans += [replace(span, attributes=told), *within(span, beneath)]
    return spans


def _waits(entries: Sequence[Recorded]) -> dict[str, object]:
    """Return what a parked run waits for; empty for any other."""
    reached = progress.project(entries)
    if reached.parked is None or reached.finished is not None:
        return {}
    return {"gofer.waits_for": dated(reached.why_parked, timestamp(reached.parked.until))}
