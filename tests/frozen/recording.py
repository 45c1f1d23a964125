"""An `Http` that records its requests."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from frozen.lines import content
from gofer.values.outside import Http, HttpRequest, HttpResponse


@dataclass
class RecordingHttp:
    """The requests to a server, in order, as values of JSON; headers are left out, as they hold secrets."""

    http: Http
    sent: list[object] = field(default_factory=list)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and keep it."""
        self.sent.append(described(request))
        return await self.http.send(request)


def described(request: HttpRequest) -> object:
    """Return a request as a value of JSON."""
    url = urlsplit(request.url)
    return {
        "method": request.method,
        "host": url.netloc,
        "path": url.path,
        "query": url.query,
        "body": content(request.content),
    }
