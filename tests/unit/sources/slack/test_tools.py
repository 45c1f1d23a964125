"""Slack tools for channels, groups and people, against the simulated Slack."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gofer.sources.slack.api import SlackRefusal
from gofer.sources.slack.channels import (
    GetPermalink,
    JoinChannel,
    ReadChannel,
    slack_get_permalink,
    slack_join_channel,
    slack_read_channel,
)
from gofer.sources.slack.directory import GetGroup, GetUser, slack_get_group, slack_get_user
from gofer.sources.slack.private_message import PostDirect, PostEphemeral, slack_post_direct, slack_post_ephemeral
from gofer.sources.slack.read_thread import ReadThread, slack_read_thread
from gofer.sources.slack.write import DeleteMessage, PostMessage, slack_delete_message, slack_post_message
from gofer.tools.definition import Call
from gofer.values.errors import ToolError
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Channel, Group
from support.tools.calls import started
from support.tools.declared_tools import look_for
from support.vendors.slack import API, ROOT, play

ADA, HERE = "U0000001", "C0000001"


def test_slack_channel_is_read_as_text_and_values() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        link = "see <https://example.com/a?b=1&amp;c=2|this> and <@U0000002>"
        asked = await slack.say(ADA, HERE, link, None)
        await slack.say(ADA, HERE, "a reply", asked.ts)
        await slack.react(ADA, HERE, asked.ts, "eyes")
        read = await slack_read_channel.act(API, call, ReadChannel(limit=2))
        assert read.text.startswith("Newest messages in #deploys, 2 messages, oldest first:")
        assert (read.details["channel"], read.details["private"]) == ("deploys", False)
        first, second = _messages(read.details)
        assert first["ts"] == ROOT
        assert second == {
            "ts": asked.ts,
            "thread_ts": asked.ts,
            "user": ADA,
            "name": "Ada",
            "text": "see this (https://example.com/a?b=1&c=2) and @Sam",
            "links": ["https://example.com/a?b=1&c=2"],
            "reactions": ["eyes"],
        }
        assert len(_messages((await slack_read_channel.act(API, call, ReadChannel(limit=1))).details)) == 1

    play(story)


def _messages(details: Mapping[str, object]) -> list[Any]:
    found = details["messages"]
    assert isinstance(found, list)
    return found


def test_slack_private_channel_is_unreadable_from_another_channel() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.workspace.put_channel(Channel("G0000009", "secret", "group", ("UBOT0000", ADA)))
        secret = (await slack.say(ADA, "G0000009", "Our plan.")).ts
        for channel in ("G0000009", "G0000077"):
            with pytest.raises(ToolError, match=r"conversations\.info \(channel_not_found\)"):
                await slack_read_channel.act(API, call, ReadChannel(channel=channel))
            with pytest.raises(ToolError, match=r"conversations\.info \(channel_not_found\)"):
                await slack_get_permalink.act(API, call, GetPermalink(channel=channel, ts=secret))
        assert (await slack_read_channel.act(API, replace(call, cleared=True), ReadChannel(channel="G0000009"))).summary
        inside = started(call, place={**call.place, "channel": "G0000009"})
        assert (await slack_read_channel.act(API, inside, ReadChannel())).details["private"] is True

    play(story)


def test_slack_join_takes_public_channels_only_and_joins_once() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        for _ in range(2):
            joined = await slack_join_channel.act(API, call, JoinChannel(channel="#random"))
            assert joined.details == {"channel": "C0000002", "name": "random"}
        assert slack.workspace.channel("C0000002").members.count("UBOT0000") == 1
        slack.workspace.put_channel(Channel("G0000009", "secret", "group", ("UBOT0000", ADA)))
        with pytest.raises(SlackRefusal, match="public channels only"):
            await slack_join_channel.act(API, call, JoinChannel(channel="G0000009"))

    play(story)


def test_slack_group_lists_the_members_and_an_unknown_group_is_empty() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.workspace.groups["S1"] = Group("S1", "leads", "Leads", (ADA, "U0000009"))
        found = await slack_get_group.act(API, call, GetGroup(handle="@Leads"))
        assert found.details == {"members": [ADA, "U0000009"]}
        assert found.text == "@leads has 2 members: Ada, U0000009."
        by_id = await slack_get_group.act(API, call, GetGroup(handle="@S1"))
        assert by_id.text == found.text
        assert (await slack_get_group.act(API, call, GetGroup(handle="nobody"))).details == {"members": []}
        slack.fail_next("usergroups.list", "plan_upgrade_required")
        assert (await slack_get_group.act(API, call, GetGroup(handle="leads"))).details == {"members": []}

    play(story)


@pytest.mark.parametrize(
    ("user", "kind"),
    [("U0000001", "member"), ("U0000002", "guest"), ("U0000003", "external"), ("U0000004", "bot")],
)
def test_slack_user_is_a_member_guest_external_or_bot(user: str, kind: str) -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        details = (await slack_get_user.act(API, call, GetUser(name=user))).details
        assert (details["kind"], details["team"]) == (kind, "T1")

    play(story)


def test_slack_thread_names_a_file_without_reading_the_content() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        odd = "a\n@Ada at 10:00\n.txt"
        await slack.upload(ADA, HERE, odd, b"secret words", "look", ROOT)
        read = await slack_read_thread.act(API, call, ReadThread())
        (file,) = read.files
        assert f'    look\n    [file {file.id}: "a@Ada at 10:00.txt", text/plain, 12 bytes]' in read.text
        assert "secret words" not in read.text

    play(story)


def test_slack_ephemeral_message_is_visible_to_the_requester_only() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        asking = started(call, actor=ADA)
        await slack_post_ephemeral.act(API, asking, PostEphemeral(text="**psst** <!channel>", thread_ts=ROOT))
        (one,) = slack.workspace.whispers
        assert (one.only_for, one.thread_ts) == (ADA, ROOT)
        assert one.paged == frozenset()
        assert len(slack.workspace.all_messages()) == 1
        with pytest.raises(SlackRefusal, match="not in the channel"):
            await slack_post_ephemeral.act(API, started(call, actor="U0000002"), PostEphemeral(text="x"))
        with pytest.raises(ToolError, match="did not come from a channel"):
            await slack_post_ephemeral.act(API, started(call, place={}), PostEphemeral(text="x"))

    play(story)


def test_slack_direct_message_is_written_once_and_found_by_the_call() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        asking = started(call, actor=ADA)
        wanted = PostDirect(text="hello")
        assert await look_for(slack_post_direct, API, asking, wanted) is None
        written = await slack_post_direct.act(API, asking, wanted)
        assert await look_for(slack_post_direct, API, asking, wanted) == written
        assert [message.text for message in slack.workspace.timeline(slack.direct(ADA).id)] == ["hello"]
        with pytest.raises(SlackRefusal, match="reads no direct messages"):
            await slack_post_direct.act(API, started(call, actor="U0000004"), wanted)

    play(story)


def test_slack_delete_removes_only_messages_of_gofer_and_can_be_repeated() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        ts = str((await slack_post_message.act(API, call, PostMessage(text="mine"))).details["ts"])
        for _ in range(2):
            assert (await slack_delete_message.act(API, call, DeleteMessage(ts=ts))).text == "Deleted."
        assert slack.workspace.find(HERE, ts) is None
        with pytest.raises(SlackRefusal, match="Only messages that Gofer posted"):
            await slack_delete_message.act(API, call, DeleteMessage(ts=ROOT))

    play(story)


def test_slack_message_metadata_has_the_hop_count() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        ts = str((await slack_post_message.act(API, started(call, hops=3), PostMessage(text="x"))).details["ts"])
        metadata = slack.workspace.message(HERE, ts).metadata
        assert metadata is not None
        assert metadata["event_payload"] == {"key": call.key, "hops": 3}

    play(story)
