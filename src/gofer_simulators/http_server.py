"""A simulated vendor as an HTTP server: its app, its resources by method and path, and its planned faults."""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from gofer_simulators.deliveries import Webhook
from gofer_simulators.faults import Fault, Faults
from gofer_simulators.local_links import LocalLinks

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_Run = TypeVar("_Run")


class Vendor(ABC):
    """A vendor as a web app with state and a webhook."""

    def __init__(self, webhook: Webhook, routes: Sequence[BaseRoute], links: LocalLinks | None = None) -> None:
        self.app = Starlette(routes=routes)
        """The vendor as a web app."""
        self.links = links or LocalLinks()
        """The links to other systems on the pages of this vendor."""
        self._webhook = webhook

    @abstractmethod
    def subscribe(self, url: str) -> None:
        """Deliver events to this URL from now on."""

    @abstractmethod
    def settings(self, url: str) -> Mapping[str, str]:
        """Return the environment variables with which Gofer reaches this vendor at a URL."""

    @property
    def written_origin(self) -> str:
        """The origin of links to this vendor in texts, such as `https://github.com`; empty if texts have none."""
        return ""

    @abstractmethod
    def state(self) -> dict[str, object]:
        """Return the vendor's state in plain JSON, so that a test can compare two moments."""

    async def settled(self) -> None:
        """Wait until every delivery has ended, with its retries."""
        await self._webhook.settled()

    async def close(self) -> None:
        """Cancel the running deliveries."""
        await self._webhook.close()


@dataclass(frozen=True, slots=True)
class Resource(Generic[_Run]):
    """One HTTP method of one path, with the function that answers it."""

    method: str
    path: re.Pattern[str]
    run: _Run


def resource(line: str, run: _Run) -> Resource[_Run]:
    """Return the resource of a line such as `GET /issue/{issue}`.

    The path is a regular expression in which `{name}` stands for one part of the path.
    """
    method, _, path = line.partition(" ")
    return Resource(method, re.compile(re.sub(r"\{([a-z]+)\}", r"(?P<\1>[^/]+)", path)), run)


def find(resources: Sequence[Resource[_Run]], method: str, path: str) -> tuple[_Run, dict[str, str]] | None:
    """Return the function of the first resource with this method and path, and the named parts of the path."""
    for one in resources:
        match = one.path.fullmatch(path)
        if match and one.method == method:
            return one.run, {name: part for name, part in match.groupdict().items() if part is not None}
    return None


async def respond(
    faults: Faults,
    request: Request,
    answer: Callable[[], Awaitable[Response]],
    fault_response: Callable[[Fault], Response],
) -> Response:
    """Answer one request, or apply the fault that is planned for the request.

    `answered` makes the normal answer, and `failed` makes the vendor's answer to a fault.
    """
    fault = faults.take(request.method, request.url.path)
    if fault is None:
        return await answer()
    match fault.kind:
        case "timeout":
            await disconnected(request)
            return Response(status_code=504)
        case "status" | "expired_token":
            return fault_response(fault)
        case "slow":
            await asyncio.sleep(fault.seconds)
            return await answer()
        case "timeout_after_success":
            response = await answer()
            await disconnected(request)
            return response


def origin(request: Request) -> str:
    """Return the address at which the caller reached the server, such as `http://127.0.0.1:8001`."""
    return str(request.base_url).rstrip("/")


async def disconnected(request: Request) -> None:
    """Wait until the caller closes the connection; the caller never gets an answer."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
