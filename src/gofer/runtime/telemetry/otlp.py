"""Spans as OTLP: requests of limited size in Protobuf or JSON, and the collector's answer.

The exporter loads this module with the first span that it sends, because Protobuf takes a thirtieth of each start.
"""

import gzip
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from gofer.runtime.telemetry.exported_span import Exported, ExportedEvent, Value
from gofer.values.canonical_json import as_list, as_object, clean

SCOPE = "gofer"
BATCH_SPANS = 256
BATCH_BYTES = 1_000_000
"""The most spans of one request, and the most bytes before compression; a larger single span has its own request."""
_IDS = ("traceId", "spanId", "parentSpanId")
_NANOSECONDS = 1_000_000
"""Nanoseconds of a millisecond."""


def bodies(spans: Sequence[Exported], resource: Mapping[str, str]) -> list[bytes]:
    """Return the compressed bodies of the requests that send spans."""
    return [_compressed(request) for request in requests(spans, resource)]


def _compressed(request: ExportTraceServiceRequest) -> bytes:
    # Without a timestamp, so that equal spans are equal bytes.
    return gzip.compress(request.SerializeToString(deterministic=True), mtime=0)


def rejected(body: bytes) -> int:
    """Return the number of rejected spans in a response; 0 for a response that is no OTLP."""
    answer = ExportTraceServiceResponse()
    try:
        answer.ParseFromString(body)
    except DecodeError:
        return 0
    return max(0, answer.partial_success.rejected_spans)


def requests(spans: Sequence[Exported], resource: Mapping[str, str]) -> Iterator[ExportTraceServiceRequest]:
    """Yield the spans in requests of limited size, in their order; none for no spans."""
    batch: list[Span] = []
    size = 0
    for span in map(_span, spans):
        if batch and (len(batch) == BATCH_SPANS or size + span.ByteSize() > BATCH_BYTES):
            yield _request(batch, resource)
            batch = []
            size = 0
        batch.append(span)
        size += span.ByteSize()
    if batch:
        yield _request(batch, resource)


def to_json(request: ExportTraceServiceRequest) -> object:
    """Return a request as OTLP/JSON, with hexadecimal ids instead of Base64."""
    return _with_hexadecimal_ids(MessageToDict(request, use_integers_for_enums=True))


def _with_hexadecimal_ids(value: object) -> object:
    if isinstance(value, list):
        return [_with_hexadecimal_ids(item) for item in as_list(cast(object, value))]
    if not isinstance(value, dict):
        return value
    converted: dict[str, object] = {}
    for name, item in as_object(cast(object, value)).items():
        if name in _IDS and isinstance(item, str):
            converted[name] = b64decode(item).hex()
        else:
            converted[name] = _with_hexadecimal_ids(item)
    return converted


def _request(spans: Sequence[Span], resource: Mapping[str, str]) -> ExportTraceServiceRequest:
    scoped = ScopeSpans(scope=InstrumentationScope(name=SCOPE), spans=spans)
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(resource=Resource(attributes=_attributes(resource)), scope_spans=[scoped])]
    )


def _span(span: Exported) -> Span:
    kind = Span.SPAN_KIND_INTERNAL
    if span.client:
        kind = Span.SPAN_KIND_CLIENT
    # By the conventions, only failed spans have a status.
    status = None
    if span.error:
        status = Status(code=Status.STATUS_CODE_ERROR, message=clean(span.error))
    return Span(
        trace_id=span.trace,
        span_id=span.id,
        parent_span_id=span.parent,
        name=clean(span.name),
        kind=kind,
        start_time_unix_nano=span.start * _NANOSECONDS,
        end_time_unix_nano=span.end * _NANOSECONDS,
        attributes=_attributes(span.attributes),
        events=[_event(event) for event in span.events],
        links=[Span.Link(trace_id=trace, span_id=linked) for trace, linked in span.linked],
        status=status,
    )


def _event(event: ExportedEvent) -> Span.Event:
    attributes = _attributes(event.attributes)
    return Span.Event(time_unix_nano=event.at * _NANOSECONDS, name=event.name, attributes=attributes)


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
