"""Limits of connections: the time that one may be open without a request, and the number open at once.

uvicorn waits forever for the end of a request's headers. At its own `limit_concurrency` it refuses new clients, though
clients that never finish a request cause the load. This module closes the connections that have waited longest.
"""

import asyncio
import logging
import math
import resource
from dataclasses import dataclass

import h11
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_BYTES = 16 * 1024
"""The most bytes of a request's headers, and of its trailers. A request with more is refused."""
LINE_SECONDS = 5.0
"""Seconds in which closed connections are counted for one line of the log."""

_log = logging.getLogger(__name__)


class BoundedConnection(h11.Connection):
    """The parser of one connection's requests, with checks that h11 lacks.

    h11 limits the size of headers only while they are incomplete, and accepts a request with two lengths.
    """

    def __init__(self, header_bytes: int) -> None:
        super().__init__(h11.SERVER, header_bytes)
        self._header_bytes = header_bytes

    @override
    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event. Raises RemoteProtocolError for a malformed request."""
        before = len(self.trailing_data[0])
        event = super().next_event()
        framing = before - len(self.trailing_data[0])
        match event:
            case h11.Data(data=data):
                framing -= len(data)
            case h11.Request():
                _check_lengths(event)
            case _:
                pass
        if framing > self._header_bytes:
            raise h11.RemoteProtocolError("the headers are too large", error_status_hint=431)
        return event


class StrictProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol with the bounded parser."""

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to read a connection."""
        self.conn = BoundedConnection(HEADER_BYTES)
        super().connection_made(transport)

    @override
    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request and close the connection, without writing into a response already begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()
        if self.cycle and not self.cycle.response_complete:
            # The application must not send a second response.
            self.cycle.disconnected = True
            self.cycle.message_event.set()


def _check_lengths(request: h11.Request) -> None:
    """Raise RemoteProtocolError for a request with two lengths, of which a proxy may use the other one."""
    names = {name for name, _ in request.headers}
    if b"transfer-encoding" in names and (b"content-length" in names or request.http_version < b"1.1"):
        raise h11.RemoteProtocolError("the request has two lengths")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a server's connections."""

    header_seconds: float = 10.0
    """Seconds from the start of a connection, or the end of a response, to the end of the next request's headers."""
    connections: int = 500
    """The most open connections, which are further limited to half the files that the process may open."""


BOUNDS = Bounds()


class Lobby:
    """The connections of a server that have no running request, the longest waiting first.

    One timer serves all connections, so a request costs only two changes of a dict.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._seconds = bounds.header_seconds
        self._waiting: dict[asyncio.Transport, tuple[float, float]] = {}
        """For each connection its deadline by the loop's clock, and the unsent bytes of its last response."""
        self._timer: asyncio.TimerHandle | None = None
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.most = bounds.connections
        """The most connections that may be open at once."""
        if files != resource.RLIM_INFINITY:
            self.most = min(bounds.connections, files // 2)
        self._closed = 0
        """Connections closed to make room, since the last line of the log."""

    def enter(self, transport: asyncio.Transport) -> None:
        """Start the wait of a connection. A connection that waits already keeps its deadline."""
        if transport not in self._waiting:
            self._wait(transport, math.inf)

    def leave(self, transport: asyncio.Transport) -> None:
        """End the wait of a connection that has a running request or is lost."""
        self._waiting.pop(transport, None)

    def make_room(self) -> None:
        """Close the connection that waits longest. If all others have running requests, that is the newest one."""
        if transport := next(iter(self._waiting), None):
            self.leave(transport)
            transport.abort()
            self._count_closed()

    def _count_closed(self) -> None:
        self._closed += 1
        if self._closed == 1:
            asyncio.get_running_loop().call_later(LINE_SECONDS, self._log_closed)

    def _log_closed(self) -> None:
        _log.warning(
            "%d connections were closed in %.0f s, because more than %d were open at once. Their senders repeat what "
            "was not accepted. If this line returns, more arrives than this machine can take.",
            self._closed,
            LINE_SECONDS,
            self.most,
        )
        self._closed = 0

    def _wait(self, transport: asyncio.Transport, unsent: float) -> None:
        loop = asyncio.get_running_loop()
        self._waiting[transport] = (loop.time() + self._seconds, unsent)
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        while first := next(iter(self._waiting.items()), None):
            transport, (until, before) = first
            if until > loop.time():
                self._timer = loop.call_at(until, self._sweep)
                return
            self.leave(transport)
            # A slow reader may take its time with a long response, as long as it reads some of it.
            if 0 < (unsent := transport.get_write_buffer_size()) < before:
                self._wait(transport, unsent)
            else:
                transport.abort()


def guarded(bounds: Bounds) -> type[asyncio.Protocol]:
    """Return the protocol class for one server, which enforces the limits."""
    lobby = Lobby(bounds)

    class Guarded(StrictProtocol):
        @override
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            lobby.enter(transport)
            if len(self.connections) > lobby.most:
                lobby.make_room()

        @override
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            lobby.leave(self.transport)

        @override
        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._look()

        @override
        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._look()

        def _look(self) -> None:
            # A connection that became a WebSocket belongs to another protocol.
            if (self.cycle and not self.cycle.response_complete) or self not in self.connections:
                lobby.leave(self.transport)
            else:
                lobby.enter(self.transport)

    return Guarded
