"""A trace as lines for a terminal."""

from collections.abc import Mapping, Sequence

from gofer.projections.trace import Span

_MARKS = {
    **dict.fromkeys(("ok", "done", "approved"), "✓"),
    **dict.fromkeys(("open", "running", "accepted", "parked", "deferred"), "…"),
}


def outline(run: str, spans: Sequence[Span]) -> list[str]:
    """Return one line per span: its start, status, name, duration, tokens and cost."""
    beginning = spans[0].start
    depths = levels(spans)
    lines = [f"run {run}"]
    for span in spans:
        duration = ""
        if span.end is not None:
            duration = f"{span.end - span.start} ms"
        start = f"{(span.start - beginning) / 1000:7.3f} s"
        name = f"{'  ' * depths[span.id]}{_MARKS.get(span.status, '✗')} {span.name}"
        lines.append(f"  {start}  {name:<40} {span.status:<9} {duration:>9}  {about(span)}".rstrip())
    return lines


def levels(spans: Sequence[Span]) -> Mapping[str, int]:
    """Return the depth of each span by its id; a parent must come before its children."""
    depths: dict[str, int] = {}
    for span in spans:
        if span.parent is None:
            depths[span.id] = 0
        else:
            depths[span.id] = depths[span.parent] + 1
    return depths


def about(span: Span) -> str:
    """Return the most important facts of a span: tokens and cost, the outcome of a tool, waits, the end of a run."""
    return "; ".join(fact for fact in (_outcome(span), _wait(span)) if fact)


def _outcome(span: Span) -> str:
    facts = span.attributes
    match span.kind:
        case "llm" | "agent" if "gen_ai.usage.input_tokens" in facts:
            return _usage(facts)
        case "approval":
            if by := facts.get("gofer.approval.by", ""):
                return f"by {by}"
            return f"asked {facts.get('gofer.approval.asked', '')}"
        case "tool":
            return str(facts.get("gofer.summary") or facts.get("error.type", ""))
        case _:
            return str(facts.get("gofer.reason") or facts.get("gofer.waits_for", ""))


def _usage(facts: Mapping[str, object]) -> str:
    money = "cost unknown"
    if (cost := facts.get("gofer.cost_usd")) is not None:
        money = f"{cost:.4f} USD"
    tokens = f"{facts['gen_ai.usage.input_tokens']} in, {facts['gen_ai.usage.output_tokens']} out"
    used = f"{facts['gen_ai.response.model']}: {tokens}, {money}"
    if "gofer.reason" in facts:
        return f"{used}; {facts['gofer.reason']}"
    return used


def _wait(span: Span) -> str:
    """Return how long a call waited and why; for a call that still waits, only why."""
    reason = str(span.attributes.get("gofer.deferred", "")).rstrip(".")
    waited = span.attributes.get("gofer.waited_ms")
    if isinstance(waited, int):
        return f"waited {waited / 1000:.1f} s: {reason}"
    if span.kind == "tool" and reason:
        return f"waits: {reason}"
    return reason
