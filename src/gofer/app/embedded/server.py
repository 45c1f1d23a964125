"""The HTTP server of an ASGI application on the current event loop, with a bounded shutdown."""

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from ipaddress import ip_address
from typing import Literal

import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override

from gofer.app.embedded.connection_limits import BOUNDS, Bounds, guarded
from gofer.values.errors import MachineError

_log = logging.getLogger(__name__)

LOCAL = "127.0.0.1"
"""The loopback address, which other machines cannot reach."""
GRACE_SECONDS = 3
"""How long open requests may take to finish when the server shuts down."""
BACKLOG = 256
"""The most connections that wait to be accepted. asyncio accepts all of them before it reads from any."""
RECEIVE_BYTES = 64 * 1024
"""The receive buffer of a connection. Linux doubles it for its own use."""
_LOOK_SECONDS = 0.005
"""Seconds between two checks for open requests during shutdown."""

_TURNS_TO_ACCEPT = 3
"""Turns of the event loop until an accepted connection is in the server's list of connections."""


class _Server(uvicorn.Server):
    """A uvicorn server that handles no signals, reports when it listens, and stops without delay.

    uvicorn itself polls ten times a second at each of several steps, which would delay each start and stop.
    """

    def __init__(self, config: uvicorn.Config, grace_seconds: int) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self.leaving = asyncio.Event()
        self._grace_seconds = grace_seconds

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @override
    async def main_loop(self) -> None:
        ticking = asyncio.create_task(super().main_loop())
        try:
            await self.leaving.wait()
        finally:
            ticking.cancel()

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._accept_no_more()
        for server in self.servers:
            server.close()
        for listener in sockets or ():
            listener.close()
        try:
            async with asyncio.timeout(self._grace_seconds):
                await self._nothing_under_way()
        except TimeoutError:
            left = self.server_state.tasks
            _log.error("%d requests took longer than %d s and are cancelled", len(left), self._grace_seconds)
            for task in left:
                task.cancel()

    async def _accept_no_more(self) -> None:
        # asyncio loses connections that it accepted in the turn in which the server closes, and leaves them open.
        loop = asyncio.get_running_loop()
        for server in self.servers:
            for listener in server.sockets:
                loop.remove_reader(listener.fileno())
        for _ in range(_TURNS_TO_ACCEPT):
            await asyncio.sleep(0)

    async def _nothing_under_way(self) -> None:
        for connection in list(self.server_state.connections):
            connection.shutdown()
        # Connections do not report that they are closed, so they are polled.
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)


@asynccontextmanager
async def serve(
    app: ASGIApp,
    port: int = 0,
    host: str = LOCAL,
    *,
    grace_seconds: int = GRACE_SECONDS,
    websockets: bool = False,
    bounds: Bounds = BOUNDS,
) -> AsyncGenerator[str]:
    """Serve `app` while the block runs, and yield its base URL for this machine.

    Port 0 selects a free port. Raises MachineError for a taken port. `websockets` needs wsproto, which only development
    installs, because Gofer itself accepts no WebSockets.
    """
    listener = _listen(host, port)
    try:
        server = _Server(_config(app, bounds, "wsproto" if websockets else "none"), grace_seconds)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await _until_listening(server, running)
        try:
            yield _base_url(listener)
        finally:
            await _stop(server, running, grace_seconds)
    finally:
        listener.close()


def _config(app: ASGIApp, bounds: Bounds, ws: Literal["none", "wsproto"]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        http=guarded(bounds),
        backlog=BACKLOG,
        ws=ws,
        server_header=False,
        # A client's address is the one that it connects from. Its forwarding headers are not trusted.
        proxy_headers=False,
    )


def is_free(port: int, host: str = LOCAL) -> bool:
    """Return whether a server could listen on a port of this machine now."""
    try:
        _listen(host, port).close()
    except MachineError:
        return False
    return True


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only on sockets with an explicit protocol. With it an answer takes 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Every connection inherits this buffer. The loop fills the buffers of all connections before any is parsed.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        listener.bind((host, port))
        # Listening here makes a taken port fail here. asyncio listens again later, with its own backlog.
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            message = f"Port {port} on {host} is already in use; stop the other program or choose another port."
            raise MachineError(message) from error
        raise MachineError(f"Gofer cannot listen on {host} port {port}: {error.strerror or error}.") from error
    return listener


def _base_url(listener: socket.socket) -> str:
    """Return the base URL of the server for clients on this machine."""
    name: tuple[str, int] = listener.getsockname()[:2]
    host, port = name
    if listener.family == socket.AF_INET6:
        reached = "::1" if ip_address(host).is_unspecified else host
        return f"http://[{reached}]:{port}"
    reached = LOCAL if ip_address(host).is_unspecified else host
    return f"http://{reached}:{port}"


async def _until_listening(server: _Server, running: asyncio.Task[None]) -> None:
    listening = asyncio.create_task(server.listening.wait())
    try:
        await asyncio.wait({listening, running}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    except BaseException:
        running.cancel()
        raise
    finally:
        listening.cancel()


async def _stop(server: _Server, running: asyncio.Task[None], grace_seconds: int) -> None:
    server.leaving.set()
    try:
        await asyncio.wait({running}, timeout=grace_seconds + 2)
    finally:
        if not running.done():
            running.cancel()
    with suppress(asyncio.CancelledError):
        await running
