"""A trace as lines for a terminal of 120 columns."""

import textwrap
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from gofer.journal.check_entries import Verdict
from gofer.projections.rules_in_words import said
from gofer.projections.tracing.spans import Span
from gofer.values.amounts import money
from gofer.values.canonical_json import as_list

ALMOST_FULL = 0.9
"""The share of the context window from which a request is marked."""
_WIDTH = 120
_NAME_WIDTH = 36
_MARKS = {
    **dict.fromkeys(("ok", "done", "approved", "listed", "stored", "read", "over"), "✓"),
    **dict.fromkeys(("open", "running", "accepted", "parked", "deferred"), "…"),
}


def outline(
    run: str, spans: Sequence[Span], *, status: str = "", checks: Mapping[str, Sequence[Verdict]] = MappingProxyType({})
) -> list[str]:
    """Return the lines of each span: its start, status, name, duration, tokens and cost. Long facts have own lines.

    `status` is a status of the run that no span has. `checks` are the failed checks by run, which end the outline.
    """
    beginning = spans[0].start
    depths = levels(spans)
    lines = [f"run {run}  {status}".rstrip()]
    for span in spans:
        start = f"  {(span.start - beginning) / 1000:9.3f} s  "
        indent = "  " * depths[span.id]
        name = f"{indent}{_mark(span)} {span.name}"
        line = f"{start}{name:<{_NAME_WIDTH}} {span.status:<9} {duration(span):>9}".rstrip()
        lines += _with_facts(line, len(start) + len(indent) + 2, _facts(span))
    for checked, verdicts in checks.items():
        lines += [_failed_check(run, checked, verdict) for verdict in verdicts]
    return lines


def _failed_check(run: str, checked: str, verdict: Verdict) -> str:
    mark = "✗"
    if verdict.severity == "warning":
        mark = "!"
    of_subagent = ""
    if checked != run:
        of_subagent = f" of {checked}"
    return f"  {mark} {verdict.severity} {verdict.check}{of_subagent}: {verdict.summary}"


def _with_facts(line: str, indent: int, facts: Sequence[str]) -> list[str]:
    """Return a line with the facts that fit at its end, and lines of their own below the name for the others."""
    left = list(facts)
    separator = "  "
    while left and len(line) + len(separator) + len(left[0]) <= _WIDTH:
        line += separator + left.pop(0)
        separator = "; "
    margin = " " * indent
    # Ids and links stay in one piece, so that they can be copied.
    below = textwrap.wrap(
        "; ".join(left),
        _WIDTH,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line, *below]


def levels(spans: Sequence[Span]) -> Mapping[str, int]:
    """Return the depth of each span by its id; a parent must come before its children."""
    depths: dict[str, int] = {}
    for span in spans:
        if span.parent is None:
            depths[span.id] = 0
        else:
            depths[span.id] = depths[span.parent] + 1
    return depths


def duration(span: Span) -> str:
    """Return how long a span took; empty for an open span, and for one that is a point in time."""
    if span.end is None or span.began_in == span.ended_in:
        return ""
    took = span.end - span.start
    if took < 10_000:
        return f"{took} ms"
    return f"{took / 1000:,.1f} s"


def about(span: Span) -> str:
    """Return the most important facts of a span: tokens and cost, the outcome of a tool, waits, the end of a run."""
    return "; ".join(_facts(span))


def _facts(span: Span) -> Sequence[str]:
    return [fact for fact in (*_outcome(span), _wait(span)) if fact]


def window_share(span: Span) -> float | None:
    """Return the share of the context window that a model call used; None if the window or the tokens are unknown.

    Before the answer, the tokens are the expected ones.
    """
    window = span.attributes.get("gofer.context.window")
    used = span.attributes.get("gen_ai.usage.input_tokens") or span.attributes.get("gofer.context.expected")
    if not isinstance(window, int) or not isinstance(used, int) or not window or not used:
        return None
    return used / window


def _mark(span: Span) -> str:
    share = window_share(span)
    if share is not None and share >= ALMOST_FULL:
        return "!"
    return _MARKS.get(span.status, "✗")


def _outcome(span: Span) -> Sequence[str]:
    facts = span.attributes
    match span.kind:
        case "llm":
            return _exchange(span)
        case "agent":
            return [_usage(span), str(facts.get("gofer.reason", ""))]
        case "approval":
            by = facts.get("gofer.approval.by", "")
            return [f"by {by}" if by else f"asked {facts.get('gofer.approval.asked', '')}", *_rule(span)]
        case "tool":
            return [str(facts.get("gofer.summary") or facts.get("error.type", "")), *_rule(span)]
        case "wait":
            return [str(facts.get("gofer.waits_for") or _planned_wait(facts))]
        case "compaction":
            return [_compaction(facts)]
        case "error":
            return [" of ".join(str(facts[name]) for name in ("error.type", "gofer.system") if name in facts)]
        case "run":
            return [str(facts.get("gofer.reason", "")), *_rule(span)]
        case "file":
            return []
        case _:
            assert_never(span.kind)


def _rule(span: Span) -> Sequence[str]:
    return said(rule=span.attributes.get("gofer.rule"), readers=span.attributes.get("gofer.readers"))


def _exchange(span: Span) -> Sequence[str]:
    """Return the tokens, the share of the window and the cost of a model call, and what else is worth to know."""
    facts = span.attributes
    requested = str(facts.get("gen_ai.request.model", ""))
    answered = str(facts.get("gen_ai.response.model", requested))
    parts = [_usage(span) or _expected(span)]
    # The name of an answer often has the name of the request and a date.
    if not answered.startswith(requested):
        parts.append(f"answered by {answered}")
    if span.status == "error" and "gofer.deferred" not in facts:
        parts.append(str(facts.get("error.type", "")))
    return parts


def _usage(span: Span) -> str:
    facts = span.attributes
    if "gen_ai.usage.input_tokens" not in facts:
        return ""
    cost = facts.get("gofer.cost_usd")
    if not isinstance(cost, float | int):
        cost = None
    read = f"{facts['gen_ai.usage.input_tokens']:,} in{_of_window(span)}"
    return f"{read}, {facts['gen_ai.usage.output_tokens']:,} out, {money(cost)}"


def _expected(span: Span) -> str:
    """Return the expected size of a request without an answer."""
    share = _of_window(span)
    if not share:
        return ""
    return f"about {span.attributes['gofer.context.expected']:,} in{share}"


def _of_window(span: Span) -> str:
    share = window_share(span)
    if share is None:
        return ""
    return f" ({share:.0%} of {span.attributes['gofer.context.window']:,})".replace("%", " %")


def _planned_wait(facts: Mapping[str, object]) -> str:
    planned = f"planned until {facts.get('gofer.wait.until', '')}"
    if "gofer.system" in facts:
        return f"{facts['gofer.system']}, {planned}"
    return planned


def _compaction(facts: Mapping[str, object]) -> str:
    parts: list[str] = []
    if turns := as_list(facts.get("gofer.compacted.turns")):
        parts.append(f"turns {turns[0]}–{turns[-1]}, summary by {facts.get('gofer.compacted.by')}")
    before = facts.get("gofer.compacted.tokens_before")
    after = facts.get("gofer.compacted.tokens_after")
    if before and after:
        parts.append(f"{before:,} → {after:,} tokens")
    return ", ".join(parts)


def _wait(span: Span) -> str:
    """Return how long a call waited and why; for a call that still waits, only why."""
    reason = str(span.attributes.get("gofer.deferred", "")).rstrip(".")
    waited = span.attributes.get("gofer.waited_ms")
    if isinstance(waited, int):
        return f"waited {waited / 1000:.1f} s: {reason}"
    if span.kind == "tool" and reason:
        return f"waits: {reason}"
    return reason
