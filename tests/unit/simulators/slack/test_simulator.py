"""Acts of people in the simulated Slack and the events they cause."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from gofer.values.errors import ConfigError
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import SlackRefusal
from gofer_simulators.slack.world import load_workspace
from support.http import loopback
from support.vendors.slack import NOW, ROOT, WORLD

ADA, BOT, HERE, ELSEWHERE = "U0000001", "UBOT0000", "C0000001", "C0000002"
Events = list[Mapping[str, Any]]


def play(story: Callable[[SlackSimulator, Events], Awaitable[None]]) -> None:
    """Play a story; the list receives the events."""

    async def run() -> None:
        async with loopback.client() as http:
            slack, events = SlackSimulator(WORLD, clock=lambda: NOW, http=http), Events()
            slack._deliveries.announce = lambda envelopes: events.extend(one["event"] for one in envelopes)
            await story(slack, events)

    asyncio.run(run())


def test_simulated_slack_edit_that_adds_a_mention_sends_two_events() -> None:
    async def story(slack: SlackSimulator, events: Events) -> None:
        await slack.edit(ADA, HERE, ROOT, "hi there")
        await slack.unfurl(HERE, ROOT)
        assert [event.get("subtype") for event in events] == ["message_changed"] * 2
        await slack.edit(ADA, HERE, ROOT, f"<@{BOT}> hi there")
        changed, mention = events[2:]
        assert (changed["previous_message"]["text"], changed["message"]["text"]) == ("hi there", mention["text"])
        assert (mention["type"], mention["ts"], mention["edited"]["user"]) == ("app_mention", ROOT, ADA)
        with pytest.raises(SlackRefusal, match="cant_update_message"):
            await slack.edit("U0000002", HERE, ROOT, "x")

    play(story)


def test_simulated_slack_deleted_message_with_replies_leaves_a_tombstone() -> None:
    async def story(slack: SlackSimulator, events: Events) -> None:
        reply = await slack.say(ADA, HERE, "a reply", ROOT)
        await slack.delete(ADA, HERE, ROOT)
        await slack.delete(ADA, HERE, reply.ts)
        changed, deleted = events[1:]
        assert (changed["subtype"], changed["message"]["subtype"]) == ("message_changed", "tombstone")
        assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", reply.ts)
        assert slack.workspace.find(HERE, reply.ts) is None

    play(story)


def test_simulated_slack_sends_events_for_files_channels_members_and_stops() -> None:
    async def story(slack: SlackSimulator, events: Events) -> None:
        await slack.upload(ADA, HERE, "a.png", b"x", mimetype="image/png")
        channel = await slack.create_channel(ADA, "proj-x")
        # The bot is not a member yet and gets no event.
        await slack.join("U0000002", channel.id)
        await slack.join(BOT, channel.id, inviter=ADA)
        await slack.stop_session(ADA, HERE, ROOT)
        assert [event["type"] for event in events] == [
            "message",
            "channel_created",
            "member_joined_channel",
            "agent_session_stopped",
        ]
        file, created, joined, stopped = events
        assert (file["subtype"], file["text"], file["files"][0]["mimetype"]) == ("file_share", "", "image/png")
        assert (created["channel"]["name"], created["channel"]["creator"]) == ("proj-x", ADA)
        assert (joined["user"], joined["inviter"], joined["channel_type"]) == (BOT, ADA, "C")
        assert stopped["thread_ts"] == ROOT
        with pytest.raises(SlackRefusal, match="name_taken"):
            await slack.create_channel(ADA, "proj-x")

    play(story)


def test_simulated_slack_sends_a_direct_message_as_a_message_of_the_im_channel() -> None:
    async def story(slack: SlackSimulator, events: Events) -> None:
        direct = slack.direct(ADA)
        assert slack.direct(ADA) == direct
        await slack.say(ADA, direct.id, f"<@{BOT}> hello")
        (event,) = events
        assert (event["type"], event["channel_type"], event["channel"]) == ("message", "im", direct.id)

    play(story)


def test_simulated_slack_world_with_unknown_group_members_is_refused() -> None:
    slack: Any = WORLD["slack"]
    world = {"slack": {**slack, "groups": [{"id": "S1", "handle": "leads", "users": ["U7"]}]}}
    with pytest.raises(ConfigError, match="it has the user 'U7', who is not among the users"):
        load_workspace(world, lambda: NOW)


@pytest.mark.parametrize("home", [{}, {"messages_tab_enabled": True, "messages_tab_read_only_enabled": True}])
def test_simulated_slack_refuses_direct_messages_when_the_messages_tab_is_closed(home: Mapping[str, object]) -> None:
    async def story(slack: SlackSimulator, events: Events) -> None:
        direct = slack.workspace.direct(ADA).id
        await slack.say(ADA, direct, "hello")
        slack.install(
            {
                "display_information": {"name": "Gofer"},
                "features": {"app_home": home, "bot_user": {"display_name": "Gofer"}},
                "oauth_config": {"scopes": {"bot": ["chat:write"]}},
            }
        )
        with pytest.raises(SlackRefusal, match="messages_tab_disabled"):
            await slack.say(ADA, direct, "hello?")
        assert [event["text"] for event in events] == ["hello"]

    play(story)
