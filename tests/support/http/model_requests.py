"""A server of one model that keeps each request as it arrived, byte for byte."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

ANSWER = b'{"choices": [{"message": {"content": "hi"}}]}'


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request as it arrived."""

    line: str
    headers: Sequence[tuple[str, str]]
    """Names in lower case, sorted."""
    body: bytes


@dataclass(slots=True)
class ModelServer:
    """The server, with what it answers and what arrived."""

    answer: Sequence[bytes]
    """The pieces of the whole response."""
    url: str = ""
    arrived: list[Arrived] = field(default_factory=list[Arrived])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close the connection."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().strip()
            line, *fields = head.split("\r\n")
            headers = sorted((name.lower(), value) for name, _, value in (one.partition(": ") for one in fields))
            body = await reader.readexactly(int(dict(headers).get("content-length", "0")))
            self.arrived.append(Arrived(line, headers, body))
            for piece in self.answer:
                writer.write(piece)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def response(status: str, body: bytes, *headers: str) -> bytes:
    """Return a whole response."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@asynccontextmanager
async def model_server(*answer: bytes) -> AsyncIterator[ModelServer]:
    """Serve a model that answers each request with these pieces of a response."""
    made = ModelServer(answer or (response("200 OK", ANSWER),))
    async with await asyncio.start_server(made.serve, "127.0.0.1", 0, limit=2**24) as server:
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield made
