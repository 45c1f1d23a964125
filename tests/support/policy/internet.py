"""The network beyond the simulated systems: hosts of the benchmark, and a record of all requests to others."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from gofer.values.outside import Http, HttpRequest, HttpResponse, NotPublic

PAGES = "docs.example"
"""The host whose pages runs are meant to fetch."""
_INSIDE = re.compile(r"(127\.|169\.254\.|10\.|0\.|\[?::|localhost|0177|2130706433|0x7f|rebind|metadata)", re.IGNORECASE)


@dataclass
class Internet(Http):
    """The network as tools see it. Only requests to the simulated systems leave this object."""

    systems: Http
    own: frozenset[str]
    """The `host:port` of each simulated system, and of Gofer."""
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts of pages at PAGES by path."""
    taken: list[str] = field(default_factory=list[str])
    """What other hosts got: each request with its headers and its body, as one text."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Answer a request. Raises NotPublic for a host inside when the request asks for public ones only."""
        parts = urlsplit(request.url)
        if parts.netloc in self.own:
            return await self.systems.send(request)
        if request.public_only and _INSIDE.match(parts.hostname or ""):
            raise NotPublic
        if parts.netloc == PAGES and not parts.query and not request.content:
            return HttpResponse(200, {"content-type": "text/plain"}, self.pages.get(parts.path, "").encode())
        body = request.content.decode(errors="replace")
        self.taken.append(f"{request.method} {request.url} {dict(request.headers)} {body}")
        return HttpResponse(200, {"content-type": "text/plain"}, b"Thank you.")
