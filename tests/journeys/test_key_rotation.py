"""A rotation of the installation key while people work: duplicates, replies, buttons, stops and effects of before."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gofer.journal.entries import FeedbackGiven, RunStarted
from gofer.values.model_script import load_scripts
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.workspace import Group, Message
from support.app.company import Company, company

pytestmark = pytest.mark.anyio
NEW = "2" * 64
SAYS = """
- name: post
  when: {says: 'tell #general: (?P<words>[a-z ]+)', tools: [slack_post_message]}
  steps:
    - calls: [{slack_post_message: {text: '{words}', channel: '#general'}}]
    - text: That is all.
"""
WORKFLOW = 'description: d\nowner: "#general"\nmodel: gpt-5\n'
APPROVE = "tools: [slack_post_message]\napprove: {tools: [slack_post_message], by: '@leads', expires: 2 hours}\n"
ONCE = "tools: [{slack_post_message: {once: per_message}}]\nwrites: {slack: ['#general']}\n"
LIMIT = "tools: [slack_post_message]\nlimits_per_person: {runs_per_hour: 1}\n"


@asynccontextmanager
async def shop(folder: Path, keys: str, *, when: str = "slack.mention") -> AsyncIterator[Company]:
    """A Gofer with one workflow, whose model posts to #general on request."""
    agents = folder / "agents"
    agents.mkdir(exist_ok=True)
    (agents / "tell.yaml").write_text(f"{WORKFLOW}when: [{when}]\n{keys}")
    (agents / "tell.md").write_text("Do what you are told.")
    async with company(folder, root=folder, scripts=load_scripts(SAYS, "s"), world=demo_world()) as made:
        made.slack.workspace.groups["S0LEADS00"] = Group("S0LEADS00", "leads", "Leads", ("U0SUPPT0",))
        yield made


def rotate(folder: Path) -> None:
    """Put a new key before the present one, as docs/one-machine.md says."""
    path = folder / "state" / "installation.key"
    path.write_text(f"{NEW},{path.read_text().strip()}\n")


def general(made: Company) -> list[str]:
    return [one.text for one in made.slack.workspace.timeline("C0GENERA0") if one.bot_id]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def take_over(made: Company, *messages: Message) -> None:
    """Put messages of an earlier simulated Slack into the present one, which starts empty."""
    for message in messages:
        made.slack.workspace.put(message)


async def test_duplicate_of_an_answered_mention_starts_no_run_after_a_rotation(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await made.ask("@Gofer hello", "general")
        (before,) = await made.ended()
        envelopes = made.slack.envelopes(asked)
    rotate(tmp_path)
    async with company(tmp_path) as made:
        for envelope in envelopes:
            made.slack.adopt(envelope)
            assert await made.slack.deliver(envelope, retry_num=1, retry_reason="http_timeout") == 200
        (head,) = await made.ended()
        assert (head.run, made.answers(asked)) == (before.run, [])
        new = await made.ask("@Gofer hello again", "general")
        assert len(await made.ended(2)) == 2
        assert len(made.answers(new)) == 1


async def test_mention_accepted_before_a_rotation_is_answered_once_afterwards(tmp_path: Path) -> None:
    async with company(tmp_path, work=False) as made:
        asked = await made.ask("@Gofer hello", "general")
        await made.slack.settled()
        envelope = made.slack.envelopes(asked)[0]
    rotate(tmp_path)
    async with company(tmp_path) as made:
        made.slack.adopt(envelope)
        await made.slack.deliver(envelope, retry_num=1, retry_reason="http_timeout")
        (head,) = await made.ended()
        assert (head.status, len(made.answers(asked))) == ("done", 1)


async def test_reply_after_a_rotation_continues_the_run_of_before(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await made.ask("@Gofer hello", "general")
        (before,) = await made.ended()
    rotate(tmp_path)
    async with company(tmp_path) as made:
        await take_over(made, asked)
        await made.ask("@Gofer and what else?", "general", asked)
        first, second = await made.ended(2)
        (started,) = [entry for entry in await made.entries(second.run) if isinstance(entry, RunStarted)]
    assert first.run == before.run == started.continues
    assert first.conversation != second.conversation


async def test_approval_button_of_before_a_rotation_counts(tmp_path: Path) -> None:
    async with shop(tmp_path, APPROVE) as made:
        asked = await made.ask("@Gofer tell #general: lunch is ready")
        await until(lambda: any(block["type"] == "actions" for one in made.answers(asked) for block in one.blocks))
        (put,) = [one for one in made.answers(asked) if any(block["type"] == "actions" for block in one.blocks)]
    rotate(tmp_path)
    async with shop(tmp_path, APPROVE) as made:
        await take_over(made, asked, *([] if put.ts == asked.ts else [put]))
        assert await made.slack.press(put, "approve", "U0SUPPT0")
        (head,) = await made.ended()
        assert (head.status, general(made)) == ("done", ["lunch is ready"])


async def test_effect_once_for_each_message_is_not_repeated_after_a_rotation(tmp_path: Path) -> None:
    async with shop(tmp_path, ONCE, when="{slack.reaction: {emoji: mega}}") as made:
        asked = await made.ask("tell #general: lunch is ready")
        await made.slack.react("U0CAPTN0", asked.channel, asked.ts, "mega")
        await made.ended()
        assert general(made) == ["lunch is ready"]
    rotate(tmp_path)
    async with shop(tmp_path, ONCE, when="{slack.reaction: {emoji: mega}}") as made:
        await take_over(made, asked)
        await made.slack.react("U0SUPPT0", asked.channel, asked.ts, "mega")
        _, second = await made.ended(2)
        assert (second.status, general(made)) == ("done", [])
        assert "already did this for the same message" in str(await made.entries(second.run))


async def test_rotation_does_not_renew_the_limit_of_a_person(tmp_path: Path) -> None:
    async with shop(tmp_path, LIMIT) as made:
        await made.ask("@Gofer tell #general: lunch is ready")
        await made.ended()
    rotate(tmp_path)
    async with shop(tmp_path, LIMIT) as made:
        await made.ask("@Gofer tell #general: more lunch")
        _, second = await made.ended(2)
        assert "limit reached" in second.reason


async def test_feedback_and_a_stop_reach_runs_of_before_a_rotation(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await made.ask("@Gofer hello", "general")
        (before,) = await made.ended()
        (answer,) = made.answers(asked)
    async with company(tmp_path, work=False) as made:
        await take_over(made, asked, answer)
        waiting = await made.ask("@Gofer hello again", "general")
        await made.slack.settled()
        (accepted,) = {head.run for head in await made.embedded.state.store.heads(9, private=True)} - {before.run}
    rotate(tmp_path)
    async with company(tmp_path, work=False) as made:
        await take_over(made, asked, answer, waiting)
        await made.slack.react("U0CAPTN0", answer.channel, answer.ts, "-1")
        await made.slack.react("U0CAPTN0", waiting.channel, waiting.ts, "octagonal_sign")
        await made.slack.settled()
    async with company(tmp_path) as made:
        await take_over(made, asked, answer, waiting)
        await until_entries(made, before.run)
        ended = {head.run: head.status for head in await made.ended(2)}
        assert (ended[before.run], ended[accepted]) == ("done", "cancelled")


async def until_entries(made: Company, run: str) -> None:
    async with asyncio.timeout(60):
        while not any(isinstance(entry, FeedbackGiven) for entry in await made.entries(run)):
            await asyncio.sleep(0.01)
