"""What did a run do, and what did its subagents do for it? One trace of all their journals."""

from collections.abc import Sequence
from dataclasses import replace

from gofer.journal.below import Below
from gofer.journal.entries import Recorded
from gofer.projections.trace import Span, project, within


def whole_trace(entries: Sequence[Recorded], below: Below) -> Sequence[Span]:
    """The spans of a journal, each subagent's below its own, which says why its run ended or cannot be read."""
    spans: list[Span] = []
    for span in project(entries):
        run = str(span.attributes.get("gofer.subagent.run", ""))
        beneath = whole_trace(below.journals.get(run, ()), below)
        why = below.damaged.get(run) or (beneath[0].attributes.get("gofer.reason") if beneath else None)
        told = {**span.attributes, "gofer.reason": why} if why else span.attributes
        spans += [replace(span, attributes=told), *within(span, beneath)]
    return spans
