"""The transport of requests that may reach the public internet only.

Resolves a name once, refuses it unless every address of it is public, and connects to an address that it checked. So a
name that changes its address between the check and the connection gains nothing.
"""

import socket
from asyncio import get_running_loop
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

import httpx2

from gofer.values.outside import NotPublic

PUBLIC_ONLY = "gofer_public_only"
"""The extension of a request that may reach public addresses only."""

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
    """Return whether an address belongs to the public internet, also where it stands for another one."""
    try:
        address = _meant(ip_address(text))
    except ValueError:
        return False
    if any(address in network for network in _REFUSED if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _meant(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address stands for, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address


@dataclass(frozen=True, slots=True)
class PublicOnly(httpx2.AsyncBaseTransport):
    """Sends requests to public addresses over another transport, which must not keep connections.

    A connection belongs to an address here, and its certificate was verified for one name only.
    """

    sender: httpx2.AsyncBaseTransport
    resolve: Resolve = resolve
    is_public: Callable[[str], bool] = is_public_address

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first of its checked addresses that accepts a connection. Raises NotPublic."""
        addresses = await self._checked(request)
        for address in addresses[:-1]:
            try:
                return await self._send(request, address, len(addresses))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._send(request, addresses[-1], len(addresses))

    async def aclose(self) -> None:
        """Close the transport below."""
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
        """Send to one address; `Host` is in the headers already, and the certificate is verified for the name."""
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
