"""How does a file of somebody else's come here: how large may it be, which ways does it take, who sees credentials?

Redirects are followed by hand, because every vendor sends its files from another host: to each of them goes what it may
see, and nothing at all goes to a host that the vendor has no business with.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urljoin, urlsplit

from gofer.errors import TemporaryError, ToolError
from gofer.outside import HttpRequest, HttpResponse, TooLarge
from gofer.tools.tool import Call

LIMIT = 20_000_000
"""Bytes of one file at most."""
HOPS = 3
"""Redirects in a row at most."""
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Way:
    """Which hosts a file may come from, and what each of them is sent."""

    vendor: str
    """As people call it."""
    headers: Callable[[SplitResult], Mapping[str, str] | None]
    """The headers for an address; None for one that is not asked at all."""


async def download(call: Call, way: Way, url: str) -> HttpResponse:
    """What an address gives in the end, whatever its status. Raises ToolError for one too large or elsewhere,
    TemporaryError."""
    for _ in range(HOPS + 1):
        address = parts(url)
        headers = way.headers(address) if address else None
        if headers is None:
            raise ToolError(
                f"{way.vendor} has that file elsewhere, and Gofer fetches nothing from there.", code="elsewhere"
            )
        request = HttpRequest("GET", url, {"Accept-Encoding": "identity", **headers}, limit=LIMIT)
        try:
            response = await call.http.send(request)
        except TooLarge as error:
            raise too_large() from error
        if not (300 <= response.status < 400 and response.headers.get("location")):
            return _taken(way, response)
        url = _joined(url, response.headers["location"])
    raise ToolError(f"{way.vendor} sends Gofer around in circles for that file.", code="elsewhere")


def _taken(way: Way, response: HttpResponse) -> HttpResponse:
    if response.status == 429 or response.status >= 500 or response.status == 408:
        said = f"{way.vendor} did not send the file (HTTP {response.status})."
        raise TemporaryError(said, retry_after=response.retry_after)
    if len(response.body) > LIMIT:
        raise too_large(len(response.body))
    return response


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def check_size(size: object) -> None:
    """Raises ToolError for a size, as a vendor tells it, that is not worth beginning with."""
    if isinstance(size, int) and size > LIMIT:
        raise too_large(size)


def too_large(size: int = 0) -> ToolError:
    """What is said of a file that is not fetched for its size."""
    told = f" ({size} bytes)" if size else ""
    return ToolError(f"That file is too large{told}: Gofer fetches at most {LIMIT} bytes of one.", code="too_large")


def parts(url: str) -> SplitResult | None:
    """The parts of an address; None for one that is none, or that carries credentials of its own."""
    try:
        split = urlsplit(url)
        split.port  # noqa: B018 - raises for one that is no number
    except ValueError:
        return None
    good = split.scheme in ("http", "https") and _HOST.fullmatch(split.hostname or "")
    return split if good and "@" not in split.netloc else None


def same_place(one: SplitResult, url: str) -> bool:
    """Whether an address is served by the same server as another one."""
    other = parts(url)
    return other is not None and (one.scheme, one.netloc) == (other.scheme, other.netloc)


def is_public(address: SplitResult) -> bool:
    """Whether an address may lead out of a company's own network: by TLS, to a name and not to a number."""
    host = address.hostname or ""
    if address.scheme != "https" or address.port not in (None, 443) or "." not in host:
        return False
    try:
        ip_address(host)
    except ValueError:
        return not host.rpartition(".")[2].isdecimal() and not host.endswith((".local", ".internal", ".localhost"))
    return False
