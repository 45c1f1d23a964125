"""How do tools reach the network? One shared client, without redirects, with hard limits on time and size."""

import asyncio
from collections.abc import AsyncIterator

import httpx2

from gofer.errors import TemporaryError
from gofer.outside import HttpRequest, HttpResponse

RESPONSE_LIMIT = 20_000_000
"""Bytes of any response that are read at most, whoever asked."""


class _LimitedBody(httpx2.AsyncByteStream):
    """A body that breaks off when it grows beyond the limit."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._body:
            read += len(chunk)
            if read > RESPONSE_LIMIT:
                raise httpx2.ReadError(f"the answer is larger than {RESPONSE_LIMIT} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


class _LimitedTransport(httpx2.AsyncHTTPTransport):
    """Sends as usual; what comes back is limited."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if request.headers.get("accept-encoding") == "identity":
            # Compressed all the same: a few kilobytes could unpack into gigabytes, so nothing is unpacked.
            response.headers.pop("content-encoding", None)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _LimitedBody(response.stream)
        return response


def http_client() -> httpx2.AsyncClient:
    """The one client of a process; whoever builds it closes it."""
    transport = _LimitedTransport(limits=httpx2.Limits(max_connections=200), trust_env=False)
    return httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False)


class SharedHttp:
    """`outside.Http` over a shared httpx2 client."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def send(self, request: HttpRequest) -> HttpResponse:
        """See Http.send."""
        try:
            async with (
                asyncio.timeout(request.timeout),
                self._client.stream(
                    request.method,
                    request.url,
                    headers=dict(request.headers),
                    content=request.content,
                    timeout=request.timeout,
                ) as response,
            ):
                body = await _read(response, request.limit)
        except TimeoutError as error:
            raise TemporaryError(f"no answer within {request.timeout:g} seconds") from error
        except httpx2.HTTPError as error:
            raise TemporaryError(f"the connection failed ({type(error).__name__})") from error
        return HttpResponse(response.status_code, dict(response.headers), body)


async def _read(response: httpx2.Response, limit: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > limit:
            raise TemporaryError(f"the answer is larger than {limit} bytes")
    return bytes(body)
