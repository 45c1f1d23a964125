"""Access to pages without sign-in: only from this machine, and only by one of its own host names.

A browser sends the host name of the page that it shows. An attacker can point the name of another site to this machine,
so requests with an unknown host name are refused. Programs on other machines can send any host name, so the connection
must come from this machine as well.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{0,5})?", re.ASCII | re.IGNORECASE)
_OTHER_MACHINE = (
    "These pages have no sign-in, so Gofer shows them only to browsers on the machine that it runs on. Open them "
    "there, set up the sign-in (`gofer docs one-machine`), or a proxy on that machine that signs people in.\n"
)


@dataclass(frozen=True, slots=True)
class Visitors:
    """The rule for visitors: they connect from this machine, and ask for a loopback name or one of `hosts`."""

    hosts: frozenset[str] = frozenset()
    """Host names in lower case, without ports."""

    def routes(self) -> list[Route]:
        """Return no routes, because there is no sign-in."""
        return []

    def guard(self, pages: Sequence[Route]) -> list[Route]:
        """Return the same pages, restricted to these visitors."""
        return [Route(page.path, self._guarded(page.endpoint), methods=page.methods or ["GET"]) for page in pages]

    def knows(self, header: str) -> bool:
        """Return whether a `Host` header names this machine, at any port."""
        found = _HOST.fullmatch(header)
        if found is None:
            return False
        host = (found[1] or found[2]).lower()
        return host == "localhost" or host in self.hosts or is_loopback(host)

    def _guarded(self, page: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            if not self.knows(request.headers.get("host", "")):
                return PlainTextResponse(self._other_host(), 421)
            if not _is_here(request):
                return PlainTextResponse(_OTHER_MACHINE, 403)
            return await page(request)

        return guarded

    def _other_host(self) -> str:
        known = ", ".join(["localhost", "127.0.0.1", *sorted(self.hosts)])
        return (
            f"Gofer shows its pages only at these hosts: {known}. Open them at one of these, or set GOFER_URL to the "
            "address at which colleagues open them.\n"
        )


LOOPBACK = Visitors()
"""The rule for pages without a public address."""


def visitors(public_url: str, listening: str) -> Visitors:
    """Return the rule for pages at `public_url` and at `listening`, the address that the server listens on.

    A host name other than `localhost` is accepted only from the URL that people open, or if the server listens on it.
    """
    named = {urlsplit(public_url).hostname or "", listening.lower()}
    known = {"", "localhost"} | {host for host in named if is_everywhere(host) or is_loopback(host)}
    return Visitors(frozenset(named - known))


def is_everywhere(host: str) -> bool:
    """Return whether an address means all addresses of a machine, such as 0.0.0.0."""
    address = _address(host)
    return address is not None and address.is_unspecified


def is_loopback(host: str) -> bool:
    """Return whether an address is a loopback address, which other machines cannot reach."""
    address = _address(host)
    return address is not None and address.is_loopback


def _is_here(request: Request) -> bool:
    """Return whether a connection comes from this machine: from loopback, or from the address it is made to."""
    client = request.scope.get("client")
    server = request.scope.get("server")
    if not client:
        return False
    return is_loopback(client[0]) or bool(server and client[0] == server[0])


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address in a text, or None. For an IPv4-mapped IPv6 address, return the IPv4 address."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
