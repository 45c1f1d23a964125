"""An OpenTelemetry collector on loopback: it decodes requests like a real one, or fails on demand."""

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from support.http.threaded_server import Requests, serving


@dataclass
class Collector:
    """The received requests and the configured responses."""

    url: str = ""
    status: int = 200
    rejects: int = 0
    """Spans that each answer says were not taken."""
    free: threading.Event = field(default_factory=threading.Event)
    """No request is answered before this is set."""
    answer: bytes | None = None
    """What it says instead of OTLP."""
    paths: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    """Uncompressed."""
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def resource(self) -> dict[str, Any]:
        return values(self.requests[-1].resource_spans[0].resource)

    def take(self, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        self.paths.append(path)
        self.headers.append(headers)
        assert headers["content-type"] == "application/x-protobuf"
        assert headers["content-encoding"] == "gzip"
        self.free.wait()
        if self.status == 200:
            self.bodies.append(gzip.decompress(body))
            self.requests.append(ExportTraceServiceRequest.FromString(self.bodies[-1]))
        if self.answer is not None:
            return self.answer
        told = ExportTraceServiceResponse()
        told.partial_success.rejected_spans = self.rejects
        return told.SerializeToString()


@contextmanager
def collector() -> Iterator[Collector]:
    """Serve a collector."""
    made = Collector()

    made.free.set()

    class Handler(Requests):
        def take(self) -> None:
            answer = made.take(self.path, {name.lower(): value for name, value in self.headers.items()}, self.body())
            self.reply(made.status, answer, {"Content-Type": "application/x-protobuf"})

    with serving(Handler) as made.url:
        try:
            yield made
        finally:
            made.free.set()


def values(of: Any) -> dict[str, Any]:
    """Return the attributes of a span or a resource as plain values."""
    return {pair.key: _plain(pair.value) for pair in of.attributes}


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    assert kind is not None
    found = getattr(value, kind)
    return [_plain(item) for item in found.values] if kind == "array_value" else found
