"""Notices to owners: bad feedback and reviews become messages in the owner's channel."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from gofer.journal.coordination import UNFINISHED, Head
from gofer.journal.entries import FeedbackGiven
from gofer_simulators.slack.workspace import Message
from support.app.company import Company, company
from support.app.shipped_workflows import CAPTAIN, ONCALL, ask_about_the_decision

pytestmark = pytest.mark.anyio
OWNERS = "C0DEVEXP0"


def notices(made: Company) -> Sequence[str]:
    return [message.text for message in made.slack.workspace.timeline(OWNERS)]


async def answered(made: Company) -> tuple[Head, Message]:
    asked = await ask_about_the_decision(made)
    (*_, head) = await made.ended()
    (answer,) = made.answers(asked)
    return head, answer


async def told(made: Company, runs: int) -> Sequence[Head]:
    """Return the runs that told owners, once there are that many and all runs ended."""
    await made.slack.settled()
    async with asyncio.timeout(60):
        while True:
            heads = await made.embedded.state.store.heads(1000, private=True)
            found = [head for head in heads if head.workflow == "tell-owner"]
            if len(found) >= runs and all(head.status not in UNFINISHED for head in heads):
                return found
            await asyncio.sleep(0.02)


async def test_thumbs_down_with_words_becomes_one_message_in_the_channel_of_the_owner(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        head, answer = await answered(made)
        await made.slack.say(CAPTAIN, answer.channel, ":-1: <!channel> the `project` was missing", answer.thread_ts)
        (run,) = await told(made, 1)
        assert (run.status, run.private) == ("done", False)
        (text,) = notices(made)
        assert text.startswith("Bad feedback on answer-here.")
        assert "the `project` was missing" in text
        assert "<!channel>" not in text
        assert f"gofer trace {head.run}" in text
        assert f"gofer golden {head.run} --regression" in text
        assert f"{made.embedded.url}/runs/{head.run}" in text


async def test_second_person_adds_no_second_message_about_the_run(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        head, answer = await answered(made)
        await made.slack.react(CAPTAIN, answer.channel, answer.ts, "-1")
        await told(made, 1)
        await made.slack.react(ONCALL, answer.channel, answer.ts, "-1")
        await made.slack.react(ONCALL, answer.channel, answer.ts, "+1")
        await told(made, 2)
        assert len(notices(made)) == 1
        given = [entry for entry in await made.entries(head.run) if isinstance(entry, FeedbackGiven)]
        assert [one.verdict for one in given] == ["bad", "bad", "good"]
        assert len(await told(made, 2)) == 2


async def test_owner_hears_of_five_runs_in_an_hour_and_then_of_the_command_that_lists_the_rest(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        runs: list[str] = []
        for number in range(7):
            asked = await made.ask("@Gofer hello", "general")
            (*_, head) = await made.ended(len(runs) * 2 + 1)
            runs.append(head.run)
            (answer,) = made.answers(asked)
            await made.slack.react(CAPTAIN, answer.channel, answer.ts, "-1")
            await told(made, number + 1)
        *first, last = notices(made)
        assert len(first) == 5
        assert all(run in text for run, text in zip(runs, first, strict=False))
        assert last.startswith("More: Bad feedback on answer-here.")
        assert "6 runs wait for you: `gofer feedback`" in last
