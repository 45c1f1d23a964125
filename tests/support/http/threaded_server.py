"""HTTP servers of the standard library for tests: silent about disconnected clients, and fully stopped when closed."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Requests(BaseHTTPRequestHandler):
    """An HTTP/1.1 handler that sends each response in one piece: two pieces would cost a delay of 40 ms."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        self.take()

    def do_POST(self) -> None:
        self.take()

    def take(self) -> None:
        """Answer a request, with `reply` or by hand."""
        raise NotImplementedError

    def log_message(self, *_: object) -> None:
        pass

    def reply(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class Server(ThreadingHTTPServer):
    """A server whose close waits for every response, so that none fails in the middle of the next test."""

    daemon_threads = False

    def __init__(self, handler: type[Requests]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self._taken: list[socket.socket] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        self._taken.append(request)
        super().process_request(request, client_address)

    def server_close(self) -> None:
        for connection in self._taken:
            # An idle keep-alive connection would delay the close; a closed one raises OSError.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        super().server_close()


@contextmanager
def serving(handler: type[Requests]) -> Iterator[str]:
    """Run a server on a free port of loopback; yield its URL."""
    with Server(handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def serve(handler: type[Requests]) -> ThreadingHTTPServer:
    """Start a server on a free port of loopback, in threads that end with the process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server
