"""The exporter: sends the spans of a run to a collector once, when the run ended; later exports are started by hand.

The journal is the record and spans are derived from it, so spans that a collector refuses are not stored.
"""

import asyncio
import gzip
import logging
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

from gofer.journal.child_runs import read_subagents
from gofer.journal.entries import Recorded
from gofer.journal.hidden_runs import is_hidden
from gofer.journal.lineage import root_of
from gofer.journal.log import read_journal
from gofer.projections import progress
from gofer.runtime.telemetry.spans import Exported, ExportedEvent, Value, exported
from gofer.stores.one_place import Stores
from gofer.values.canonical_json import as_list, as_object, clean
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.outside import Http, HttpRequest
from gofer.values.secret import Secret

TIMEOUT = 3.0
"""The default timeout of one request in seconds."""
PATIENCE = 10.0
"""The most seconds for all requests of a run."""
MOST_SPANS = 10_000
"""The most spans of one run; of a longer run the first ones are exported."""
_ANSWER_BYTES = 64_000

_log = logging.getLogger(__name__)
SCOPE = "gofer"
BATCH_SPANS = 256
BATCH_BYTES = 1_000_000
"""The most spans of one request, and the most bytes before compression; a larger single span has its own request."""
_IDS = ("traceId", "spanId", "parentSpanId")
_NANOSECONDS = 1_000_000
"""Nanoseconds of a millisecond."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of an export."""

    spans: int
    rejected: int = 0
    """The number of spans that the collector rejected."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """Sends the spans of runs to one collector."""

    url: str
    """The address for traces; empty if there is none."""
    headers: Mapping[str, Secret]
    resource: Mapping[str, str]
    """The attributes of all spans: `service.name` and others that the operator sets."""
    http: Http
    full: bool = False
    """Whether texts are exported."""
    base_url: str = ""
    """The address of the pages of runs."""
    timeout: float = TIMEOUT
    """The timeout of one request in seconds."""

    async def export(self, run: str, stores: Stores, patience: float = PATIENCE) -> None:
        """Send the spans of a run that just ended within `patience` seconds. Log a failure and raise nothing."""
        try:
            async with asyncio.timeout(min(PATIENCE, patience)):
                if await is_hidden(run, stores.journals):
                    # A log line with its id would show that the run exists.
                    return
                sent = await self.send(await self.read(run, stores))
            if sent.rejected:
                _log.warning("the collector rejected %d spans of run %s", sent.rejected, run)
        except TimeoutError:
            _log.warning("the spans of run %s were not sent: there was not enough time", run)
        except Exception as error:  # noqa: BLE001
            # A failed export never changes the run. The text of an unknown error may hold contents, its type does not.
            reason = type(error).__name__
            if isinstance(error, TemporaryError | ConfigError):
                reason = str(error)
            _log.warning("the spans of run %s were not sent: %s", run, reason)

    async def send(self, spans: Sequence[Exported]) -> Sent:
        """Send spans. Raises ConfigError for a refusal, and TemporaryError without an answer."""
        rejected = 0
        # On a thread, because building the requests of a long run takes long, and other runs continue meanwhile.
        for request in await asyncio.to_thread(lambda: list(requests(spans, self.resource))):
            rejected += await self._post(await asyncio.to_thread(_compressed, request))
        return Sent(len(spans), rejected)

    async def read(self, run: str, stores: Stores) -> Sequence[Exported]:
        """Return the spans of a run that ended and of its subagent runs.

        Raises ConfigError as `spans` does, and also if the place of the run became private. Raises the errors of
        reading a journal.
        """
        if await is_hidden(root_of(run), stores.journals):
            raise _private(run)
        journal = await read_journal(run, stores.journals, stores.blobs)
        _check(run, journal)
        head = await stores.journals.head(run)
        below = (await read_subagents(journal, stores.journals, stores.blobs)).journals
        conversation = ""
        if head is not None:
            conversation = head.conversation
        return self.spans(run, journal, below, conversation)

    def spans(
        self,
        run: str,
        journal: Sequence[Recorded],
        below: Mapping[str, Sequence[Recorded]] | None = None,
        conversation: str = "",
    ) -> Sequence[Exported]:
        """Return the spans of a journal and of the journals of its subagents; `conversation` is the token in its row.

        Raises ConfigError for a run that is private or has not ended.
        """
        _check(run, journal)
        spans = exported(run, journal, below, full=self.full, base_url=self.base_url, conversation=conversation)
        return spans[:MOST_SPANS]

    async def _post(self, body: bytes) -> int:
        """Send one request; return the number of its rejected spans. Raises ConfigError, TemporaryError."""
        headers = {name: value.reveal() for name, value in self.headers.items()}
        headers |= {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
        answer = await self.http.send(HttpRequest("POST", self.url, headers, body, self.timeout, _ANSWER_BYTES))
        if answer.status in (429, 502, 503, 504):
            raise TemporaryError(f"the collector is busy (HTTP {answer.status}); `gofer export` sends it again.")
        if not 200 <= answer.status < 300:
            advice = "check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS"
            raise ConfigError(f"The collector refuses spans (HTTP {answer.status}); {advice}.")
        return _rejected(answer.body)


def _check(run: str, journal: Sequence[Recorded]) -> None:
    state = progress.project(journal)
    if state.private:
        raise _private(run)
    if state.finished is None:
        raise ConfigError(f"Run {run} has not ended; export it when it has.")


def _private(run: str) -> ConfigError:
    return ConfigError(f"Run {run} began in a private channel; its spans are never exported.")


def _compressed(request: ExportTraceServiceRequest) -> bytes:
    # Without a timestamp, so that equal spans are equal bytes.
    return gzip.compress(request.SerializeToString(deterministic=True), mtime=0)


def _rejected(body: bytes) -> int:
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
