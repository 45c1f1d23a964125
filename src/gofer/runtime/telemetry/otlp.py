"""Which bytes say spans? OTLP: protobuf for collectors, or its JSON form for people and files."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from gofer.runtime.telemetry.spans import Exported, Value
from gofer.values.canonical_json import as_list, as_object, clean

SCOPE = "gofer"
BATCH_SPANS = 256
BATCH_BYTES = 1_000_000
"""Spans of one request, and bytes before they are compressed; a single larger span is a request of its own."""
_IDS = ("traceId", "spanId", "parentSpanId")
_NANOSECONDS = 1_000_000
"""Of a millisecond."""


def requests(spans: Sequence[Exported], resource: Mapping[str, str]) -> Iterator[ExportTraceServiceRequest]:
    """The spans in requests that a collector takes, in their order; none for no spans."""
    batch: list[Span] = []
    size = 0
    for span in map(_span, spans):
        if batch and (len(batch) == BATCH_SPANS or size + span.ByteSize() > BATCH_BYTES):
            yield _request(batch, resource)
            batch, size = [], 0
        batch.append(span)
        size += span.ByteSize()
    if batch:
        yield _request(batch, resource)


def to_json(request: ExportTraceServiceRequest) -> object:
    """A request as OTLP/JSON, whose ids are hexadecimal where protobuf's own JSON has Base64."""
    return _with_hexadecimal_ids(MessageToDict(request, use_integers_for_enums=True))


def _with_hexadecimal_ids(value: object) -> object:
    if isinstance(value, list):
        return [_with_hexadecimal_ids(item) for item in as_list(cast(object, value))]
    if not isinstance(value, dict):
        return value
    items = as_object(cast(object, value)).items()
    return {
        name: b64decode(item).hex() if name in _IDS and isinstance(item, str) else _with_hexadecimal_ids(item)
        for name, item in items
    }


def _request(spans: Sequence[Span], resource: Mapping[str, str]) -> ExportTraceServiceRequest:
    scoped = ScopeSpans(scope=InstrumentationScope(name=SCOPE), spans=spans)
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(resource=Resource(attributes=_attributes(resource)), scope_spans=[scoped])]
    )


def _span(span: Exported) -> Span:
    failed = Status(code=Status.STATUS_CODE_ERROR, message=clean(span.error))
    return Span(
        trace_id=span.trace,
        span_id=span.id,
        parent_span_id=span.parent,
        name=clean(span.name),
        kind=Span.SPAN_KIND_CLIENT if span.client else Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=span.start * _NANOSECONDS,
        end_time_unix_nano=span.end * _NANOSECONDS,
        attributes=_attributes(span.attributes),
        links=[Span.Link(trace_id=trace, span_id=linked) for trace, linked in span.linked],
        # What went well has no status: that is for whoever reads it to say.
        status=failed if span.error else None,
    )


def _attributes(values: Mapping[str, Value]) -> list[KeyValue]:
    return [KeyValue(key=name, value=_value(value)) for name, value in sorted(values.items())]


def _value(value: Value) -> AnyValue:
    match value:
        case str():
            return AnyValue(string_value=clean(value))
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case _:
            return AnyValue(array_value=ArrayValue(values=[AnyValue(string_value=clean(item)) for item in value]))
