"""Simulators that replace the outside systems, each a server on this machine."""

import contextlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import httpx2

from gofer.app.embedded.server import serve
from gofer.app.otlp_settings import local_collector
from gofer.app.settings import Settings
from gofer.sources.receivers import BY_SOURCE, PATHS, RECEIVERS
from gofer.sources.settings import SourceSettings, read_source_settings
from gofer.values.canonical_json import as_object, decode, encode
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.values.outside import SystemClock, random_id, random_key
from gofer.values.secret import Secret
from gofer.values.visible import Visible
from gofer_simulators.free_questions import OWN_PAGES
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.http_server import Vendor
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.registry import SIMULATORS
from gofer_simulators.slack.simulator import SlackSimulator

V = TypeVar("V", bound=Vendor)


@dataclass(slots=True)
class Simulated:
    """The simulated systems of a world, by the name of their source."""

    systems: dict[str, Vendor] = field(default_factory=dict[str, Vendor])
    urls: dict[str, str] = field(default_factory=dict[str, str])
    """The base URL of each system."""

    @property
    def slack(self) -> SlackSimulator | None:
        """The simulated Slack; None in a world without one."""
        return self._only(SlackSimulator)

    @property
    def jira(self) -> JiraSimulator | None:
        """The simulated Jira; None in a world without one."""
        return self._only(JiraSimulator)

    @property
    def notion(self) -> NotionSimulator | None:
        """The simulated Notion; None in a world without one."""
        return self._only(NotionSimulator)

    @property
    def github(self) -> GitHubSimulator | None:
        """The simulated GitHub; None in a world without one."""
        return self._only(GitHubSimulator)

    def whispers(self) -> Sequence[Visible]:
        """Return the messages that only one person saw, oldest first. They are no part of the state."""
        if self.slack is None:
            return ()
        whispers = self.slack.workspace.whispers
        return [Visible("message", f"/slack/whispers/{one.only_for}/{one.ts}", one.text) for one in whispers]

    def members(self, group: str) -> Sequence[str]:
        """Return the people of a user group, by its id or by `@` and its handle."""
        if self.slack is None:
            return ()
        groups = self.slack.workspace.groups.values()
        return [user for one in groups if group in (one.id, f"@{one.handle}") for user in one.users]

    def subscribe(self, front: str) -> None:
        """Subscribe the receivers at `front` to the deliveries of every system, and open Gofer's own pages there."""
        self._link(front)
        for name, system in self.systems.items():
            system.subscribe(front + PATHS[name])

    def state(self) -> dict[str, object]:
        """Return the contents of every system as plain JSON, to compare the world before and after a run."""
        return {name: system.state() for name, system in self.systems.items()}

    def adopt(self, event: Event, body: bytes) -> None:
        """Add the channels, people and messages of a recorded Slack event that the simulated Slack lacks.

        Call it before the first `state`, because these additions are not the work of a run. Without a body, the message
        is the one that the event names.
        """
        if self.slack is None or event.source != "slack":
            return
        with contextlib.suppress(BadRequest):
            self.slack.adopt(as_object(decode(body or _recorded_post(event))))

    async def settled(self) -> None:
        """Wait until no system has a delivery left to send."""
        for system in self.systems.values():
            await system.settled()

    def _link(self, front: str) -> None:
        """Let links between the systems, and links to Gofer's own pages, open on this machine."""
        local = {system.written_origin: self.urls[name] for name, system in self.systems.items()}
        own = {origin: url for origin, url in local.items() if origin} | {OWN_PAGES: front}
        for system in self.systems.values():
            system.links.use(own)

    def _only(self, kind: type[V]) -> V | None:
        return next((system for system in self.systems.values() if isinstance(system, kind)), None)


async def simulate(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    world: Mapping[str, object],
    http: httpx2.AsyncClient,
    ports: Mapping[str, int] | None = None,
) -> tuple[Simulated, Settings]:
    """Start the systems of a world. Return them with settings that reach these systems and nothing real.

    `ports` names the port of each system by the name of its source; a system without one gets a free port.
    Raises OSError for a taken port.
    """
    systems = open_systems(world, SystemClock().now, http, random_id)
    urls: dict[str, str] = {}
    for name, system in systems.items():
        stack.push_async_callback(system.close)
        urls[name] = await stack.enter_async_context(serve(system.app, (ports or {}).get(name, 0)))
    simulated = Simulated(systems, urls)
    return simulated, reaching(simulated, settings, random_key())


def open_systems(
    world: Mapping[str, object], now: Callable[[], float], http: httpx2.AsyncClient, new_id: Callable[[], str]
) -> dict[str, Vendor]:
    """Return the systems of a world by the name of their source. The caller closes them. Raises ConfigError.

    `now` returns the time of the systems in unix seconds, and `new_id` makes their credentials.
    """
    return {
        name: start(as_object(world[name]), clock=now, http=http, token=new_id(), secret=new_id())
        for name, start in SIMULATORS.items()
        if name in world
    }


def reaching(simulated: Simulated, settings: Settings, key: bytes) -> Settings:
    """Return settings that reach the simulated systems and nothing real. `key` signs the calls of webhooks."""
    sources = _receiving(settings.sources)
    for name, system in simulated.systems.items():
        sources = _leading(sources, name, system.settings(simulated.urls[name]))
    return replace(_without_credentials(settings, key), sources=sources)


def _without_credentials(settings: Settings, key: bytes) -> Settings:
    """Return settings that reach nothing real, with no credential of the environment."""
    return replace(
        settings,
        webhook_secrets={"": (Secret(f"whsec_{b64encode(key[:32]).decode()}"),)},
        public_url="",
        otlp=local_collector(settings.otlp),
        environment={},
        simulated=True,
    )


def _receiving(settings: SourceSettings) -> SourceSettings:
    """Return the secrets that verify deliveries of sources without a simulator. Receiving reaches nothing real."""
    kept = [setting for spec in RECEIVERS if spec.source not in SIMULATORS for setting in spec.receives_with]
    return SourceSettings({setting.name: settings[setting] for setting in kept})


def _leading(settings: SourceSettings, name: str, texts: Mapping[str, str]) -> SourceSettings:
    """Return the settings, changed to reach the simulated system `name` by the values in `texts`."""
    changed = [setting for setting in BY_SOURCE[name].settings if setting.name in texts]
    return settings.but(*read_source_settings(changed, texts).values.items())


def _recorded_post(event: Event) -> bytes:
    """Return the delivery of a message of Slack as far as its event has it."""
    post = {"type": "message", "user": event.actor.id, "text": event.text, **event.place}
    return encode({"type": "event_callback", "team_id": event.place.get("team", ""), "event": post})
