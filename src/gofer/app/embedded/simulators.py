"""The simulators of a world: each system is a server on this machine, and settings lead to nothing real.

`simulated.py` loads this module with the first world, because simulators would take a sixth of each start without one.
"""

import contextlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import httpx2

from gofer.app.embedded.server import serve
from gofer.app.embedded.simulated import Simulated
from gofer.app.otlp_settings import local_collector
from gofer.app.settings import Settings
from gofer.sources.receivers import BY_SOURCE, RECEIVERS
from gofer.sources.settings import SourceSettings, read_source_settings
from gofer.tools.mocks import kept_systems
from gofer.values.canonical_json import as_object
from gofer.values.outside import SystemClock, random_id, random_key
from gofer.values.secret import Secret
from gofer.values.visible import Visible
from gofer_simulators.free_questions import OWN_PAGES
from gofer_simulators.http_server import Vendor
from gofer_simulators.registry import SIMULATORS
from gofer_simulators.slack.simulator import SlackSimulator


class _ShiftedClock:
    """A clock that stands still at `begin` until `go_on`, because a world places its data by minutes before `begin`."""

    def __init__(self, begin: float, now: Callable[[], float]) -> None:
        self._begin = begin
        self._now = now
        self._began: float | None = None

    def __call__(self) -> float:
        """Return the time in unix seconds."""
        if self._began is None:
            return self._begin
        return self._begin + max(0.0, self._now() - self._began)

    def go_on(self) -> None:
        """Let the time pass from now on."""
        self._began = self._now()


async def start(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    world: Mapping[str, object],
    http: httpx2.AsyncClient,
    ports: Mapping[str, int],
    begin: float | None,
) -> tuple[Simulated, Settings]:
    """Start the systems of a world, as `simulated.simulate` describes it."""
    now = SystemClock().now
    if begin is None:
        systems = open_systems(world, now, http, random_id)
    else:
        clock = _ShiftedClock(begin, now)
        systems = open_systems(world, clock, http, random_id)
        clock.go_on()
    urls: dict[str, str] = {}
    for name, system in systems.items():
        stack.push_async_callback(system.close)
        urls[name] = await stack.enter_async_context(serve(system.app, ports.get(name, 0)))
    simulated = Simulated(systems, urls, kept_systems(world, SIMULATORS), OWN_PAGES)
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


def whispers(simulated: Simulated) -> Sequence[Visible]:
    """Return the messages that only one person saw, oldest first. They are no part of the state."""
    slack = simulated.system(SlackSimulator)
    if slack is None:
        return ()
    seen_by_one = slack.workspace.whispers
    return [Visible("message", f"/slack/whispers/{one.only_for}/{one.ts}", one.text) for one in seen_by_one]


def members(simulated: Simulated, group: str) -> Sequence[str]:
    """Return the people of a user group, by its id or by `@` and its handle."""
    slack = simulated.system(SlackSimulator)
    if slack is None:
        return ()
    groups = slack.workspace.groups.values()
    return [user for one in groups if group in (one.id, f"@{one.handle}") for user in one.users]


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
