"""A collector of OpenTelemetry on loopback: it decodes what it is sent as the real ones do, or fails as they may."""

import gzip
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Collector:
    """What came in, and how it answers."""

    url: str = ""
    status: int = 200
    rejects: int = 0
    """Spans that each answer says were not taken."""
    seconds: float = 0.0
    """How long each answer takes."""
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
        time.sleep(self.seconds)
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
    """A collector that listens."""
    made = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            answer = made.take(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(made.status)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


def values(of: Any) -> dict[str, Any]:
    """The attributes of a span or a resource as plain values."""
    return {pair.key: _plain(pair.value) for pair in of.attributes}


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    assert kind is not None
    found = getattr(value, kind)
    return [_plain(item) for item in found.values] if kind == "array_value" else found
