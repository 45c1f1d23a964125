"""Notices to owners: bad feedback and reviews become messages in the owner's channel."""

from pathlib import Path

import pytest

from support.app.company import ROOT, Company, company
from support.app.one_workflow import quiet
from support.app.shipped_workflows import CAPTAIN, ask_about_the_decision

pytestmark = pytest.mark.anyio
OWNERS = "dev-experience"


async def test_thumbs_down_with_words_becomes_one_message_in_the_channel_of_the_owner(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        asked = await ask_about_the_decision(made)
        await made.ended()
        (answer,) = made.answers(asked)
        await made.slack.say(CAPTAIN, asked.channel, ":-1: the project was missing", asked.thread_ts)
        heads = await quiet(made)
        await made.ended(2)
        print(await made.ended(2))
        channel = made.slack.workspace.channel_named(OWNERS)
        assert channel is not None
        for m in made.slack.workspace.timeline(channel.id): print(m.text)
        assert 0
