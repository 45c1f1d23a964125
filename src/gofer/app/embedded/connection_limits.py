"""Bounds of connections: how long one may be open without a request, and how many may be open at once.

uvicorn waits for the end of a request's headers for ever, and at its own `limit_concurrency` refuses the next client
rather than those who never finish asking. Here the ones that have waited longest make room.
"""

import asyncio
import math
import resource
from dataclasses import dataclass

import h11
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_BYTES = 16 * 1024
"""Of the headers of a request, and of its trailers; more is answered with 400."""


class BoundedConnection(h11.Connection):
    """The reader of one connection's requests.

    h11 itself looks at the size of headers only while they are incomplete, and takes a request with two lengths.
    """

    def __init__(self, header_bytes: int) -> None:
        super().__init__(h11.SERVER, header_bytes)
        self._header_bytes = header_bytes

    @override
    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event. Raises RemoteProtocolError for a request that is not of the form."""
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
    """uvicorn's HTTP/1.1 over the bounded reader."""

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to read a connection."""
        self.conn = BoundedConnection(HEADER_BYTES)
        super().connection_made(transport)

    @override
    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, and end the connection; an answer that was begun before stays as it is."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()
        if self.cycle and not self.cycle.response_complete:
            # The application must not answer a second time.
            self.cycle.disconnected = True
            self.cycle.message_event.set()


def _check_lengths(request: h11.Request) -> None:
    """Refuse a request of which a proxy may read another length than this server. Raises RemoteProtocolError."""
    names = {name for name, _ in request.headers}
    if b"transfer-encoding" in names and (b"content-length" in names or request.http_version < b"1.1"):
        raise h11.RemoteProtocolError("the request has two lengths")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What connections may take of a server."""

    header_seconds: float = 10.0
    """From the beginning of a connection, or the end of an answer, to the end of the next request's headers."""
    connections: int = 500
    """Open at once; fewer where the process may not have twice as many files."""


BOUNDS = Bounds()


class Lobby:
    """The connections of a server that have no request under way, those that wait longest first.

    One timer serves them all, so that a request costs it two changes of a dict.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._seconds = bounds.header_seconds
        self._waiting: dict[asyncio.Transport, tuple[float, float]] = {}
        """Until when each waits, by the loop's clock, and how many bytes of its last answer it had not taken."""
        self._timer: asyncio.TimerHandle | None = None
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.most = bounds.connections if files == resource.RLIM_INFINITY else min(bounds.connections, files // 2)
        """Connections that may be open at once."""

    def enter(self, transport: asyncio.Transport) -> None:
        """A connection waits from now on, unless it does already: single bytes gain it no time."""
        if transport not in self._waiting:
            self._wait(transport, math.inf)

    def leave(self, transport: asyncio.Transport) -> None:
        """A connection has a request under way, or is lost."""
        self._waiting.pop(transport, None)

    def make_room(self) -> None:
        """Ends the connection that waits longest; when all others are at work, that is the newest."""
        if transport := next(iter(self._waiting), None):
            self.leave(transport)
            transport.abort()

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
            # A long answer may take a slow reader its time, as long as he takes any of it.
            if 0 < (unsent := transport.get_write_buffer_size()) < before:
                self._wait(transport, unsent)
            else:
                transport.abort()


def guarded(bounds: Bounds) -> type[asyncio.Protocol]:
    """uvicorn's HTTP/1.1 for one server whose connections keep to the bounds."""
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
