"""CPU of the trace projection and its export, per span, beside a span of the OpenTelemetry SDK: ratios of one run.

Run with `make bench`. Nothing here asserts a time.
"""

import statistics
import time
from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, Tracer

from gofer.journal import entries as e
from gofer.projections.tracing import trace
from gofer.runtime.telemetry.otlp import requests
from gofer.runtime.telemetry.spans import exported
from gofer.values.messages import ToolAsk, Usage
from support.stand_ins import mention

TURNS = 500
ROUNDS = 15
WEIGHTS = e.Weights({"system": 900, "tools": 2_000, "history": 9_000, "tail": 100}, {"text": 12_000}, 48_000, 12_000)
PARAMS = {"model": "gpt-5-mini", "temperature": 0.2, "seed": 7, "max_completion_tokens": 900}


def journal() -> Sequence[e.Recorded]:
    """Return the journal of a run with a model call and a tool call in each turn: two spans a turn."""
    entries: list[e.Entry] = [e.RunAccepted(mention("hello"), "answer-here"), e.RunOwned(), e.RunStarted("b", False)]
    for turn in range(1, TURNS + 1):
        asks = (ToolAsk("c", "look", '{"text": "x"}'),)
        entries += [
            e.LlmRequest("3.0", "ab", PARAMS, "tail", WEIGHTS),
            e.LlmResponse("text", asks, "tool_calls", "gpt-5-mini", Usage(12_000, 300, 9_000), 0.002, 700),
            e.ToolCall(f"{turn}.0", "look", "read"),
            e.ToolResult(f"{turn}.0", "ok", "found", "looked", None, 40),
        ]
    entries += [e.RunConcluded("done", "", "Done."), e.RunFinished("done")]
    return [e.Recorded(n, 0, n * 10, "me", entry) for n, entry in enumerate(entries, start=1)]


def sdk_spans(tracer: Tracer, spans: Sequence[trace.Span]) -> None:
    """Make the same spans with the SDK, with the same attributes."""
    for span in spans:
        kind = SpanKind.INTERNAL
        if span.kind == "llm":
            kind = SpanKind.CLIENT
        made = tracer.start_span(span.name, kind=kind, start_time=span.start)
        for name, value in span.attributes.items():
            made.set_attribute(name, value)  # type: ignore[arg-type]
        made.end(span.end)


def microseconds_per_span(work: Callable[[], object], spans: int) -> float:
    """Return the median CPU of the rounds after the first."""
    measured: list[float] = []
    for _ in range(ROUNDS + 1):
        began = time.process_time()
        work()
        measured.append((time.process_time() - began) * 1e6 / spans)
    return statistics.median(measured[1:])


def test_trace_projection_per_span_beside_the_opentelemetry_sdk() -> None:
    entries = journal()
    spans = trace.project(entries)
    without_processor = TracerProvider().get_tracer("gofer")
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with_processor = provider.get_tracer("gofer")

    def kept_in_memory() -> None:
        memory.clear()
        sdk_spans(with_processor, spans)

    works: dict[str, Callable[[], object]] = {
        "OpenTelemetry SDK": lambda: sdk_spans(without_processor, spans),
        "OpenTelemetry SDK, kept in memory": kept_in_memory,
        "Gofer: trace": lambda: trace.project(entries),
        "Gofer: trace to OTLP": lambda: [request.ByteSize() for request in requests(exported("run1", entries), {})],
    }
    figures = {name: microseconds_per_span(work, len(spans)) for name, work in works.items()}
    floor = figures["OpenTelemetry SDK"]
    print(f"\nCPU per span, {len(spans)} spans, median of {ROUNDS} (µs; ratio to a span of the SDK)")
    for name, figure in figures.items():
        print(f"  {name:36} {figure:7.1f}  ratio {figure / floor:5.2f}")
