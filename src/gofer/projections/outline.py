"""The lines of a trace for a terminal."""

from collections.abc import Mapping, Sequence

from gofer.projections.trace import Span

_MARKS = {
    **dict.fromkeys(("ok", "done", "approved"), "✓"),
    **dict.fromkeys(("open", "running", "accepted", "parked", "deferred"), "…"),
}


def outline(run: str, spans: Sequence[Span]) -> list[str]:
    """One line per span: when it began, how it went, what it was, how long it took and what it cost."""
    beginning = spans[0].start
    deep = levels(spans)
    lines = [f"run {run}"]
    for span in spans:
        took = ""
        if span.end is not None:
            took = f"{span.end - span.start} ms"
        start = f"{(span.start - beginning) / 1000:7.3f} s"
        name = f"{'  ' * deep[span.id]}{_MARKS.get(span.status, '✗')} {span.name}"
        lines.append(f"  {start}  {name:<40} {span.status:<9} {took:>9}  {about(span)}".rstrip())
    return lines


def levels(spans: Sequence[Span]) -> Mapping[str, int]:
    """How many spans each stands below, by id; those above come first."""
    deep: dict[str, int] = {}
    for span in spans:
        if span.parent is None:
            deep[span.id] = 0
        else:
            deep[span.id] = deep[span.parent] + 1
    return deep


def about(span: Span) -> str:
    """Return what is worth saying of one span: tokens and cost, what a tool did, waits, why a run ended."""
    return "; ".join(fact for fact in (_did(span), _wait(span)) if fact)


def _did(span: Span) -> str:
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
    """Return how long a call waited, and for which reason; of a call that waits still, the reason alone."""
    why = str(span.attributes.get("gofer.deferred", "")).rstrip(".")
    waited = span.attributes.get("gofer.waited_ms")
    if isinstance(waited, int):
        return f"waited {waited / 1000:.1f} s: {why}"
    if span.kind == "tool" and why:
        return f"waits: {why}"
    return why
