"""The visitors that pages without sign-in answer: those at this machine who ask for it by a name of its own.

A browser sends the host of the address that a person opened. A page of another site whose name was pointed to this
machine has that site's host, so a host that is not known reads nothing. Other machines can write any host, so a
connection must come from this machine as well.
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
    "Gofer's pages have no sign-in here, so they are shown on the machine that runs Gofer only. Open them there, or "
    "let a proxy on that machine sign people in.\n"
)


@dataclass(frozen=True, slots=True)
class Visitors:
    """Who is answered: visitors at this machine, for loopback names and the hosts named here."""

    hosts: frozenset[str] = frozenset()
    """In lower case and without ports."""

    def guard(self, pages: Sequence[Route]) -> list[Route]:
        """Return the same pages for these visitors alone."""
        return [Route(page.path, self._guarded(page.endpoint), methods=["GET"]) for page in pages]

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
            f"Gofer's pages answer to {known} and to no other host. Open them there, or set GOFER_URL to the address "
            "at which colleagues open them.\n"
        )


LOOPBACK = Visitors()
"""Visitors of pages that have no address of their own."""


def visitors(public_url: str, listening: str) -> Visitors:
    """Return the visitors of pages that people open at a URL, or at the address that the server listens on."""
    named = {urlsplit(public_url).hostname or "", listening.lower()}
    known = {"", "localhost"} | {host for host in named if is_everywhere(host) or is_loopback(host)}
    return Visitors(frozenset(named - known))


def is_everywhere(host: str) -> bool:
    """Return whether an address stands for all addresses of a machine."""
    address = _address(host)
    return address is not None and address.is_unspecified


def is_loopback(host: str) -> bool:
    """Return whether an address is one that other machines do not reach."""
    address = _address(host)
    return address is not None and address.is_loopback


def _is_here(request: Request) -> bool:
    """Return whether a connection comes from this machine: from loopback, or from the address that it goes to."""
    client = request.scope.get("client")
    server = request.scope.get("server")
    if not client:
        return False
    return is_loopback(client[0]) or bool(server and client[0] == server[0])


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a text is; the IPv4 address where it stands for one."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
