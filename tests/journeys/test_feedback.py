"""Feedback on answers: reactions and replies in Slack, on the way to the journal, statistics and retention."""

from pathlib import Path

import pytest

from gofer.journal.log import read_journal
from gofer.projections.progress import Progress, project
from gofer_simulators.slack.workspace import Message
from support.app.company import Company
from support.app.one_workflow import CAPTAIN, DEPLOYS, ONCALL, gofer, quiet

pytestmark = pytest.mark.anyio
ASK = "<@U0GOFER0> hello"
MENTIONS = "when: [slack.mention]"


async def answered(made: Company, channel: str = DEPLOYS) -> tuple[str, Message, Message]:
    """Mention Gofer; return the run, the question and the answer."""
    asked = await made.slack.say(CAPTAIN, channel, ASK)
    (head, *_) = await made.ended()
    (answer,) = made.answers(asked)
    return head.run, asked, answer


async def progress_of(made: Company, run: str) -> Progress:
    """Return a run once all deliveries were taken."""
    await quiet(made)
    stores = made.embedded.state.stores
    return project(await read_journal(run, stores.journals, stores.blobs))


async def test_reaction_on_an_answer_is_feedback_until_it_is_taken_back(tmp_path: Path) -> None:
    async with gofer(tmp_path, MENTIONS) as made:
        run, _, answer = await answered(made)
        await made.slack.react(CAPTAIN, DEPLOYS, answer.ts, "-1")
        await made.slack.react(ONCALL, DEPLOYS, answer.ts, "+1::skin-tone-3")
        progress = await progress_of(made, run)
        assert {actor: one.verdict for actor, one in progress.follow_ups.feedback.items()} == {
            CAPTAIN: "bad",
            ONCALL: "good",
        }
        assert len(await quiet(made)) == 1
        await made.slack.react(CAPTAIN, DEPLOYS, answer.ts, "-1", added=False)
        progress = await progress_of(made, run)
        assert [*progress.follow_ups.feedback] == [ONCALL]
