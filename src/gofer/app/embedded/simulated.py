"""How do simulators stand in for the systems outside, each a server on this machine?"""

import contextlib
from base64 import b64encode
from collections.abc import Mapping
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
        """Those that are there, by name."""
        every = {"slack": self.slack, "jira": self.jira, "notion": self.notion, "github": self.github}
        return {name: system for name, system in every.items() if system is not None}

    def subscribe(self, front: str) -> None:
        """Each delivers what happens in it to Gofer's front from now on."""
        for name, system in self.systems.items():
            system.subscribe(front + PATHS[name])

    def state(self) -> dict[str, object]:
        """What is in each, as plain JSON, for comparing the world before and after."""
        return {name: _state(system) for name, system in self.systems.items()}

    def adopt(self, event: Event, body: bytes) -> None:
        """Plant what a recorded event of Slack names where it is absent; that is no work of a run."""
        if self.slack is None or event.source != "slack":
            return
        with contextlib.suppress(BadRequest):
            self.slack.adopt(as_object(decode(body)))

    async def settled(self) -> None:
        """Waits until nobody has anything to deliver."""
        for system in self.systems.values():
            await system.settled()


def _state(system: Simulator) -> Mapping[str, object]:
    return system.snapshot() if isinstance(system, SlackSimulator) else system.state()


async def simulate(
    stack: contextlib.AsyncExitStack, settings: Settings, world: Mapping[str, object], http: httpx2.AsyncClient
) -> tuple[Simulated, Settings]:
    """Starts what a world describes; the settings given back lead there, and to nothing real."""
    simulated, settings = Simulated(), _without_credentials(settings)
    for name, start in _STARTS.items():
        if name in world:
            settings = await start(stack, simulated, settings, world, http)
    return simulated, settings


def _without_credentials(settings: Settings) -> Settings:
    """Nothing of the real outside can be reached from a simulated world, whatever the environment says."""
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


def _with(settings: Settings, *changed: tuple[str, object]) -> Settings:
    """Return settings that lead to a simulated system."""
    return replace(settings, sources=settings.sources.but(*changed))


async def _slack(
    stack: contextlib.AsyncExitStack,
    simulated: Simulated,
    settings: Settings,
    world: Mapping[str, object],
    http: httpx2.AsyncClient,
) -> Settings:
    token, secret = random_id(), random_id()
    slack = SlackSimulator(world, clock=SystemClock().now, http=http, token=token, signing_secret=secret)
    stack.push_async_callback(slack.close)
    simulated.slack, simulated.urls["slack"] = slack, await stack.enter_async_context(serve(slack.app))
    return _with(
        settings,
        slack_settings.API_URL.to(f"{simulated.urls['slack']}/api/"),
        slack_settings.BOT_TOKEN.to(Secret(token)),
        slack_settings.SIGNING_SECRETS.to((Secret(secret),)),
    )


async def _jira(
    stack: contextlib.AsyncExitStack,
    simulated: Simulated,
    settings: Settings,
    world: Mapping[str, object],
    http: httpx2.AsyncClient,
) -> Settings:
    email, token, secret = "gofer@example.com", random_id(), random_id()
    part = as_object(world["jira"])
    jira = JiraSimulator(part, clock=SystemClock().now, http=http, email=email, token=token, webhook_secret=secret)
    stack.push_async_callback(jira.close)
    simulated.jira, simulated.urls["jira"] = jira, await stack.enter_async_context(serve(jira.app))
    return _with(
        settings,
        jira_settings.BASE_URL.to(simulated.urls["jira"]),
        jira_settings.EMAIL.to(email),
        jira_settings.API_TOKEN.to(Secret(token)),
        jira_settings.WEBHOOK_SECRETS.to((Secret(secret),)),
        jira_settings.ACCOUNT_ID.to(jira.site.account),
    )


async def _notion(
    stack: contextlib.AsyncExitStack,
    simulated: Simulated,
    settings: Settings,
    world: Mapping[str, object],
    http: httpx2.AsyncClient,
) -> Settings:
    token, secret = random_id(), random_id()
    part = as_object(world["notion"])
    notion = NotionSimulator(part, clock=SystemClock().now, http=http, token=token, verification_token=secret)
    stack.push_async_callback(notion.close)
    simulated.notion, simulated.urls["notion"] = notion, await stack.enter_async_context(serve(notion.app))
    return _with(
        settings,
        notion_settings.BASE_URL.to(simulated.urls["notion"]),
        notion_settings.TOKEN.to(Secret(token)),
        notion_settings.WEBHOOK_SECRETS.to((Secret(secret),)),
    )


async def _github(
    stack: contextlib.AsyncExitStack,
    simulated: Simulated,
    settings: Settings,
    world: Mapping[str, object],
    http: httpx2.AsyncClient,
) -> Settings:
    token, secret = random_id(), random_id()
    part = as_object(world["github"])
    github = GitHubSimulator(part, clock=SystemClock().now, http=http, token=token, webhook_secret=secret)
    stack.push_async_callback(github.close)
    simulated.github, simulated.urls["github"] = github, await stack.enter_async_context(serve(github.app))
    return _with(
        settings,
        github_settings.API_URL.to(simulated.urls["github"]),
        github_settings.TOKEN.to(Secret(token)),
        github_settings.WEBHOOK_SECRETS.to((Secret(secret),)),
    )


_STARTS = {"slack": _slack, "jira": _jira, "notion": _notion, "github": _github}
