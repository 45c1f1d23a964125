"""Lookups of earlier writes in Slack: found among many later messages, or reported as unknown."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from gofer.sources.slack.post_file import PostFile, slack_post_file
from gofer.sources.slack.write import (
    CLOCKS_APART,
    PostMessage,
    UpdateMessage,
    slack_post_message,
    slack_update_message,
)
from gofer.tools.definition import Call
from gofer.values.errors import ToolError
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Message
from support.stand_ins import AnsweringHttp
from support.tools.calls import any_call
from support.tools.declared_tools import look_for
from support.vendors.slack import API, NOW, ROOT, play

CHANNEL = "C0000001"


def chatter(slack: SlackSimulator, messages: int, thread_ts: str | None) -> None:
    for _ in range(messages):
        slack.workspace.post(Message(CHANNEL, "", "U0000001", "hm", thread_ts))


@pytest.mark.parametrize("thread", ["", ROOT])
def test_slack_lookup_finds_a_message_and_a_file_before_250_later_messages(thread: str) -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        call = replace(call, since=NOW)
        message, file = PostMessage(text="x", thread_ts=thread), PostFile(name="a.md", text="x", thread_ts=thread)
        posted = await slack_post_message.act(API, call, message)
        attached = await slack_post_file.act(API, call, file)
        chatter(slack, 250, thread or None)
        assert await look_for(slack_post_message, API, call, message) == posted
        assert await look_for(slack_post_file, API, call, file) == attached
        other = replace(call, key="run2/answer/1")
        assert await look_for(slack_post_message, API, other, message) is None
        assert await look_for(slack_post_file, API, other, file) is None

    play(story)


@pytest.mark.parametrize("purpose", ["status/2", "status/call/run1/1.0", "answer/1"])
def test_status_message_is_found_after_its_answer_replaced_the_text(purpose: str) -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        status = replace(call, since=NOW, key="run1/status/1")
        message = PostMessage(text="On it.", thread_ts=ROOT)
        posted = await slack_post_message.act(API, status, message)
        ts = str((posted.details or {})["ts"])
        await slack_update_message.act(
            API, replace(status, key=f"run1/{purpose}"), UpdateMessage(channel=CHANNEL, ts=ts, text="Here you are.")
        )
        assert await look_for(slack_post_message, API, status, message) == posted
        for other in ("run2/status/1", "run1/answer-part/2"):
            assert await look_for(slack_post_message, API, replace(status, key=other), message) is None

    play(story)


def busy_channel(newest: float, messages: int) -> AnsweringHttp:
    """Return a Slack with one channel and thread of that many messages, one a second, none by Gofer."""

    def answer(url: str, content: bytes) -> Mapping[str, object]:
        asked = {name: values[0] for name, values in parse_qs(content.decode()).items()}
        times = [newest - n for n in range(messages) if newest - n > float(asked["oldest"])]
        start = int(asked.get("cursor", "0"))
        end = start + int(asked["limit"])
        page = [{"ts": f"{time:.6f}"} for time in times[start:end]]
        return {"ok": True, "messages": page, "response_metadata": {"next_cursor": str(end) if times[end:] else ""}}

    return AnsweringHttp(answer)


def looking(http: AnsweringHttp, since: float) -> Call:
    return any_call(http, key="run1/answer/1", place={"channel": CHANNEL}, since=since)


@pytest.mark.parametrize("thread", ["", ROOT])
def test_slack_lookup_fails_above_10000_later_messages(thread: str) -> None:
    call = looking(busy_channel(NOW + 20_000, 10_001), NOW)
    with pytest.raises(ToolError, match="more than 10000 messages"):
        asyncio.run(look_for(slack_post_message, API, call, PostMessage(text="x", thread_ts=thread)))
    with pytest.raises(ToolError, match="more than 10000 messages"):
        asyncio.run(look_for(slack_post_file, API, call, PostFile(name="a.md", text="x", thread_ts=thread)))
    all_of_them = looking(busy_channel(NOW + 20_000, 10_000), NOW)
    assert asyncio.run(look_for(slack_post_message, API, all_of_them, PostMessage(text="x", thread_ts=thread))) is None


@pytest.mark.parametrize("thread", ["", ROOT])
def test_slack_lookup_reads_no_messages_from_before_the_run(thread: str) -> None:
    # Gofer's clock may be ahead of Slack's.
    http = busy_channel(NOW, 100_000)
    assert (
        asyncio.run(look_for(slack_post_message, API, looking(http, NOW), PostMessage(text="x", thread_ts=thread)))
        is None
    )
    assert len(http.requests) == CLOCKS_APART // 200 + 1
