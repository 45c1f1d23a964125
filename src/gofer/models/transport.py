"""The two ways to send a request: over the HTTP client of the process alone, or with the `openai` package."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, cast

import httpx2
from typing_extensions import override

from gofer.models.openai_import import import_openai

ERROR_BYTES = 100_000
"""Bytes that are read of an error in place of an answer."""

_NO_TIMEOUTS = {"timeout": httpx2.Timeout(None).as_dict()}
"""The extensions of a request for which the client sets no timers. Without them, the client would use its default."""


Headers: TypeAlias = Mapping[str, str] | Sequence[tuple[str, str]]


class Transport(Protocol):
    """Sends requests of models, each one once and with exactly the headers and bytes that it is given."""

    async def load(self) -> None:
        """Load what the transport needs. Its time is no part of the time of a request."""
        ...

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
        """Return an answer with an unread body, or an error with the first ERROR_BYTES of its body.

        The caller closes the response. Raises httpx2.HTTPError, httpx2.InvalidURL and OSError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Plain(Transport):
    """The HTTP client alone."""

    http: httpx2.AsyncClient

    @override
    async def load(self) -> None:
        """Return at once, because the HTTP client is there."""

    @override
    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
        return await self.send(self.request(url, headers, body))

    def request(self, url: httpx2.URL | str, headers: Headers, body: bytes) -> httpx2.Request:
        """Return a request with these headers and the two that HTTP needs, Host and Content-Length."""
        # Not `build_request`, which merges the headers and cookies of the client into each request.
        return httpx2.Request("POST", url, content=body, headers=headers, extensions=_NO_TIMEOUTS)

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and return its response as `post` does."""
        response = await self.http.send(request, stream=True)
        if response.is_success:
            return response
        try:
            content = await _beginning(response)
        finally:
            await response.aclose()
        waits = {"retry-after": response.headers.get("retry-after", "")}
        return httpx2.Response(response.status_code, headers=waits, content=content, request=request)


class OpenAIModule(Protocol):
    """The module that imports the package."""

    def openai_client(self, plain: Plain) -> Transport:
        """Return the client of the package, which sends over `plain`."""
        ...


class Packaged(Transport):
    """The client of the `openai` package, which is imported when a model is first asked."""

    def __init__(self, plain: Plain) -> None:
        self._plain = plain
        self._client: Transport | None = None

    @override
    async def load(self) -> None:
        await self._loaded()

    @override
    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
        client = await self._loaded()
        return await client.post(url, headers, body)

    async def _loaded(self) -> Transport:
        if self._client is None:
            # In a thread, because the event loop would stand still for a good part of a second.
            module = await asyncio.to_thread(import_openai, "gofer.models.openai_client")
            self._client = cast(OpenAIModule, module).openai_client(self._plain)
        return self._client


async def _beginning(response: httpx2.Response) -> bytes:
    """Return the first ERROR_BYTES of a body."""
    raw = bytearray()
    async for chunk in response.aiter_bytes():
        raw += chunk
        if len(raw) > ERROR_BYTES:
            break
    return bytes(raw[:ERROR_BYTES])
