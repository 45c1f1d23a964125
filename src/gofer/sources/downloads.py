"""Downloads of files from vendors: the size limit, the permitted hosts, and the hosts that get credentials.

This module follows redirects itself, because vendors serve files from several hosts. It decides for each host which
headers to send, and sends nothing to a host that is not the vendor's. Only the host that the operator configured may
be in a private network.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from urllib.parse import SplitResult, urljoin, urlsplit

from gofer.files.kind import likely, with_charset
from gofer.files.size_limits import FILE_BYTES, megabytes, without_middle
from gofer.tools.definition import Call, NewFile
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.missing import Missing
from gofer.values.outside import HttpRequest, HttpResponse, NotPublic, TooLarge

LIMIT = FILE_BYTES
"""The largest file, in bytes."""
ENDS = 30_000_000
"""Bytes that are fetched from the beginning, and from the end, of a larger text."""
HOPS = 3
"""The most redirects in a row."""
_RANGE = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/([0-9]{1,15})")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class VendorHosts:
    """The hosts that a vendor's files may come from, and the headers for each."""

    vendor: str
    """The name of the vendor, for people."""
    base_url: str
    """The URL that the operator configured for the vendor. Every other host must be public."""
    headers: Callable[[SplitResult], Mapping[str, str] | None]
    """Returns the headers for an address, or None for an address to which Gofer sends no request."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer of a server, and the parts of the file that are missing from its body."""

    response: HttpResponse
    """The answer, which may have any status."""
    missing: tuple[Missing, ...] = ()


async def fetch(call: Call, way: VendorHosts, url: str, file: NewFile) -> Fetched:
    """Fetch a file that a vendor described; of a text above the limit, fetch only the beginning and the end.

    Raises the same errors as `download`.
    """
    if file.size <= LIMIT:
        try:
            return Fetched(await download(call, way, url))
        except ToolError as error:
            if error.code != "too_large":
                raise
    if likely(file.media_type, file.name) != "text":
        raise too_large(file.size)
    try:
        return await _ends(call, way, url)
    except ToolError as error:
        if error.code != "too_large":
            raise
        raise too_large(file.size) from error


async def _ends(call: Call, way: VendorHosts, url: str) -> Fetched:
    head = await download(call, way, url, f"bytes=0-{ENDS - 1}")
    if not 200 <= head.status < 300:
        return Fetched(head)
    tail = await download(call, way, url, f"bytes=-{ENDS}")
    first = _span(head)
    last = _span(tail)
    # The cut is made at the byte of a newline, which does not work for UTF-16.
    if first is None or last is None or not _are_ends(first, last) or b"\0" in head.body[:1_000]:
        raise too_large()
    ends = without_middle(head.body, tail.body, first.total)
    return Fetched(HttpResponse(200, head.headers, ends.content), (ends.missing,))


@dataclass(frozen=True, slots=True)
class _Span:
    """The bytes of a file that an answer holds, from `start` to `stop` (both included) out of `total`."""

    start: int
    stop: int
    total: int


def _span(part: HttpResponse) -> _Span | None:
    """Return the bytes that a partial answer holds; None when it is not partial or contradicts its header."""
    found = _RANGE.fullmatch(part.headers.get("content-range", ""))
    if not found or part.status != 206:
        return None
    span = _Span(*map(int, found.groups()))
    if len(part.body) != span.stop - span.start + 1:
        return None
    return span


def _are_ends(first: _Span, last: _Span) -> bool:
    """Return whether two parts are the beginning and the end of one large file. A server may send less than requested.

    They are not when the server ignores ranges from the end, or when the file changed between the two requests.
    """
    if first.total != last.total or first.total <= 2 * ENDS:
        return False
    return first.start == 0 and first.stop < last.start and last.stop == last.total - 1


async def download(call: Call, way: VendorHosts, url: str, part: str = "") -> HttpResponse:
    """Return the answer after all redirects, with any status. `part` is a byte range in HTTP's notation.

    Raises ToolError for a file that is too large or on a host that is not permitted, and TemporaryError.
    """
    for _ in range(HOPS + 1):
        address = parts(url)
        headers = None
        if address:
            headers = way.headers(address)
        if headers is None:
            message = f"{way.vendor} keeps that file on another server, and Gofer does not fetch files from there."
            raise ToolError(message, code="elsewhere")
        response = await _send(call, way, url, {**_range(part), **headers})
        if not (300 <= response.status < 400 and response.headers.get("location")):
            return _checked(way, response)
        url = _joined(url, response.headers["location"])
    raise ToolError(f"{way.vendor} redirected Gofer too often for that file.", code="elsewhere")


def _range(part: str) -> Mapping[str, str]:
    if not part:
        return {}
    return {"Range": part}


async def _send(call: Call, way: VendorHosts, url: str, headers: Mapping[str, str]) -> HttpResponse:
    sent = {"Accept-Encoding": "identity", **headers}
    public_only = not configured(url, way.base_url)
    try:
        return await call.http.send(HttpRequest("GET", url, sent, limit=LIMIT, public_only=public_only))
    except TooLarge as error:
        raise too_large() from error
    except NotPublic as error:
        message = f"{way.vendor} keeps that file in a private network, and Gofer does not fetch files from there."
        raise ToolError(message, code=error.code) from error


def _checked(way: VendorHosts, response: HttpResponse) -> HttpResponse:
    if response.status == 429 or response.status >= 500 or response.status == 408:
        message = f"{way.vendor} did not send the file (HTTP {response.status})."
        raise TemporaryError(message, retry_after=response.retry_after)
    if len(response.body) > LIMIT:
        raise too_large(len(response.body))
    return response


def with_content(file: NewFile, fetched: Fetched) -> NewFile:
    """Return a file with its content, the encoding that the server declared, and the parts that are missing."""
    sent = fetched.response.headers.get("content-type", "")
    return replace(
        file,
        media_type=with_charset(file.media_type, sent),
        content=fetched.response.body,
        missing=fetched.missing,
    )


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def too_large(size: int = 0) -> ToolError:
    """Return the error for a file that is too large to fetch."""
    size_note = ""
    if size:
        size_note = f" ({megabytes(size)})"
    message = (
        f"That file is too large{size_note}: Gofer fetches files of up to {megabytes(LIMIT)}. Ask for a part of it."
    )
    return ToolError(message, code="too_large")


def parts(url: str) -> SplitResult | None:
    """Return the parts of an address; None when it is not a valid one, or contains credentials."""
    try:
        split = urlsplit(url)
        split.port  # noqa: B018 - raises for a port that is not a number
    except ValueError:
        return None
    if split.scheme not in ("http", "https") or not _HOST.fullmatch(split.hostname or ""):
        return None
    if "@" in split.netloc:
        return None
    return split


def same_place(one: SplitResult, url: str) -> bool:
    """Return whether two addresses are on the same server."""
    other = parts(url)
    return other is not None and (one.scheme, one.netloc) == (other.scheme, other.netloc)


def configured(url: str, base_url: str) -> bool:
    """Return whether an address is on the server that the operator configured for the vendor."""
    address = parts(url)
    return address is not None and same_place(address, base_url)


def is_public(address: SplitResult) -> bool:
    """Return whether an address looks public by its spelling: TLS on port 443, and a host name instead of a number.

    The HTTP client checks the resolved IP address; see `HttpRequest.public_only`.
    """
    host = address.hostname or ""
    if address.scheme != "https" or address.port not in (None, 443) or "." not in host:
        return False
    try:
        ip_address(host)
    except ValueError:
        return not host.rpartition(".")[2].isdecimal() and not host.endswith((".local", ".internal", ".localhost"))
    return False
