"""How is an ASGI application served on this event loop, and taken down again for sure?"""

import asyncio
import errno
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Literal

import uvicorn
from starlette.types import ASGIApp

from gofer.local.lobby import BOUNDS, Bounds, guarded

GRACE_SECONDS = 3
"""How long requests under way may take to finish when the server is taken down."""
HEADER_BYTES = 16 * 1024
"""Of the headers of a request; more is answered with 400."""
BACKLOG = 256
"""Connections that the system keeps until they are accepted; asyncio accepts all of them before it looks at one."""


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to its host and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@asynccontextmanager
async def serve(
    app: ASGIApp,
    port: int = 0,
    host: str = "127.0.0.1",
    *,
    grace_seconds: int = GRACE_SECONDS,
    websockets: bool = False,
    bounds: Bounds = BOUNDS,
) -> AsyncGenerator[str]:
    """Serve `app` while the block runs; yields its base URL. Port 0: a free one; a taken port: OSError.

    `websockets` needs wsproto, which only development installs: Gofer itself accepts none.
    """
    listener = _listen(host, port)
    try:
        server = _Server(_config(app, bounds, grace_seconds, "wsproto" if websockets else "none"))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await _until_listening(server, running)
        try:
            yield _base_url(listener)
        finally:
            await _stop(server, running, grace_seconds)
    finally:
        listener.close()


def _config(app: ASGIApp, bounds: Bounds, grace_seconds: int, ws: Literal["none", "wsproto"]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        http=guarded(bounds),
        h11_max_incomplete_event_size=HEADER_BYTES,
        backlog=BACKLOG,
        ws=ws,
        server_header=False,
        timeout_graceful_shutdown=grace_seconds,
    )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only on sockets that name their protocol; without it an answer takes 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # asyncio listens again with its own backlog; listening here makes a taken port fail here.
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            said = f"Port {port} on {host} is already in use; stop the other program or choose another port."
            raise OSError(errno.EADDRINUSE, said) from error
        raise OSError(error.errno, f"Cannot listen on {host} port {port}: {error.strerror or error}.") from error
    return listener


def _base_url(listener: socket.socket) -> str:
    name: tuple[str, int] = listener.getsockname()[:2]
    host, port = name
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


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
    server.should_exit = True
    try:
        await asyncio.wait({running}, timeout=grace_seconds + 2)
    finally:
        if not running.done():
            running.cancel()
    with suppress(asyncio.CancelledError):
        await running
