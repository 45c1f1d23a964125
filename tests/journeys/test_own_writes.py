"""Gofer's own writes to Jira, Notion and GitHub start no run, even with every trigger of that system."""

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gofer.journal.coordination import Head
from gofer_simulators.github.simulator import GitHubSimulator
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.notion.simulator import NotionSimulator
from support.app.company import Company, company
from support.app.one_workflow import Echo, world
from support.vendors.github import WORLD as GITHUB
from support.vendors.jira import ADA as JIRA_ADA
from support.vendors.jira import WORLD as JIRA
from support.vendors.notion import ADA, CACHE
from support.vendors.notion import WORLD as NOTION

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def gofer(folder: Path, when: str, *asks: tuple[str, dict[str, object]]) -> AsyncIterator[Company]:
    """Run Gofer with one workflow whose model calls some tools first, in a company with all systems."""
    agents = folder / "repository" / "agents"
    agents.mkdir(parents=True)
    tools = ", ".join(dict.fromkeys(name for name, _ in asks))
    writes = "writes: {jira: [OPS], github: [acme/app]}\n"
    (agents / "w.yaml").write_text(f'description: d\nowner: "#o"\nwhen: [{when}]\ntools: [{tools}]\n{writes}')
    (agents / "w.md").write_text("Help.")
    (agents / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    # An account name like those of people, without the suffix of a bot.
    github = json.loads(json.dumps(GITHUB).replace("gofer[bot]", "gofer-machine"))
    everything = {**world(), "jira": copy.deepcopy(JIRA), "notion": copy.deepcopy(NOTION), "github": github}
    async with company(folder, root=folder / "repository", world=everything, model=Echo(asks)) as made:
        yield made


async def only(made: Company) -> Head:
    """Return the only run, once all deliveries were made."""
    await made.embedded.simulated.settled()
    (head,) = await made.ended()
    await made.embedded.simulated.settled()
    await asyncio.sleep(0.1)
    assert await made.embedded.state.store.heads(10, private=True) == [head]
    return head


def state(made: Company, system: str) -> str:
    return str(made.embedded.simulated.state()[system])


async def test_own_writes_to_jira_start_no_run(tmp_path: Path) -> None:
    every = "jira.commented, jira.issue_created, jira.issue_updated, jira.attachment_added"
    asks: Sequence[tuple[str, dict[str, object]]] = [
        ("jira_create_issue", {"project": "OPS", "type": "Task", "summary": "Look at it", "description": "Why"}),
        ("jira_transition_issue", {"issue": "OPS-7", "status": "Done"}),
    ]
    async with gofer(tmp_path, every, *asks) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        jira.people.comment(JIRA_ADA, jira.site.issue("OPS-7"), "Please look at it.")
        assert (await only(made)).status == "done"
        after = state(made, "jira")
    assert after.count("Here you are.") == 1
    assert "Look at it" in after


async def test_own_writes_to_notion_start_no_run(tmp_path: Path) -> None:
    every = "notion.commented, notion.content_updated, notion.properties_updated, notion.page_created"
    asks: Sequence[tuple[str, dict[str, object]]] = [
        ("notion_update_properties", {"page": CACHE, "properties": {"Effort": 8}}),
        ("notion_append_content", {"page": CACHE, "text": "Appended."}),
    ]
    async with gofer(tmp_path, every, *asks) as made:
        notion = made.embedded.simulated.system(NotionSimulator)
        assert notion is not None
        notion.people.comment("Cache", "Please look at it.", by=ADA)
        assert (await only(made)).status == "done"
        after = state(made, "notion")
    assert after.count("Here you are.") == 1
    assert "Appended." in after


async def test_own_writes_to_github_start_no_run(tmp_path: Path) -> None:
    every = "github.comment, github.issue, github.pull_request, github.review, github.push"
    asks: Sequence[tuple[str, dict[str, object]]] = [
        ("github_create_issue", {"repository": "acme/app", "title": "Look at it", "body": "Why"}),
        ("github_request_reviewers", {"reviewers": ["acme/core"]}),
    ]
    async with gofer(tmp_path, every, *asks) as made:
        github = made.embedded.simulated.system(GitHubSimulator)
        assert github is not None
        github.people.comment(github.issue("acme/app", 7), "ada", "Please look at it.")
        assert (await only(made)).status == "done"
        after = state(made, "github")
    assert after.count("Here you are.") == 1
    assert "Look at it" in after
