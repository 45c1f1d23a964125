"""A simulated vendor as an HTTP server: its app, its resources by method and path, and requests that meet a fault."""

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

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_Run = TypeVar("_Run")


class Vendor(ABC):
    """A web app with state, and the deliveries that it makes."""

    def __init__(self, webhook: Webhook, routes: Sequence[BaseRoute]) -> None:
        self.app = Starlette(routes=routes)
        """The vendor as a web app."""
        self._webhook = webhook

    @abstractmethod
    def subscribe(self, url: str) -> None:
        """Deliver events to this URL from now on."""

    @abstractmethod
    def settings(self, url: str) -> Mapping[str, str]:
        """Return the settings by which Gofer reaches it at a URL, by their names in the environment."""

    @abstractmethod
    def state(self) -> dict[str, object]:
        """Return what it holds in plain JSON, for comparing the world before and after."""

    async def settled(self) -> None:
        """Wait until no delivery is under way, retries included."""
        await self._webhook.settled()

    async def close(self) -> None:
        """Cancel the deliveries under way."""
        await self._webhook.close()


@dataclass(frozen=True, slots=True)
class Resource(Generic[_Run]):
    """One method of one path, and what it does."""

    method: str
    path: re.Pattern[str]
    run: _Run


def resource(line: str, run: _Run) -> Resource[_Run]:
    """Return the resource of a line such as `GET /issue/{issue}`; the rest of the path is a regular expression."""
    method, _, path = line.partition(" ")
    return Resource(method, re.compile(re.sub(r"\{([a-z]+)\}", r"(?P<\1>[^/]+)", path)), run)


def find(resources: Sequence[Resource[_Run]], method: str, path: str) -> tuple[_Run, dict[str, str]] | None:
    """Return what the first resource of a method and a path does, with the parts of the path that it names."""
    for one in resources:
        match = one.path.fullmatch(path)
        if match and one.method == method:
            return one.run, {name: part for name, part in match.groupdict().items() if part is not None}
    return None


async def respond(
    faults: Faults,
    request: Request,
    answered: Callable[[], Awaitable[Response]],
    failed: Callable[[Fault], Response],
) -> Response:
    """Answer one request, or let it meet the fault that is planned for it; `failed` is the vendor's refusal."""
    fault = faults.take(request.method, request.url.path)
    if fault is None:
        return await answered()
    match fault.kind:
        case "timeout":
            await disconnected(request)
            return Response(status_code=504)
        case "status" | "expired_token":
            return failed(fault)
        case "slow":
            await asyncio.sleep(fault.seconds)
            return await answered()
        case "timeout_after_success":
            response = await answered()
            await disconnected(request)
            return response


def origin(request: Request) -> str:
    """Return where the caller reached the server, as `http://127.0.0.1:8001`."""
    return str(request.base_url).rstrip("/")


async def disconnected(request: Request) -> None:
    """Return when the caller has closed the connection: it is never answered."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
