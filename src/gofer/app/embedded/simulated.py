"""The simulators that stand in for the systems outside, each a server on this machine."""

import contextlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import httpx2

from gofer.app.embedded.server import serve
from gofer.app.otlp_settings import nothing_real
from gofer.app.settings import Settings
from gofer.sources.github import settings as github_settings
from gofer.sources.jira import settings as jira_settings
from gofer.sources.notion import settings as notion_settings
from gofer.sources.receivers import PATHS, RECEIVERS
from gofer.sources.settings import SourceSettings
from gofer.sources.slack import settings as slack_settings
from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest
from gofer.values.events import Event
from gofer.values.outside import SystemClock, random_id, random_key
from gofer.values.secret import Secret
from gofer_simulators.github import GitHubSimulator
from gofer_simulators.jira import JiraSimulator
from gofer_simulators.notion import NotionSimulator
from gofer_simulators.slack import SlackSimulator

Simulator = SlackSimulator | JiraSimulator | NotionSimulator | GitHubSimulator


@dataclass(slots=True)
class Simulated:
    """The systems that are simulated; None for one that the world does not have."""

    slack: SlackSimulator | None = None
    jira: JiraSimulator | None = None
    notion: NotionSimulator | None = None
    github: GitHubSimulator | None = None
    urls: dict[str, str] = field(default_factory=dict[str, str])
    """Where each listens, by name."""

    @property
    def systems(self) -> Mapping[str, Simulator]:
        """Return the simulators of the world, by name."""
        every = {"slack": self.slack, "jira": self.jira, "notion": self.notion, "github": self.github}
        return {name: system for name, system in every.items() if system is not None}

    def subscribe(self, front: str) -> None:
        """Deliver what happens in each to Gofer's front from now on."""
        for name, system in self.systems.items():
            system.subscribe(front + PATHS[name])

    def state(self) -> dict[str, object]:
        """Return what is in each, as plain JSON, for comparing the world before and after."""
        return {name: _state(system) for name, system in self.systems.items()}

    def adopt(self, event: Event, body: bytes) -> None:
        """Plant what a recorded event of Slack names where it is absent; that is no work of a run."""
        if self.slack is None or event.source != "slack":
            return
        with contextlib.suppress(BadRequest):
            self.slack.adopt(as_object(decode(body)))

    async def settled(self) -> None:
        """Wait until no simulator has anything to deliver."""
        for system in self.systems.values():
            await system.settled()


def _state(system: Simulator) -> Mapping[str, object]:
    return system.snapshot() if isinstance(system, SlackSimulator) else system.state()


async def simulate(
    stack: contextlib.AsyncExitStack, settings: Settings, world: Mapping[str, object], http: httpx2.AsyncClient
) -> tuple[Simulated, Settings]:
    """Start what a world describes; the settings given back lead there, and to nothing real."""
    simulated = Simulated()
    settings = _without_credentials(settings)
    for name, start in _STARTS.items():
        if name in world:
            leading = start(simulated, world, http)
            system = simulated.systems[name]
            stack.push_async_callback(system.close)
            simulated.urls[name] = await stack.enter_async_context(serve(system.app))
            settings = replace(settings, sources=settings.sources.but(*leading(simulated.urls[name])))
    return simulated, settings


def _without_credentials(settings: Settings) -> Settings:
    """Return settings that reach nothing real, also where the environment has credentials."""
    return replace(
        settings,
        sources=_receiving(settings.sources),
        webhook_secrets={"": (Secret(f"whsec_{b64encode(random_key()[:32]).decode()}"),)},
        public_url="",
        otlp=nothing_real(settings.otlp),
        environment={},
        simulated=True,
    )


def _receiving(settings: SourceSettings) -> SourceSettings:
    """Return what proves the deliveries of sources that have no simulator: such a delivery reaches nothing real."""
    kept = [setting for spec in RECEIVERS if spec.source not in _STARTS for setting in spec.receives_with]
    return SourceSettings({setting.name: settings[setting] for setting in kept})


Leading = Callable[[str], Sequence[tuple[str, object]]]
"""Returns the settings that lead to a simulator at a URL, with what they hold."""


def _slack(simulated: Simulated, world: Mapping[str, object], http: httpx2.AsyncClient) -> Leading:
    token = random_id()
    secret = random_id()
    simulated.slack = SlackSimulator(world, clock=SystemClock().now, http=http, token=token, signing_secret=secret)
    return lambda url: [
        slack_settings.API_URL.to(f"{url}/api/"),
        slack_settings.BOT_TOKEN.to(Secret(token)),
        slack_settings.SIGNING_SECRETS.to((Secret(secret),)),
    ]


def _jira(simulated: Simulated, world: Mapping[str, object], http: httpx2.AsyncClient) -> Leading:
    email = "gofer@example.com"
    token = random_id()
    secret = random_id()
    part = as_object(world["jira"])
    jira = JiraSimulator(part, clock=SystemClock().now, http=http, email=email, token=token, webhook_secret=secret)
    simulated.jira = jira
    return lambda url: [
        jira_settings.BASE_URL.to(url),
        jira_settings.EMAIL.to(email),
        jira_settings.API_TOKEN.to(Secret(token)),
        jira_settings.WEBHOOK_SECRETS.to((Secret(secret),)),
        jira_settings.ACCOUNT_ID.to(jira.site.account),
    ]


def _notion(simulated: Simulated, world: Mapping[str, object], http: httpx2.AsyncClient) -> Leading:
    token = random_id()
    secret = random_id()
    part = as_object(world["notion"])
    simulated.notion = NotionSimulator(part, clock=SystemClock().now, http=http, token=token, verification_token=secret)
    return lambda url: [
        notion_settings.BASE_URL.to(url),
        notion_settings.TOKEN.to(Secret(token)),
        notion_settings.WEBHOOK_SECRETS.to((Secret(secret),)),
    ]


def _github(simulated: Simulated, world: Mapping[str, object], http: httpx2.AsyncClient) -> Leading:
    token = random_id()
    secret = random_id()
    part = as_object(world["github"])
    simulated.github = GitHubSimulator(part, clock=SystemClock().now, http=http, token=token, webhook_secret=secret)
    return lambda url: [
        github_settings.API_URL.to(url),
        github_settings.TOKEN.to(Secret(token)),
        github_settings.WEBHOOK_SECRETS.to((Secret(secret),)),
    ]


_STARTS = {"slack": _slack, "jira": _jira, "notion": _notion, "github": _github}
