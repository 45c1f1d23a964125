"""Sessions of agents in the simulated Slack: the status, its one slot, the Stop button and titles."""

import pytest

from gofer_simulators.slack.sessions import shown_status
from gofer_simulators.slack.workspace import SlackRefusal
from support.stand_ins import SetClock
from support.vendors.slack_web_api import ROOT, Slack, play
from unit.simulators.slack.test_manifest import GONE, changed

HERE = {"channel_id": "C1", "thread_ts": ROOT}
SET = "agents.sessions.setStatus"


def seen(slack: Slack) -> tuple[str, str]:
    return shown_status(slack.simulator.workspace, slack.simulator.workspace.message("C1", ROOT))


def test_stop_is_shown_only_while_a_session_is_processing() -> None:
    async def story(slack: Slack) -> None:
        for status, shown in (("processing", True), ("suspended", False), ("active", False), ("closed", False)):
            answer = await slack.call(SET, **HERE, status=status, title="Deploys")
            assert answer == {"ok": True, "status": status, "title": "Deploys", "agent_status": status}
            if shown:
                await slack.simulator.stop_session("U1", "C1", ROOT, only_shown=True)
            else:
                with pytest.raises(SlackRefusal, match="no_stop_button"):
                    await slack.simulator.stop_session("U1", "C1", ROOT, only_shown=True)

    play(story)


def test_session_without_the_subscription_has_an_indicator_and_no_stop() -> None:
    events = {"settings__event_subscriptions__bot_events": ["message.im"]}

    async def story(slack: Slack) -> None:
        slack.simulator.install(changed(**events))
        answer = await slack.call(SET, **HERE, status="processing")
        assert answer["warning"] == "missing_agent_session_stopped_event_subscription"
        assert "warning" not in await slack.call(SET, **HERE, status="active")
        assert "warning" in await slack.call(SET, **HERE, status="processing")
        assert seen(slack) == ("processing", "")
        with pytest.raises(SlackRefusal, match="no_stop_button"):
            await slack.simulator.stop_session("U1", "C1", ROOT, only_shown=True)

    play(story)


def test_app_without_agent_view_has_no_sessions() -> None:
    events = ["message.im"]
    manifest = changed(
        features__agent_view=GONE,
        settings__event_subscriptions__bot_events=events,
        oauth_config__scopes__bot=["chat:write", "im:history"],
    )

    async def story(slack: Slack) -> None:
        slack.simulator.install(manifest)
        assert await slack.error(SET, **HERE, status="processing") == "not_authorized"
        assert await slack.error("agents.sessions.rename", **HERE, title="x") == "not_authorized"

    play(story)


def test_status_methods_share_a_slot() -> None:
    async def story(slack: Slack) -> None:
        await slack.call(SET, **HERE, status="processing")
        await slack.call("assistant.threads.setStatus", **HERE, status="Reading #deploys", loading_messages=["…"])
        assert seen(slack) == ("active", "Reading #deploys")
        await slack.call(SET, **HERE, status="processing")
        assert seen(slack) == ("processing", "")
        await slack.call("assistant.threads.setStatus", **HERE, status="Reading")
        await slack.call("chat.postMessage", channel="C1", thread_ts=ROOT, text="Done")
        assert seen(slack) == ("active", "")

    play(story)


def test_status_fades_and_an_answer_does_not_clear_processing() -> None:
    clock = SetClock()

    async def story(slack: Slack) -> None:
        await slack.call(SET, **HERE, status="processing")
        await slack.call("chat.postMessage", channel="C1", thread_ts=ROOT, text="Done")
        assert seen(slack) == ("processing", "")
        clock.advance(3_601)
        assert seen(slack) == ("active", "")
        await slack.call("assistant.threads.setStatus", **HERE, status="Reading")
        clock.advance(121)
        assert seen(slack) == ("active", "")

    play(story, clock=clock.now)


def test_sessions_refuse_wrong_arguments() -> None:
    cases = (
        (SET, {**HERE, "status": "Reading"}, "invalid_arguments"),
        (SET, {**HERE, "status": ""}, "invalid_arguments"),
        (SET, {"channel_id": "C1", "status": "active"}, "invalid_arguments"),
        (SET, {"thread_ts": ROOT, "status": "active"}, "invalid_arguments"),
        (SET, {**HERE, "status": "active", "title": "x" * 201}, "invalid_arguments"),
        (SET, {**HERE, "status": "active", "initiator_user_id": "U3"}, "invalid_arguments"),
        (SET, {**HERE, "status": "active", "channel_id": "C2"}, "not_in_channel"),
        (SET, {**HERE, "status": "active", "channel_id": "C4"}, "channel_not_found"),
        (SET, {**HERE, "status": "active", "thread_ts": "1.000000"}, "thread_not_found"),
        (SET, {**HERE, "status": "active", "thread_ts": "1763700010.000100"}, "thread_not_found"),
        ("agents.sessions.rename", {**HERE, "title": "x"}, "session_not_found"),
        ("agents.sessions.rename", {**HERE, "title": "x" * 201}, "invalid_arguments"),
        ("assistant.threads.setStatus", {**HERE}, "invalid_arguments"),
        ("assistant.threads.setStatus", {**HERE, "status": "", "loading_messages": ["x"] * 11}, "invalid_arguments"),
    )

    async def story(slack: Slack) -> None:
        for method, arguments, error in cases:
            assert await slack.error(method, **arguments) == error, arguments

    play(story)


def test_session_keeps_its_first_title_until_a_rename() -> None:
    async def story(slack: Slack) -> None:
        await slack.call(SET, **HERE, status="processing", title="One")
        assert (await slack.call(SET, **HERE, status="active", title="Two"))["title"] == "One"
        assert await slack.call("agents.sessions.rename", **HERE, title="Three") == {"ok": True, "title": "Three"}
        await slack.simulator.rename_session("U1", "C1", ROOT, "Four")
        assert (await slack.call(SET, **HERE, status="active"))["title"] == "Four"

    play(story)


def test_another_name_or_picture_needs_its_scope() -> None:
    async def story(slack: Slack) -> None:
        slack.simulator.install(changed())
        answer = await slack.call(SET, **HERE, status="active", username="Deputy")
        assert (answer["error"], answer["needed"]) == ("missing_scope", "chat:write.customize")
        assert await slack.error("chat.postMessage", channel="C1", text="x", icon_emoji=":eyes:") == "missing_scope"

    play(story)
