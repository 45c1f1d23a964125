"""Approvals of runs that did not begin in Slack: the question is posted to the channel of the workflow's owner."""

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gofer.app.demo.scenes import Outsiders
from gofer_simulators.demo import demo_world
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.slack.workspace import Message
from support.app.company import Company
from support.app.one_workflow import Echo, gofer

pytestmark = pytest.mark.anyio
APPROVE = "approve: {tools: [slack_post_message], by: U0SUPPT0}\n"
POSTS = ("slack_post_message", {"text": "Refunds stand still.", "channel": "#general"})


async def by_a_comment(made: Company) -> None:
    jira = made.embedded.simulated.system(JiraSimulator)
    assert jira is not None
    issue = jira.site.find("PAY-17")
    assert issue is not None
    jira.people.comment("712020:support", issue, "please tell everybody")
    await jira.settled()


async def by_a_webhook(made: Company) -> None:
    body = json.dumps({"id": "r-1", "text": "please tell everybody"}).encode()
    assert await Outsiders(made.embedded).call("refunds", body) == 200


STARTS: Mapping[str, tuple[str, Callable[[Company], Awaitable[None]]]] = {
    "jira": ("when: [jira.commented]\ntools: [slack_post_message]\nwrites: {slack: public}", by_a_comment),
    "webhook": (
        "when: [{webhook: {name: refunds}}]\ntools: [slack_post_message]\nwrites: {slack: public}",
        by_a_webhook,
    ),
}


@asynccontextmanager
async def waiting(folder: Path, source: str) -> AsyncIterator[tuple[Company, Message]]:
    """Yield Gofer with a run that waits for an approval, and the posted question."""
    when, start = STARTS[source]
    world: dict[str, Any] = copy.deepcopy(dict(demo_world()))
    everybody = [user["id"] for user in world["slack"]["users"]] + ["U0GOFER0"]
    world["slack"]["channels"].append({"id": "C0HELPRS0", "name": "helpers", "members": everybody})
    async with gofer(folder, f"{when}\n{APPROVE}", Echo([POSTS]), world) as made:
        await start(made)
        async with asyncio.timeout(60):
            while not ((put := questions(made)) and await parked(made)):
                await asyncio.sleep(0.01)
        (question,) = put
        yield made, question


def questions(made: Company) -> list[Message]:
    posts = made.slack.workspace.timeline("C0HELPRS0")
    return [one for one in posts if any(block["type"] == "actions" for block in one.blocks)]


def general(made: Company) -> list[str]:
    return [one.text for one in made.slack.workspace.timeline("C0GENERA0") if one.bot_id]


async def parked(made: Company) -> bool:
    return [head.status for head in await made.embedded.state.store.heads(10, private=True)] == ["parked"]


@pytest.mark.parametrize("source", STARTS)
async def test_call_approved_in_the_owners_channel_happens_once(tmp_path: Path, source: str) -> None:
    async with waiting(tmp_path, source) as (made, question):
        assert "Refunds stand still." in str(question.blocks)
        assert general(made) == []
        assert await made.slack.press(question, "approve", "U0SUPPT0")
        (head,) = await made.ended()
        assert (head.status, general(made)) == ("done", ["Refunds stand still."])
        closed = made.slack.workspace.message(question.channel, question.ts)
        assert "Approved by Support Lead on " in str(closed.blocks)
        assert questions(made) == []


@pytest.mark.parametrize("source", STARTS)
async def test_call_denied_in_the_owners_channel_does_not_happen_and_the_run_ends_done(
    tmp_path: Path, source: str
) -> None:
    async with waiting(tmp_path, source) as (made, question):
        # A person who may not decide gets an ephemeral refusal in the channel.
        assert await made.slack.press(question, "approve", "U0CAPTN0")
        async with asyncio.timeout(60):
            while not (made.slack.whispers("U0CAPTN0") and await parked(made)):
                await asyncio.sleep(0.01)
        (word,) = made.slack.whispers("U0CAPTN0")
        assert (word.channel, word.text) == ("C0HELPRS0", "Only Support Lead may decide this.")
        assert await made.slack.press(question, "deny", "U0SUPPT0")
        (head,) = await made.ended()
        assert (head.status, general(made), questions(made)) == ("done", [], [])
        told = [getattr(one, "text", "") for one in await made.entries(head.run)]
        assert any("Support Lead denied it" in text for text in told)
        if source == "jira":
            assert "Here you are." in str(made.embedded.simulated.system(JiraSimulator).state()["PAY-17"])
