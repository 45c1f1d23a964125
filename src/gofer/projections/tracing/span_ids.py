"""The ids of traces and spans, the same in exported spans and in requests to models.

Ids are hashes of the run and of the entry that begins the span, so a repeated export has the same ids.
"""

import hashlib
from typing import Literal

from gofer.journal.entries import Recorded, SubagentStarted
from gofer.journal.lineage import root_of

ROOT = "1.0"
"""The address of the claim, the first entry of every journal; it identifies the span of the run."""
TRACE_BYTES = 16
SPAN_BYTES = 8
Sampled = Literal["00", "01"]
"""The flags of a `traceparent`: `01` when the spans of the run are exported."""


def trace_id(run: str) -> bytes:
    """Return the 16 bytes of the trace id of a run, which its subagent runs share."""
    return hashlib.sha256(f"gofer trace {root_of(run)}".encode()).digest()[:TRACE_BYTES]


def span_id(run: str, address: str) -> bytes:
    """Return the 8 bytes of the span id for the entry at an address."""
    return hashlib.sha256(f"gofer span {run} {address}".encode()).digest()[:SPAN_BYTES]


def subagent_chat_id(run: str, address: str) -> bytes:
    """Return the span id of the model call of a one-shot subagent, which begins with the entry of the subagent."""
    return span_id(run, f"{address} chat")


def traceparent(run: str, request: Recorded, sampled: Sampled) -> str:
    """Return the W3C header for the request to a model that an entry of a run begins.

    The entry is an `llm.request`, or the `subagent.started` of a one-shot subagent.
    """
    own = span_id(run, request.address)
    if isinstance(request.entry, SubagentStarted):
        own = subagent_chat_id(run, request.address)
    return f"00-{trace_id(run).hex()}-{own.hex()}-{sampled}"


def session_id(conversation: str) -> str:
    """Return the public id of a conversation, derived from its token in the rows."""
    return hashlib.sha256(f"gofer conversation {conversation}".encode()).hexdigest()[:32]
