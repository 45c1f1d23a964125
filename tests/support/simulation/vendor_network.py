"""Simulated Slack, Jira, Notion and GitHub without sockets, in virtual time, each with possible outages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2

from gofer.app.settings import Settings, read_settings
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.outside import HttpRequest, HttpResponse
from gofer_simulators.demo import demo_world
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.slack.simulator import SlackSimulator
from support.http import loopback
from support.simulation.virtual_time import START, VirtualClock

ISSUE = "PAY-17"
PAGE = "5f1c7d2e-0a3b-4c4d-8e9f-000000000012"
REPOSITORY = "acme/shop"
PULL = 41


@dataclass
class Network:
    """The systems that a worker calls, and the texts that people read there."""

    clock: VirtualClock
    away: dict[str, tuple[float, float]] = field(default_factory=dict)
    """From when until when each system is away, by its name as people know it."""
    read: list[str] = field(default_factory=list)
    """What Gofer wrote and people could read, in order, each text once."""

    def __post_init__(self) -> None:
        world = demo_world()
        # No webhook is delivered: events begin at the receivers.
        http = loopback.client()
        self.slack = SlackSimulator(world, clock=self.clock.now, http=http)
        self.jira = JiraSimulator(as_object(world["jira"]), clock=self.clock.now, http=http)
        self.notion = NotionSimulator(as_object(world["notion"]), clock=self.clock.now, http=http)
        self.github = GitHubSimulator(as_object(world["github"]), clock=self.clock.now, http=http)
        apps = {"Slack": self.slack.app, "Jira": self.jira.app, "Notion": self.notion.app, "GitHub": self.github.app}
        self._clients = {
            name.lower(): (name, httpx2.AsyncClient(transport=httpx2.ASGITransport(app))) for name, app in apps.items()
        }
        self._stood = set(self._written())

    def settings(self) -> Settings:
        """Return settings that lead here."""
        return read_settings(
            {
                "SLACK_API_URL": "http://slack/api/",
                "SLACK_BOT_TOKEN": "xoxb-simulated",
                "JIRA_BASE_URL": "http://jira",
                "JIRA_EMAIL": "gofer@example.com",
                "JIRA_API_TOKEN": "simulated-api-token",
                "NOTION_BASE_URL": "http://notion",
                "NOTION_TOKEN": "ntn_simulated",
                "GITHUB_API_URL": "http://github",
                "GITHUB_TOKEN": "github_pat_simulated",
            }
        )

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request; a system with an outage answers HTTP 503."""
        name, client = self._clients[urlsplit(request.url).netloc]
        begins, ends = self.away.get(name, (0.0, 0.0))
        if begins <= self.clock.monotonic() < ends:
            return HttpResponse(503, {}, b"Service Unavailable")
        answer = await client.request(
            request.method, request.url, headers=dict(request.headers), content=request.content
        )
        self._look()
        return HttpResponse(answer.status_code, dict(answer.headers), answer.content)

    def _look(self) -> None:
        for text in self._written():
            if text not in self._stood:
                self._stood.add(text)
                self.read.append(text)

    def _written(self) -> Sequence[str]:
        """Return all texts of Gofer in the systems."""
        bot = self.slack.workspace.bot.user
        messages = [
            one.text for one in self.slack.workspace.all_messages() if one.user == bot and float(one.ts) > START
        ]
        issue = as_object(self.jira.state()[ISSUE])
        page = as_object(self.notion.state()[PAGE])
        repository = as_object(as_object(self.github.state()["repositories"])[REPOSITORY])
        pull = as_object(as_object(repository["pulls"])[str(PULL)])
        return [*messages, *_comments(issue), *_comments(page), *_comments(pull)]


def _comments(thing: Mapping[str, object]) -> Sequence[str]:
    return [_text(comment) for comment in as_list(thing["comments"])]


def _text(comment: object) -> str:
    fields = as_object(comment)
    return as_text(fields.get("body")) or as_text(fields.get("text")) or as_text(fields.get("markdown"))
