"""The HTTP proxies of outgoing requests, and the hosts that are reached without one."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from gofer.values.secret import Secret

_PORTS = {"https": 443, "wss": 443, "http": 80, "ws": 80}
_NONE = Secret("")


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxies of one process. Their URLs are secret, because they may hold a password."""

    https: Secret = _NONE
    """The proxy for https and wss; empty without one."""
    http: Secret = _NONE
    """The proxy for http and ws; empty without one."""
    direct: Sequence[str] = ()
    """Hosts without a proxy: names with their subdomains, addresses, networks, each with or without a port, or `*`."""

    def of(self, url: str) -> Secret:
        """Return the proxy for a URL; empty if the request goes directly. Loopback is always reached directly."""
        if not self.https and not self.http:
            return _NONE
        parts = urlsplit(url)
        chosen = self.https if parts.scheme in ("https", "wss") else self.http
        host = (parts.hostname or "").rstrip(".")
        port = parts.port or _PORTS.get(parts.scheme, 0)
        if not chosen or _is_loopback(host) or any(_matches(entry, host, port) for entry in self.direct):
            return _NONE
        return chosen


DIRECT = Proxies()
"""No proxy for any request."""


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _matches(entry: str, host: str, port: int) -> bool:
    """Return whether an entry of the list names a host (in lower case) at a port."""
    if entry == "*":
        return True
    named, colon, wanted = entry.lower().rpartition(":")
    if colon and wanted.isdecimal() and (":" not in named or named.endswith("]")):
        if int(wanted) != port:
            return False
    else:
        named = entry.lower()
    named = named.strip("[]")
    if _has_address(named, host):
        return True
    name = named.removeprefix("*").strip(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _has_address(named: str, host: str) -> bool:
    """Return whether a host is an address in the network, or the address, that an entry names."""
    try:
        return ip_address(host) in ip_network(named, strict=False)
    except ValueError:
        return False
