"""The network as tools reach it: one shared client, without redirects, with hard limits on time and size.

A request may be limited to the public internet. Its transport resolves the name of the host once, refuses the request
unless every address of the host is public, and connects to one of the checked addresses. So a host that changes its
address between the check and the connection (DNS rebinding) gains nothing.
"""

import asyncio
import socket
import ssl
from asyncio import get_running_loop
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

import httpx2
from typing_extensions import override

from gofer.files.size_limits import FILE_BYTES
from gofer.values.errors import TemporaryError, Unsent
from gofer.values.outside import BadUrl, Http, HttpRequest, HttpResponse, NotPublic, TooLarge
from gofer.values.proxies import Proxies

PUBLIC_ONLY = "gofer_public_only"
"""The request extension that limits a request to public addresses."""

_LAST_PORT = 65_535
_SHOWN = 200
"""The characters of an error about a URL that are shown."""

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host, as text. Raises OSError for a name without one."""

_NAT64 = ip_network("64:ff9b::/96")
_REFUSED = (
    ip_network("::/96"),  # IPv4-compatible: the last 32 bits are an address, and no network uses the form any more.
    ip_network("fec0::/10"),  # Site-local, the private addresses before fc00::/7.
    ip_network("64:ff9b:1::/48"),  # Translates into any network that its operator chose.
    ip_network("192.0.0.0/24"),  # Protocol assignments, some of them with services for a machine of a cloud.
    ip_network("168.63.129.16/32"),  # Azure's services for a machine, in a public range.
)
"""Networks that `is_global` takes for public."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host in the order of the system's preference. Raises OSError."""
    found = await get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public_address(text: str) -> bool:
    """Return whether an address belongs to the public internet. An embedded IPv4 address decides for an IPv6 one."""
    try:
        address = _effective(ip_address(text))
    except ValueError:
        return False
    if any(address in network for network in _REFUSED if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _effective(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address embeds, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address


@dataclass(frozen=True, slots=True)
class PublicOnly(httpx2.AsyncBaseTransport):
    """A transport that sends requests to public addresses only, over a transport that keeps no connections.

    A kept connection would be reused by address for another host, though its certificate was verified for one host.
    """

    sender: httpx2.AsyncBaseTransport
    resolve: Resolve = resolve
    is_public: Callable[[str], bool] = is_public_address

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first of its checked addresses that accepts a connection. Raises NotPublic."""
        addresses = await self._checked(request)
        for address in addresses[:-1]:
            try:
                return await self._send(request, address, len(addresses))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._send(request, addresses[-1], len(addresses))

    @override
    async def aclose(self) -> None:
        """Close the underlying transport."""
        await self.sender.aclose()

    async def _checked(self, request: httpx2.Request) -> Sequence[str]:
        try:
            addresses = await self.resolve(request.url.host, request.url.port or 443)
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError("the name of the host has no address") from error
        if not addresses or not all(map(self.is_public, addresses)):
            raise NotPublic
        return addresses

    async def _send(self, request: httpx2.Request, address: str, addresses: int) -> httpx2.Response:
        """Send to one address. The `Host` header and the verified certificate remain those of the host's name."""
        timeouts = dict(request.extensions.get("timeout", {}))
        if connect := timeouts.get("connect"):
            timeouts["connect"] = connect / addresses
        sent = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "timeout": timeouts, "sni_hostname": request.url.host},
        )
        return await self.sender.handle_async_request(sent)


RESPONSE_LIMIT = FILE_BYTES + 1_000_000
"""The most bytes read of any response. It exceeds the limit of a file, so a large file has its own error."""


POOLS = 40
POOL_SIZE = 5
"""The number of connection pools, and of connections in each. Small pools, because each request scans its pool."""


class _LimitedBody(httpx2.AsyncByteStream):
    """A body that raises when it exceeds the limit, and calls `closed` once when it is closed."""

    def __init__(self, body: httpx2.AsyncByteStream, closed: Callable[[], None]) -> None:
        self._body = body
        self._closed = closed

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._body:
            read += len(chunk)
            if read > RESPONSE_LIMIT:
                raise httpx2.ReadError(f"the answer is larger than {RESPONSE_LIMIT} bytes")
            yield chunk

    @override
    async def aclose(self) -> None:
        closed, self._closed = self._closed, _nothing
        closed()
        await self._body.aclose()


class _Pool(httpx2.AsyncHTTPTransport):
    """A pool of connections that limits the size of responses."""

    def __init__(self, proxy: str, kept: int | None = None) -> None:
        """Make a pool that keeps at most `kept` idle connections open, through the proxy at a URL if there is one."""
        limits = httpx2.Limits(max_connections=POOL_SIZE, max_keepalive_connections=kept)
        through = httpx2.Proxy(proxy, ssl_context=_proxy_context(proxy)) if proxy else None
        super().__init__(verify=trusted(), limits=limits, trust_env=False, proxy=through)
        self.busy = 0
        """The number of requests with a response that is not closed yet."""

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.busy += 1
        try:
            response = await super().handle_async_request(request)
        except BaseException:
            self._free()
            raise
        if request.headers.get("accept-encoding") == "identity":
            # The server compressed although asked not to. A few kilobytes could unpack into gigabytes.
            response.headers.pop("content-encoding", None)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _LimitedBody(response.stream, self._free)
        return response

    def _free(self) -> None:
        self.busy -= 1


@cache
def trusted() -> ssl.SSLContext:
    """Return the TLS context of every client of the process. It is cached, because reading it takes 30 ms."""
    return httpx2.create_ssl_context(trust_env=False)


def _proxy_context(proxy: str) -> ssl.SSLContext | None:
    """Return the TLS context of the connection to a proxy, which is not encrypted for an http URL."""
    return trusted() if proxy.startswith("https:") else None


class _Pools(httpx2.AsyncBaseTransport):
    """A transport that gives each request to the first pool with room, so that connections are reused.

    Requests limited to the public internet have a pool of their own, which keeps no connection. A proxy gets the
    checked address of such a request and not the name, because it would resolve the name again.
    """

    def __init__(self, proxy: str, resolve: Resolve, is_public: Callable[[str], bool]) -> None:
        self._pools = [_Pool(proxy) for _ in range(POOLS)]
        self._public = PublicOnly(_Pool(proxy, kept=0), resolve, is_public)

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.extensions.get(PUBLIC_ONLY):
            return await self._public.handle_async_request(request)
        room = (pool for pool in self._pools if pool.busy < POOL_SIZE)
        pool = next(room, None) or min(self._pools, key=lambda pool: pool.busy)
        return await pool.handle_async_request(request)

    @override
    async def aclose(self) -> None:
        for pool in (*self._pools, self._public):
            await pool.aclose()


class _Routes(httpx2.AsyncBaseTransport):
    """A transport that sends each request through the proxy of its URL, or directly."""

    def __init__(self, proxies: Proxies, make: Callable[[str], _Pools]) -> None:
        self._proxies = proxies
        self._make = make
        self._pools = {"": make("")}
        """The pools by the URL of their proxy; the empty text stands for none."""

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        proxy = self._proxies.of(str(request.url)).reveal()
        if proxy not in self._pools:
            self._pools[proxy] = self._make(proxy)
        return await self._pools[proxy].handle_async_request(request)

    @override
    async def aclose(self) -> None:
        for pools in self._pools.values():
            await pools.aclose()


def http_client(
    proxies: Proxies,
    resolve: Resolve = resolve,
    is_public: Callable[[str], bool] = is_public_address,
) -> httpx2.AsyncClient:
    """Return the shared client of a process, which uses these proxies only. The caller closes it.

    For requests limited to the public internet, `resolve` looks up the host and `is_public` checks its addresses.
    """
    transport = _Routes(proxies, lambda proxy: _Pools(proxy, resolve, is_public))
    return httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False)


class SharedHttp(Http):
    """`outside.Http` over a shared httpx2 client."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    @override
    async def send(self, request: HttpRequest) -> HttpResponse:
        url = _url(request.url)
        try:
            async with (
                asyncio.timeout(request.timeout),
                self._client.stream(
                    request.method,
                    url,
                    headers=dict(request.headers),
                    content=request.content,
                    timeout=request.timeout,
                    extensions={PUBLIC_ONLY: request.public_only},
                ) as response,
            ):
                body = await _read(response, request.limit)
        except TimeoutError as error:
            raise TemporaryError(f"no answer within {request.timeout:g} seconds") from error
        except httpx2.ProxyError as error:
            raise TemporaryError("the proxy did not pass the request on") from error
        except httpx2.ConnectError as error:
            raise Unsent(f"the connection failed ({type(error).__name__})") from error
        except httpx2.HTTPError as error:
            raise TemporaryError(f"the connection failed ({type(error).__name__})") from error
        return HttpResponse(response.status_code, dict(response.headers), body)


def _url(text: str) -> httpx2.URL:
    """Return a URL that can be requested. Raises BadUrl."""
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL as error:
        raise BadUrl(str(error)[:_SHOWN]) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise BadUrl("it needs http:// or https:// and a host")
    if url.port is not None and url.port > _LAST_PORT:
        raise BadUrl(f"its port is above {_LAST_PORT}")
    return url


async def _read(response: httpx2.Response, limit: int) -> bytes:
    announced = response.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise TooLarge(f"the answer is larger than {limit} bytes")
    # BytesIO returns its value without a copy, which matters for large files.
    body = BytesIO()
    async for chunk in response.aiter_bytes():
        body.write(chunk)
        if body.tell() > limit:
            raise TooLarge(f"the answer is larger than {limit} bytes")
    return body.getvalue()


def _nothing() -> None:
    """Replace `closed` after its first call."""
