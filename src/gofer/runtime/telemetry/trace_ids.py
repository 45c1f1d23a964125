"""Which trace is a run, and which span is an entry of its journal? Always the same ones, whoever exports them."""

import hashlib

TRACE_BYTES, SPAN_BYTES = 16, 8


def trace_id(run: str) -> bytes:
    """The 16 bytes that name the trace of a run."""
    return hashlib.sha256(f"gofer trace {run}".encode()).digest()[:TRACE_BYTES]


def span_id(run: str, address: str) -> bytes:
    """The 8 bytes that name the span that begins with the entry at an address."""
    return hashlib.sha256(f"gofer span {run} {address}".encode()).digest()[:SPAN_BYTES]


def session_id(conversation: str) -> str:
    """Return the name of a conversation outside, of the token that rows have for it."""
    return hashlib.sha256(f"gofer conversation {conversation}".encode()).hexdigest()[:32]
