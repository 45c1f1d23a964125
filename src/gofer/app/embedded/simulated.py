"""The simulated systems of a world. Their servers are loaded only for a world."""

import contextlib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, cast, runtime_checkable

import httpx2
from starlette.types import ASGIApp

from gofer.app.settings import Settings
from gofer.sources.receivers import PATHS
from gofer.tools.mocks import MockedSystems
from gofer.values.addresses import host_of
from gofer.values.canonical_json import as_object, decode, encode
from gofer.values.errors import BadRequest
from gofer.values.events import Event

V = TypeVar("V")


class Links(Protocol):
    """The links on the pages of a system."""

    def use(self, local: Mapping[str, str]) -> None:
        """Open links to these origins at these base URLs from now on."""
        ...


class System(Protocol):
    """A simulated system, as `gofer_simulators.http_server.Vendor` makes it."""

    @property
    def app(self) -> ASGIApp:
        """The system as a web app."""
        ...

    @property
    def links(self) -> Links:
        """The links to other systems on the pages of this system."""
        ...

    @property
    def written_origin(self) -> str:
        """The origin of links to this system in texts; empty if texts have none."""
        ...

    def subscribe(self, url: str) -> None:
        """Deliver events to this URL from now on."""
        ...

    def settings(self, url: str) -> Mapping[str, str]:
        """Return the environment variables with which Gofer reaches this system at a URL."""
        ...

    def state(self) -> dict[str, object]:
        """Return the contents of this system as plain JSON."""
        ...

    async def settled(self) -> None:
        """Wait until this system has no delivery left to send."""
        ...

    async def close(self) -> None:
        """Cancel the running deliveries of this system."""
        ...


@runtime_checkable
class Adopting(Protocol):
    """A system that takes recorded deliveries: Slack and Jira."""

    def adopt(self, envelope: Mapping[str, object]) -> None:
        """Add what a recorded delivery names and this system lacks."""
        ...


class Simulators(Protocol):
    """The module `simulators`."""

    async def start(
        self,
        stack: contextlib.AsyncExitStack,
        settings: Settings,
        world: Mapping[str, object],
        http: httpx2.AsyncClient,
        ports: Mapping[str, int],
        begin: float | None,
    ) -> "tuple[Simulated, Settings]":
        """Start the systems of a world."""
        ...


@dataclass(slots=True)
class Simulated:
    """The simulated systems of a world, by the name of their source."""

    systems: Mapping[str, System] = field(default_factory=dict[str, System])
    urls: Mapping[str, str] = field(default_factory=dict[str, str])
    """The base URL of each system."""
    kept: MockedSystems = field(default_factory=MockedSystems)
    """The states of a company's systems, which the mocks of its tools keep."""
    own_pages: str = ""
    """The origin of links to Gofer's own pages in the texts of the world."""

    def system(self, kind: type[V]) -> V | None:
        """Return the system of a class such as `SlackSimulator`, or None in a world without it."""
        return next((system for system in self.systems.values() if isinstance(system, kind)), None)

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts of the company's systems, as the texts of the world write them."""
        return frozenset(host_of(system.written_origin) for system in self.systems.values()) - {""}

    def subscribe(self, front: str) -> None:
        """Subscribe the receivers at `front` to the deliveries of every system, and open Gofer's own pages there."""
        self._link(front)
        for name, system in self.systems.items():
            system.subscribe(front + PATHS[name])

    def state(self) -> dict[str, object]:
        """Return the contents of every system as plain JSON, to compare the world before and after a run."""
        return {**self.kept.states, **{name: system.state() for name, system in self.systems.items()}}

    def adopt(self, event: Event, body: bytes) -> None:
        """Add what a recorded event names and its system lacks: places, people and messages of Slack, comments of Jira.

        Call it before the first `state`, because these additions are not the work of a run. Without a body, the message
        is the one that the event names.
        """
        system = self.systems.get(event.source)
        if isinstance(system, Adopting):
            with contextlib.suppress(BadRequest):
                system.adopt(as_object(decode(body or _recorded_post(event))))

    async def settled(self) -> None:
        """Wait until no system has a delivery left to send."""
        for system in self.systems.values():
            await system.settled()

    def _link(self, front: str) -> None:
        """Let links between the systems, and links to Gofer's own pages, open on this machine."""
        written = {system.written_origin: self.urls[name] for name, system in self.systems.items()}
        opened = {origin: url for origin, url in {**written, self.own_pages: front}.items() if origin}
        for system in self.systems.values():
            system.links.use(opened)


async def simulate(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    world: Mapping[str, object],
    http: httpx2.AsyncClient,
    ports: Mapping[str, int] | None = None,
    begin: float | None = None,
) -> tuple[Simulated, Settings]:
    """Start the systems of a world. Return them with settings that reach these systems and nothing real.

    `ports` names the port of each system by the name of its source; a system without one gets a free port. `begin` is
    the time in the world when it starts, in unix seconds; None means the present.
    Raises MachineError for a taken port, and ConfigError for a mistake in the world.
    """
    simulators = cast(Simulators, importlib.import_module("gofer.app.embedded.simulators"))
    return await simulators.start(stack, settings, world, http, ports or {}, begin)


def _recorded_post(event: Event) -> bytes:
    """Return the delivery of a message of Slack as far as its event has it."""
    post = {"type": "message", "user": event.actor.id, "text": event.text, **event.place}
    return encode({"type": "event_callback", "team_id": event.place.get("team", ""), "event": post})
