"""What did a run do, and what did its subagents do for it? One trace of all their journals."""

from collections.abc import Sequence

from gofer.blobs.store import Blobs
from gofer.errors import Gone
from gofer.journal.entries import Recorded
from gofer.journal.log import read_journal
from gofer.journal.store import Store
from gofer.projections.trace import Span, project, within


async def whole_trace(entries: Sequence[Recorded], store: Store, blobs: Blobs) -> Sequence[Span]:
    """The spans of a journal, each subagent's below its own. Raises what reading a journal raises, but for Gone."""
    spans: list[Span] = []
    for span in project(entries):
        spans.append(span)
        if run := str(span.attributes.get("gofer.subagent.run", "")):
            try:
                below = await read_journal(run, store, blobs)
            except Gone:
                continue
            spans += within(span, await whole_trace(below, store, blobs)) if below else []
    return spans
