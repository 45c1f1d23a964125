"""Streams in the simulated Slack: chunks, tasks, other people, the end after five minutes, and Stop."""

from gofer_simulators.json_values import object_of, objects, text_of
from gofer_simulators.slack.sessions import shown_status
from gofer_simulators.slack.streams import seen_by
from support.stand_ins import SetClock
from support.vendors.slack_web_api import ROOT, Slack, play

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
IN_THREAD = {"channel": "C1", "thread_ts": ROOT, "recipient_user_id": "U1", "recipient_team_id": "T1"}


def task(status: str, **more: str) -> dict[str, str]:
    return {"type": "task_update", "id": "t1", "title": "Reading", "status": status, **more}


async def begun(slack: Slack, **more: object) -> dict[str, object]:
    answer = await slack.call(START, **IN_THREAD, **more)
    assert answer["ok"] is True, answer
    return {"channel": answer["channel"], "ts": answer["ts"]}


def texts_for(slack: Slack, place: dict[str, object], person: str) -> list[str]:
    workspace = slack.simulator.workspace
    message = seen_by(workspace, workspace.message("C1", str(place["ts"])), person)
    return [text_of(block, "text") for block in message.blocks]


def test_others_see_the_first_chunk_until_the_stream_ends() -> None:
    async def story(slack: Slack) -> None:
        place = await begun(slack, markdown_text="One ")
        await slack.call(APPEND, **place, markdown_text="two ")
        assert texts_for(slack, place, "U1") == ["One two "]
        assert texts_for(slack, place, "U2") == ["One "]
        answer = await slack.call(STOP, **place, markdown_text="three")
        assert texts_for(slack, place, "U2") == ["One two three"]
        assert object_of(answer, "message")["streaming_state"] == "completed"
        assert await slack.error(APPEND, **place, markdown_text="four") == "message_not_in_streaming_state"

    play(story)


def test_stream_dies_after_five_minutes_and_its_message_can_be_edited() -> None:
    clock = SetClock()

    async def story(slack: Slack) -> None:
        place = await begun(slack, markdown_text="One ")
        clock.advance(299)
        await slack.call(APPEND, **place, markdown_text="two")
        assert await slack.error("chat.update", **place, text="x") == "streaming_state_conflict"
        clock.advance(2)
        assert await slack.error(APPEND, **place, markdown_text="!") == "message_not_in_streaming_state"
        assert await slack.error(STOP, **place) == "message_not_in_streaming_state"
        assert texts_for(slack, place, "U2") == ["One two"]
        assert (await slack.call("chat.update", **place, text="The whole answer"))["ok"] is True

    play(story, clock=clock.now)


def test_details_of_a_task_append_and_titles_replace() -> None:
    async def story(slack: Slack) -> None:
        place = await begun(slack, chunks=[task("in_progress", details="a")])
        await slack.call(APPEND, **place, chunks=[task("complete", title="Read", details="b")])
        answer = await slack.call(STOP, **place, chunks=[{"type": "markdown_text", "text": "Done"}])
        card, words = objects(object_of(answer, "message")["blocks"])
        assert (card["type"], card["title"], card["status"]) == ("task_card", "Read", "complete")
        assert "'text': 'ab'" in str(card["details"])
        assert words["text"] == "Done"
        plan = await begun(slack, task_display_mode="plan", chunks=[task("pending")])
        answer = await slack.call(STOP, **plan, chunks=[{"type": "plan_update", "title": "Looked"}])
        (block,) = objects(object_of(answer, "message")["blocks"])
        assert (block["type"], block["title"], len(objects(block["tasks"]))) == ("plan", "Looked", 1)

    play(story)


def test_stream_makes_a_session_and_its_end_sets_the_status() -> None:
    async def story(slack: Slack) -> None:
        workspace = slack.simulator.workspace
        root = workspace.message("C1", ROOT)
        place = await begun(slack, markdown_text="One")
        assert shown_status(workspace, root)[0] == "processing"
        assert await slack.error(STOP, **place, session_status="done") == "invalid_arguments"
        await slack.call(STOP, **place, session_status="suspended")
        assert shown_status(workspace, root)[0] == "suspended"
        await slack.call(STOP, **await begun(slack, markdown_text="One"))
        assert shown_status(workspace, root)[0] == "active"

    play(story)


def test_stop_of_a_person_ends_the_appends() -> None:
    async def story(slack: Slack) -> None:
        place = await begun(slack, markdown_text="One")
        await slack.simulator.stop_session("U1", "C1", ROOT, only_shown=True)
        assert await slack.error(APPEND, **place, markdown_text="two") == "stopped_by_user"
        assert (await slack.call(STOP, **place))["ok"] is True

    play(story)


def test_streams_refuse_wrong_arguments() -> None:
    def chunks(*given: object) -> dict[str, object]:
        return {**IN_THREAD, "chunks": list(given)}

    cases: tuple[tuple[dict[str, object], str], ...] = (
        ({"channel": "C1", "recipient_team_id": "T1"}, "missing_recipient_user_id"),
        ({"channel": "C1", "recipient_user_id": "U1"}, "missing_recipient_team_id"),
        ({**IN_THREAD, "channel": "C2"}, "not_in_channel"),
        ({**IN_THREAD, "task_display_mode": "loud"}, "invalid_arguments"),
        ({**IN_THREAD, "markdown_text": "x" * 12_001}, "msg_too_long"),
        ({**chunks(), "markdown_text": "x"}, "cannot_provide_both_markdown_text_and_chunks"),
        ({**IN_THREAD, "chunks": "x"}, "invalid_chunks"),
        (chunks({"type": "poem"}), "invalid_chunks"),
        (chunks(task("completed")), "invalid_chunks"),
        (chunks(task("pending", title="x" * 257)), "invalid_chunks"),
        (chunks({"type": "markdown_text"}), "invalid_chunks"),
        (chunks({"type": "blocks", "blocks": [{"type": "poem"}]}), "invalid_blocks"),
        (chunks({"type": "blocks", "blocks": [{"type": "divider"}] * 51}), "too_many_blocks"),
        (chunks(*[{"type": "markdown_text", "text": "x" * 11_000}] * 2), "msg_blocks_too_long"),
        ({"channel": "D1"}, "channel_not_found"),
    )

    async def story(slack: Slack) -> None:
        for arguments, error in cases:
            assert await slack.error(START, **arguments) == error, arguments
        place = await begun(slack, markdown_text="One")
        assert await slack.error(APPEND, **place, chunks=[]) == "cannot_provide_both_markdown_text_and_chunks"
        assert await slack.error(APPEND, **place) == "invalid_arguments"
        assert await slack.error(APPEND, channel="C1", ts=ROOT, markdown_text="x") == "message_not_owned_by_app"
        assert await slack.error(STOP, **place, blocks=[{"type": "divider"}] * 51) == "too_many_blocks"
        direct = slack.simulator.direct("U1")
        assert await slack.error(START, channel=direct.id, markdown_text="x") == "invalid_arguments"

    play(story)
