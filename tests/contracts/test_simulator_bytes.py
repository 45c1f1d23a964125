"""Answers, deliveries, refused worlds and saved states of the four simulated vendors, held to the byte.

`recorded_bytes.json` beside this module holds them. A change that is meant to alter a vendor's wire writes it anew:
`PYTHONPATH=tests python tests/contracts/test_simulator_bytes.py`.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette

from gofer.values.errors import ConfigError
from gofer_simulators.faults import Fault, Faults
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.delivery import Pace as JiraPace
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.delivery import Pace as NotionPace
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.slack.delivery import Pace as SlackPace
from gofer_simulators.slack.simulator import SlackSimulator
from support.simulation.virtual_time import VirtualLoop
from support.simulation.virtual_time import play as in_virtual_time
from support.stand_ins import NOON, SetClock
from support.vendors import github as simulated_github
from support.vendors import jira as simulated_jira
from support.vendors import notion as simulated_notion
from support.vendors import slack as simulated_slack

FILE = Path(__file__).with_name("recorded_bytes.json")
URL = "http://gofer/vendor/webhook"
Story = Callable[["Wire"], Awaitable[object]]
FAULTS = (
    Fault("status", 500, {"X-Planned": "yes"}),
    Fault("status", 429, {"Retry-After": "7"}),
    Fault("status", 403),
    Fault("status", 418),
    Fault("expired_token"),
    Fault("slow", seconds=2.0),
)


class Wire:
    """The two directions of HTTP: deliveries to a receiver, and requests to the simulator."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.lines: list[object] = []
        self.outside = httpx2.AsyncClient(transport=httpx2.MockTransport(self._receive))

    def _receive(self, request: httpx2.Request) -> httpx2.Response:
        headers = {name: value for name, value in request.headers.items() if name != "content-length"}
        self.lines.append({"delivered": str(request.url), "headers": headers, "body": request.content.decode()})
        return httpx2.Response(self.statuses.pop(0) if self.statuses else 200)

    async def ask(
        self, app: Starlette, requests: Sequence[tuple[str, str, object]], headers: Mapping[str, str]
    ) -> None:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http:
            for method, path, body in requests:
                answer = await http.request(method, f"http://vendor{path}", headers=dict(headers), json=body)
                self.lines.append([method, path, answer.status_code, sorted(answer.headers.items()), answer.text])

    async def ask_with_faults(self, app: Starlette, faults: Faults, path: str, headers: Mapping[str, str]) -> None:
        for fault in FAULTS:
            faults.add("*", "*", fault)
            await self.ask(app, [("GET", path, None)], headers)


async def github(wire: Wire) -> object:
    simulator = GitHubSimulator(simulated_github.WORLD, clock=SetClock().now, http=wire.outside)
    headers = {"Authorization": f"Bearer {simulated_github.TOKEN}", "User-Agent": "recorded"}
    simulator.subscribe(URL)
    await simulator.settled()
    simulator.people.comment(simulator.issue("acme/app", 7), "sam", "Looks right — ☑")
    await simulator.settled()
    simulator.subscribe(URL, form=True)
    await simulator.settled()
    await wire.ask(simulator.app, [("GET", "/user", None)], {"User-Agent": "recorded"})
    await wire.ask(
        simulator.app,
        [
            ("GET", "/user", None),
            ("GET", "/repos/acme/app/commits?per_page=1&page=2", None),
            ("GET", "/repos/acme/app/contents/", None),
            ("GET", "/repos/acme/hidden", None),
            ("POST", "/repos/acme/app/issues", {"title": ""}),
            ("POST", "/repos/acme/app/issues", [1]),
            ("POST", "/repos/acme/app/issues/8/comments", {"body": "Noted."}),
            ("DELETE", "/user", None),
        ],
        headers,
    )
    await wire.ask_with_faults(simulator.app, simulator.faults, "/user", headers)
    await simulator.settled()
    return simulator.state()


async def jira(wire: Wire) -> object:
    simulator = JiraSimulator(
        simulated_jira.WORLD, clock=SetClock().now, http=wire.outside, email="a@b.example", pace=JiraPace(0)
    )
    headers = {"Authorization": "Basic YUBiLmV4YW1wbGU6c2ltdWxhdGVkLWFwaS10b2tlbg=="}
    issue = simulator.site.issue("OPS-7")
    simulator.subscribe(URL)
    wire.statuses = [503, 429, 200]
    simulator.people.comment(simulated_jira.ADA, issue, "Since 4.2 — ☑")
    await simulator.settled()
    simulator.subscribe(URL, "server")
    simulator.people.attach(simulated_jira.BEN, issue, "log.txt", b"stopped")
    await simulator.settled()
    attachment = simulator.site.issue("OPS-7").attachments[0].id
    await wire.ask(simulator.app, [("GET", "/rest/api/3/myself", None)], {})
    await wire.ask(
        simulator.app,
        [
            ("GET", "/rest/api/3/myself", None),
            ("GET", "/rest/api/3/issue/OPS-7", None),
            ("GET", "/rest/api/3/issue/HR-1", None),
            ("POST", "/rest/api/3/issue", {"fields": {"summary": ""}}),
            ("POST", "/rest/api/3/search/jql", {"jql": "project = OPS", "fields": ["summary"], "maxResults": 1}),
            ("DELETE", "/rest/api/3/issue/OPS-7", None),
            ("GET", f"/rest/api/3/attachment/content/{attachment}", None),
            ("GET", f"/rest/api/3/attachment/content/{attachment}?redirect=false", None),
            ("GET", f"/file/{attachment}/binary?token=guessed", None),
            ("GET", "/elsewhere", None),
        ],
        headers,
    )
    await wire.ask_with_faults(simulator.app, simulator.faults, "/rest/api/3/myself", headers)
    await simulator.settled()
    return simulator.state()


async def notion(wire: Wire) -> object:
    pace = NotionPace(gap_factor=0.0)
    simulator = NotionSimulator(simulated_notion.WORLD, clock=lambda: NOON, http=wire.outside, pace=pace)
    headers = {"Authorization": "Bearer ntn_simulated", "Notion-Version": "2026-03-11"}
    await simulator.register(URL)
    simulator.subscribe(URL)
    wire.statuses = [500, 200]
    simulator.people.set_status("Cache", "Done", by="Ada Byron")
    simulator.people.comment("Cache", "Looks **right** — ☑", by="Ada Byron")
    await simulator.settled()
    simulator.hold()
    simulator.people.write("Handbook", "One more line.", by="Ada Byron")
    simulator.release(times=2)
    await simulator.settled()
    block = simulator.people.attach("Cache", "plan.txt", b"a plan", by="Ada Byron").id
    await wire.ask(simulator.app, [("GET", "/v1/users/me", None)], {})
    await wire.ask(
        simulator.app,
        [
            ("GET", "/v1/users/me", None),
            ("GET", f"/v1/pages/{simulated_notion.CACHE}", None),
            ("GET", f"/v1/pages/{simulated_notion.HIDDEN}", None),
            ("GET", "/v1/pages/none", None),
            ("GET", f"/v1/blocks/{block}", None),
            ("POST", f"/v1/data_sources/{simulated_notion.SOURCE}/query", {"page_size": 1}),
            ("POST", "/v1/comments", {"markdown": "Noted."}),
            ("DELETE", "/v1/users/me", None),
            ("GET", f"/space/{block}/plan.txt?X-Amz-Signature=guessed", None),
        ],
        headers,
    )
    await wire.ask_with_faults(simulator.app, simulator.faults, "/v1/users/me", headers)
    await simulator.settled()
    return simulator.state()


async def slack(wire: Wire) -> object:
    simulator = SlackSimulator(
        simulated_slack.WORLD, clock=lambda: simulated_slack.NOW, http=wire.outside, pace=SlackPace(gap_factor=0)
    )
    headers = {"Authorization": "Bearer xoxb-simulated"}
    simulator.subscribe(URL)
    wire.statuses = [500, 200]
    await simulator.say("U0000001", "C0000001", "<@UBOT0000> look — ☑")
    await simulator.settled()
    await simulator.react("U0000001", "C0000001", simulated_slack.ROOT, "eyes")
    await simulator.settled()
    await wire.ask(simulator.app, [("POST", "/api/auth.test", None)], {})
    simulator.fail_next("auth.test", 429, 500, "fatal_error")
    await wire.ask(
        simulator.app,
        [
            *[("POST", "/api/auth.test", {"a": 1})] * 4,
            ("POST", "/api/chat.postMessage", {"channel": "C0000001", "text": "Hello"}),
            ("POST", "/api/chat.postMessage", {"channel": "C0000002", "text": "Hello"}),
            ("GET", "/api/users.list?limit=2", None),
            ("GET", "/api/none.such", None),
            ("GET", "/files-pri/T1-F1/none.txt", None),
            ("GET", "/login", None),
            ("POST", "/upload/v1/F1", None),
        ],
        headers,
    )
    await simulator.settled()
    return simulator.state()


def refused_worlds() -> list[str]:
    """Return the error message for each wrong world."""
    loaders: list[tuple[Callable[..., object], Mapping[str, object]]] = [
        (GitHubSimulator, {"user": "gofer[bot]", "repositories": [{"full_name": 1}]}),
        (GitHubSimulator, {"users": [{"login": "ada", "age": 7}]}),
        (GitHubSimulator, {"repositories": [{"full_name": "a/b", "collaborators": ["eve"]}]}),
        (JiraSimulator, {"site": "acme"}),
        (JiraSimulator, {**simulated_jira.WORLD, "site": "A Site"}),
        (JiraSimulator, {**simulated_jira.WORLD, "issues": [{"key": "NO-1", "summary": "?", "reporter": "eve"}]}),
        (NotionSimulator, {"workspace": {"id": "x", "name": "Acme"}, "connection": {}}),
        (NotionSimulator, {**simulated_notion.WORLD, "users": {}}),
        (NotionSimulator, {**simulated_notion.WORLD, "users": [{"id": simulated_notion.ADA, "name": ""}]}),
        (NotionSimulator, {**simulated_notion.WORLD, "colour": "red"}),
        (NotionSimulator, {**simulated_notion.WORLD, "databases": [{"properties": []}]}),
        (NotionSimulator, {**simulated_notion.WORLD, "connection": {"id": "1" * 32, "name": "a", "capabilities": [1]}}),
        (SlackSimulator, {}),
        (SlackSimulator, _slack(emoji="a")),
        (SlackSimulator, _slack(users=[{"id": "U1", "name": "a", "bot": 1}])),
        (SlackSimulator, _slack(users="none")),
        (SlackSimulator, _slack(colour="red")),
        (SlackSimulator, _slack(messages=[{"channel": "deploys", "user": "U0000001", "minutes_ago": -1}])),
        (
            SlackSimulator,
            _slack(messages=[{"channel": "deploys", "user": "U0000001", "ts": "1.2", "reactions": "none"}]),
        ),
    ]
    return [_refusal(load, world) for load, world in loaders]


def _slack(**changes: object) -> dict[str, object]:
    world = simulated_slack.WORLD["slack"]
    assert isinstance(world, dict)
    return {"slack": {**world, **changes}}


def _refusal(load: Callable[..., object], world: Mapping[str, object]) -> str:
    with pytest.raises(ConfigError) as refusal:
        load(world, clock=lambda: NOON, http=httpx2.AsyncClient())
    return str(refusal.value)


def played(story: Story) -> list[object]:
    """Return every line that a story sends or receives, and the final state."""
    wire = Wire()

    async def run() -> None:
        async with wire.outside:
            wire.lines.append(await story(wire))

    in_virtual_time(VirtualLoop(), run())
    return json.loads(json.dumps(wire.lines))


STORIES: Mapping[str, Story] = {"github": github, "jira": jira, "notion": notion, "slack": slack}


@pytest.mark.parametrize("vendor", STORIES)
def test_simulator_answers_deliveries_and_states_equal_the_recorded_bytes(vendor: str) -> None:
    recorded = json.loads(FILE.read_text("utf-8"))[vendor]
    lines = played(STORIES[vendor])
    assert len(lines) == len(recorded)
    for line, known in zip(lines, recorded, strict=True):
        assert line == known


def test_simulator_refuses_wrong_worlds_with_the_recorded_messages() -> None:
    assert refused_worlds() == json.loads(FILE.read_text("utf-8"))["refused worlds"]


if __name__ == "__main__":
    everything = {vendor: played(story) for vendor, story in STORIES.items()} | {"refused worlds": refused_worlds()}
    FILE.write_text(json.dumps(everything, ensure_ascii=False, indent=1) + "\n", "utf-8")
