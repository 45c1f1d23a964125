"""The network as tools reach it: one shared client, without redirects, with hard limits on time and size."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from functools import cache
from io import BytesIO

import httpx2

from gofer.app.public_http import PUBLIC_ONLY, PublicOnly, Resolve, is_public_address, resolve
from gofer.files.size_limits import FILE_BYTES
from gofer.values.errors import TemporaryError
from gofer.values.outside import HttpRequest, HttpResponse, TooLarge

RESPONSE_LIMIT = FILE_BYTES + 1_000_000
"""Bytes of any response that are read at most: more than of the largest file, whose own limit names the cause."""


POOLS, POOL_SIZE = 8, 25
"""Pools of connections, and connections of each: for every request a pool looks at each idle one it has."""


class _LimitedBody(httpx2.AsyncByteStream):
    """A body that breaks off when it grows beyond the limit, and says once when it is closed."""

    def __init__(self, body: httpx2.AsyncByteStream, closed: Callable[[], None]) -> None:
        self._body = body
        self._closed = closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._body:
            read += len(chunk)
            if read > RESPONSE_LIMIT:
                raise httpx2.ReadError(f"the answer is larger than {RESPONSE_LIMIT} bytes")
            yield chunk

    async def aclose(self) -> None:
        closed, self._closed = self._closed, _nothing
        closed()
        await self._body.aclose()


class _Pool(httpx2.AsyncHTTPTransport):
    """Sends as usual; what comes back is limited."""

    def __init__(self, kept: int | None = None) -> None:
        """`kept` is how many idle connections stay open at most."""
        limits = httpx2.Limits(max_connections=POOL_SIZE, max_keepalive_connections=kept)
        super().__init__(verify=trusted(), limits=limits, trust_env=False)
        self.busy = 0
        """Requests whose answer was not read to its end yet."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.busy += 1
        try:
            response = await super().handle_async_request(request)
        except BaseException:
            self._free()
            raise
        if request.headers.get("accept-encoding") == "identity":
            # Compressed all the same: a few kilobytes could unpack into gigabytes, so nothing is unpacked.
            response.headers.pop("content-encoding", None)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _LimitedBody(response.stream, self._free)
        return response

    def _free(self) -> None:
        self.busy -= 1


@cache
def trusted() -> ssl.SSLContext:
    """Whom every client of the process trusts; reading it takes 30 ms."""
    return httpx2.create_ssl_context(trust_env=False)


class _Pools(httpx2.AsyncBaseTransport):
    """Each request goes to the first pool with room, so that connections are used again.

    Requests for the public internet have a pool of their own, which keeps no connection.
    """

    def __init__(self, resolve: Resolve, is_public: Callable[[str], bool]) -> None:
        self._pools = [_Pool() for _ in range(POOLS)]
        self._public = PublicOnly(_Pool(kept=0), resolve, is_public)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.extensions.get(PUBLIC_ONLY):
            return await self._public.handle_async_request(request)
        room = (pool for pool in self._pools if pool.busy < POOL_SIZE)
        pool = next(room, None) or min(self._pools, key=lambda pool: pool.busy)
        return await pool.handle_async_request(request)

    async def aclose(self) -> None:
        for pool in (*self._pools, self._public):
            await pool.aclose()


def http_client(resolve: Resolve = resolve, is_public: Callable[[str], bool] = is_public_address) -> httpx2.AsyncClient:
    """Build the one client of a process, which its builder closes.

    `resolve` looks up the names of public requests, and `is_public` judges their addresses.
    """
    return httpx2.AsyncClient(transport=_Pools(resolve, is_public), follow_redirects=False, trust_env=False)


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
                    extensions={PUBLIC_ONLY: request.public_only},
                ) as response,
            ):
                body = await _read(response, request.limit)
        except TimeoutError as error:
            raise TemporaryError(f"no answer within {request.timeout:g} seconds") from error
        except httpx2.HTTPError as error:
            raise TemporaryError(f"the connection failed ({type(error).__name__})") from error
        return HttpResponse(response.status_code, dict(response.headers), body)


async def _read(response: httpx2.Response, limit: int) -> bytes:
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise TooLarge(f"the answer is larger than {limit} bytes")
    # Its value is handed over without a copy, which counts where files are large.
    body = BytesIO()
    async for chunk in response.aiter_bytes():
        body.write(chunk)
        if body.tell() > limit:
            raise TooLarge(f"the answer is larger than {limit} bytes")
    return body.getvalue()


def _nothing() -> None:
    """What a body says when it is closed again."""
