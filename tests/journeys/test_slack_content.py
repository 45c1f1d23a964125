"""What people and apps send in Slack besides text: the model reads it, and it starts what its author meant."""

import re
from pathlib import Path

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import MessageReceived
from support.app.company import Company
from support.app.one_workflow import CAPTAIN, DEPLOYS, GENERAL, gofer, quiet

pytestmark = pytest.mark.anyio

BUILDS = "U0OTHER00"
ALERT = {
    "fallback": "[FIRING:1] QueueFull",
    "title": "[FIRING:1] QueueFull",
    "title_link": "https://alerts.example.com/a/17",
    "text": "*Queue:* payments has 40,000 messages",
    "fields": [{"title": "Severity", "value": "critical", "short": True}],
}
TABLE = {"type": "table", "rows": [[{"type": "raw_text", "text": "Service"}, {"type": "raw_text", "text": "Errors"}]]}


async def first_message(made: Company, head: Head) -> str:
    entries = await made.entries(head.run)
    return next(entry.text for entry in entries if isinstance(entry, MessageReceived))


async def test_mention_below_an_alert_reads_the_alert_the_pasted_table_and_the_voice_clip(tmp_path: Path) -> None:
    async with gofer(tmp_path, "when: [slack.mention]") as made:
        alert = await made.slack.say(BUILDS, DEPLOYS, "", attachments=[ALERT])
        pasted = {"fallback": "[no preview available]", "blocks": [TABLE]}
        await made.slack.say(CAPTAIN, DEPLOYS, "the numbers", alert.ts, attachments=[pasted])
        clip = await made.slack.upload(
            CAPTAIN, DEPLOYS, "clip.m4a", b"m4a", "", alert.ts, "audio/mp4", transcript="Restart staging"
        )
        await made.slack.say(CAPTAIN, DEPLOYS, "<@U0GOFER0> what is wrong here?", alert.ts)
        (head,) = await made.ended()
        told = await first_message(made, head)
    assert clip.text == ""
    assert "    | [FIRING:1] QueueFull (https://alerts.example.com/a/17)" in told
    assert "    | Severity: critical" in told
    assert "    the numbers\n    [attachment:]\n    | Service | Errors" in told
    assert '"clip.m4a", audio/mp4, 3 bytes]\n    | transcript: Restart staging' in told
    assert "(no text)" not in told


async def test_forwarded_message_is_read_with_its_file_as_data_below_the_request(tmp_path: Path) -> None:
    async with gofer(tmp_path, "when: [slack.mention]") as made:
        file = await made.slack.upload(CAPTAIN, GENERAL, "export.csv", b"a,b\n1,2\n", "The export is empty")
        await made.slack.forward(CAPTAIN, DEPLOYS, file, "<@U0GOFER0> deal with this")
        (head,) = await made.ended()
        told = await first_message(made, head)
    request = [line for line in told.splitlines() if line.startswith("> ")]
    assert request == ["> @Gofer deal with this"]
    assert re.search(r'    \| The export is empty\n(    \| .*\n)*    \| \[file file_\w+: "export.csv"', told)
    assert "a,b" in told


async def test_forwarded_mention_starts_no_run(tmp_path: Path) -> None:
    async with gofer(tmp_path, "when: [slack.mention]\nwho: [members, bots]") as made:
        order = await made.slack.say(BUILDS, GENERAL, "<@U0GOFER0> deploy")
        await made.ended(1)
        await made.slack.forward(CAPTAIN, DEPLOYS, order, "look what happened")
        await made.slack.forward(CAPTAIN, DEPLOYS, order)
        assert len(await quiet(made)) == 1


async def test_mention_in_the_blocks_of_an_app_starts_a_run(tmp_path: Path) -> None:
    parts = [{"type": "user", "user_id": "U0GOFER0"}, {"type": "text", "text": " summarise the deploy"}]
    blocks = [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": parts}]}]
    async with gofer(tmp_path, "when: [slack.mention]\nwho: [members, bots]") as made:
        await made.slack.say(BUILDS, DEPLOYS, "Deploy finished", blocks=blocks)
        (head,) = await made.ended()
        told = await first_message(made, head)
    assert head.status == "done"
    assert "    Deploy finished\n    @Gofer summarise the deploy" in told


async def test_alert_of_an_app_starts_a_run_by_the_text_of_its_attachment(tmp_path: Path) -> None:
    workflow = f"when: [{{slack.message: {{channels: {DEPLOYS}, says: '*40,000 messages*'}}}}]\nwho: [members, bots]"
    async with gofer(tmp_path, workflow) as made:
        await made.slack.say(CAPTAIN, DEPLOYS, "see", attachments=[ALERT])
        await made.slack.say(BUILDS, DEPLOYS, "", attachments=[ALERT])
        await quiet(made)
        assert [head.status for head in await made.ended()] == ["done"]
