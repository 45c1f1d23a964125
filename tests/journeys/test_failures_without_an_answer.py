"""Failures without an answer: the notice to the owner's channel, and the count on the page of runs."""

from pathlib import Path

import pytest

from gofer.journal.unlisted_ends import count
from gofer_simulators.slack.workspace import Message
from support.app import shipped_workflows
from support.app.company import Company, company

pytestmark = pytest.mark.anyio


def posted(made: Company, channel: str) -> list[Message]:
    bot = made.slack.workspace.bot.user
    return [message for message in made.slack.workspace.timeline(channel) if message.user == bot]


async def test_failed_silent_workflow_notifies_the_owner_once_and_no_pull_request(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        owners = made.slack.workspace.channel_named("dev-experience")
        assert owners is not None
        await made.ended(0)
        for number in (41, 42):
            made.slack.fail_next("conversations.history", "restricted_action")
            pull = shipped_workflows.github(made).issue("acme/shop", number)
            shipped_workflows.github(made).people.close(pull, "new-colleague")
            await shipped_workflows.github(made).settled()
            heads = [head for head in await made.ended() if head.workflow == "mark-merged"]
            assert heads[-1].status == "failed"
        comments = [shipped_workflows.github(made).issue("acme/shop", number).comments for number in (41, 42)]
        told = [message.text for message in posted(made, owners.id) if "mark-merged" in message.text]
    assert [len(one) for one in comments] == [0, 0]
    assert len(told) == 1
    reason = "coordinators/mark_merged.py:22: slack_read_channel failed (restricted_action)"
    assert told[0].startswith(f"`mark-merged`: failed: `{reason}")


async def test_runs_page_counts_runs_that_could_not_begin(tmp_path: Path) -> None:
    async with company(tmp_path, work=False) as made:
        clock = made.embedded.worker.services.outside.clock
        for _ in range(2):
            await count(made.embedded.state.store, "begin", "outage", "Slack", int(clock.now() * 1000))
        page = (await made.get("/runs")).text
    assert "2 runs could not begin: Slack did not answer." in page
