"""The network beyond the simulated systems: hosts of the benchmark, and a record of all requests to others."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from gofer.values.outside import BadUrl, Http, HttpRequest, HttpResponse, NotPublic

PAGES = "docs.example"
"""The host of the pages that runs are meant to fetch."""
NOTES = "https://notes.example/notes"
"""The memory of the company's tools."""
_INSIDE = re.compile(r"(127\.|169\.254\.|10\.|0\.|\[?::|localhost|0177|2130706433|0x7f|rebind|metadata)", re.IGNORECASE)


@dataclass
class Internet(Http):
    """The network as tools see it. Only requests to the simulated systems leave this object."""

    systems: Http
    own: frozenset[str]
    """The `host:port` of each simulated system, and of Gofer."""
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts of pages at PAGES by path."""
    notes: bytes = b""
    taken: list[str] = field(default_factory=list[str])
    """What other hosts got: each request with its headers and its body, as one text."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Answer a request. Raises NotPublic for a host inside if only public ones may be reached, and BadUrl."""
        parts = urlsplit(request.url)
        if parts.scheme not in ("http", "https"):
            raise BadUrl("the scheme is neither http nor https.")
        if parts.netloc in self.own:
            return await self.systems.send(request)
        if request.public_only and _INSIDE.match(parts.hostname or ""):
            raise NotPublic
        if parts.netloc == PAGES and not parts.query and not request.content:
            return HttpResponse(200, {"content-type": "text/plain"}, self.pages.get(parts.path, "").encode())
        if request.url == NOTES:
            if request.method == "PUT":
                self.notes = request.content
            return HttpResponse(200, {"content-type": "text/plain"}, self.notes)
        body = request.content.decode(errors="replace")
        self.taken.append(f"{request.method} {request.url} {dict(request.headers)} {body}")
        return HttpResponse(200, {"content-type": "text/plain"}, b"Thank you.")
