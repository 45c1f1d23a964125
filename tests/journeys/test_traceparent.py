"""The header `traceparent` over HTTP: model requests name their exported span, and no other request has the header."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from gofer.projections.tracing.span_ids import trace_id
from support.app.company import Company, company
from support.app.one_workflow import GENERAL, LEADS
from support.http.otlp_collector import Collector, collector
from support.models.deciding_provider import Call, Said, Sent, deciding

pytestmark = pytest.mark.anyio
WORKFLOW = """\
description: d
owner: "#helpers"
when: [slack.mention]
tools: [slack_read_channel, jira_search, notion_search, github_get_pull_request]
subagents: [reader]
"""
CALLS: list[Call] = [
    ("slack_read_channel", {"channel": GENERAL}),
    ("jira_search", {"project": "OPS"}),
    ("notion_search", {"query": "deploy"}),
    ("github_get_pull_request", {"repository": "acme/app", "number": 7}),
    ("subagent", {"agent_name": "reader", "prompt": "Read."}),
]
Request = tuple[str, str]
"""The host and port of a request, and its `traceparent` or an empty text."""


@pytest.fixture
def there() -> Iterator[Collector]:
    with collector() as made:
        yield made


def repository(folder: Path) -> Path:
    agents = folder / "repository" / "agents"
    (folder / "repository" / "subagents").mkdir(parents=True)
    agents.mkdir()
    (agents / "w.yaml").write_text(WORKFLOW)
    (agents / "w.md").write_text("Help.")
    (agents / "defaults.yaml").write_text("models: {default: m}\n")
    (folder / "repository" / "subagents" / "reader.yaml").write_text("description: Reads.\ntools: inherit\n")
    (folder / "repository" / "subagents" / "reader.md").write_text("You read.")
    return folder / "repository"


def decide(sent: Sent) -> Said:
    if sent.turns or "You read." in sent.body.decode():
        return "Here you are."
    return CALLS


def watch(made: Company) -> list[Request]:
    """Return the list to which each request of the process is added from now on."""
    seen: list[Request] = []

    async def note(request: httpx2.Request) -> None:
        seen.append((request.url.netloc.decode(), request.headers.get("traceparent", "")))

    made.embedded.worker.services.outside.http._client.event_hooks["request"].append(note)  # type: ignore[attr-defined]
    return seen


async def collected(there: Collector) -> None:
    async with asyncio.timeout(60):
        while not there.requests:
            await asyncio.sleep(0.01)


def host_of(url: str) -> str:
    return httpx2.URL(url).netloc.decode()


async def asked(made: Company, channel: str) -> None:
    await made.slack.say("U0SUPPT0", channel, made.slack.typed("@Gofer hello"))
    await made.ended()


async def test_model_requests_name_their_exported_span_and_requests_of_tools_have_no_traceparent(
    tmp_path: Path, there: Collector
) -> None:
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.url}
    async with (
        deciding(decide) as (model, url),
        company(tmp_path, root=repository(tmp_path), OPENAI_BASE_URL=url, **environment) as made,
    ):
        seen = watch(made)
        await asked(made, GENERAL)
        (head,) = await made.ended()
        await collected(there)
        vendors = {host_of(url) for url in made.embedded.simulated.urls.values()}
    named = [header for host, header in seen if host == host_of(url)]
    chats = [span for span in there.spans if span.name == "chat m"]
    # Two questions of the run, and one of its subagent.
    assert len(named) == len(model.sent) == len(chats) == 3
    assert sorted(named) == sorted(f"00-{span.trace_id.hex()}-{span.span_id.hex()}-01" for span in chats)
    assert {span.trace_id for span in chats} == {trace_id(head.run)}
    others = [(host, header) for host, header in seen if host != host_of(url)]
    assert vendors <= {host for host, _ in others}
    assert {header for _, header in others} == {""}


async def test_traceparent_without_a_collector_says_that_the_span_is_not_exported(tmp_path: Path) -> None:
    async with (
        deciding(decide) as (_, url),
        company(tmp_path, root=repository(tmp_path), OPENAI_BASE_URL=url) as made,
    ):
        seen = watch(made)
        await asked(made, GENERAL)
    assert {header[-3:] for host, header in seen if host == host_of(url)} == {"-00"}


async def test_private_run_sends_no_traceparent(tmp_path: Path, there: Collector) -> None:
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.url}
    async with (
        deciding(decide) as (model, url),
        company(tmp_path, root=repository(tmp_path), OPENAI_BASE_URL=url, **environment) as made,
    ):
        seen = watch(made)
        await asked(made, LEADS)
    assert len(model.sent) >= 2
    assert {header for _, header in seen} == {""}
