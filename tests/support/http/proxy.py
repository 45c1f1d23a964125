"""An HTTP proxy on loopback: `CONNECT` for TLS, absolute URLs for plain HTTP. It leads every host to one of ours."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Proxy:
    """A proxy that was started, with the first lines of the requests that it got."""

    hosts: Mapping[str, str]
    """The base URLs of servers on this machine by the names that clients use. Other hosts are refused with 403."""
    url: str = ""
    requested: list[str] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self.tasks.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._pass_on(reader, writer)
        finally:
            self.tasks.discard(task)
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, _, rest = head.partition("\r\n")
        method, target, version = first.split()
        self.requested.append(f"{method} {target}")
        parts = urlsplit(target)
        server = self.hosts.get(parts.hostname or "")
        if method == "CONNECT" or server is None:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            return
        place = urlsplit(server)
        there, on = await asyncio.open_connection(place.hostname, place.port)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        if "upgrade:" not in rest.lower():
            # One request per connection, because the target of a later one would have to be replaced as well.
            rest = f"Connection: close\r\n{rest}"
        on.write(f"{method} {path} {version}\r\n{rest}".encode("latin-1"))
        try:
            await asyncio.gather(_copy(reader, on), _copy(there, writer))
        finally:
            on.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()


@asynccontextmanager
async def proxy(hosts: Mapping[str, str]) -> AsyncIterator[Proxy]:
    """Run a proxy on a free port."""
    made = Proxy(hosts)
    async with await asyncio.start_server(made.pass_on, "127.0.0.1", 0) as server:
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield made
        for task in list(made.tasks):
            task.cancel()
        await asyncio.gather(*made.tasks, return_exceptions=True)
