"""HTTP/1.1 as the server reads it: h11 with bounds that hold however the bytes arrive."""

import asyncio

import h11
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

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to read a connection."""
        self.conn = BoundedConnection(HEADER_BYTES)
        super().connection_made(transport)

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
