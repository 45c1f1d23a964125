"""Slack tools against the simulated Slack: files attached once, people looked up, refusals and waits."""

import asyncio
import logging

import pytest

from gofer.sources.slack.api import SlackApi, SlackRefusal
from gofer.sources.slack.directory import GetUser, slack_get_user
from gofer.sources.slack.post_file import PostFile, file_name, slack_post_file
from gofer.sources.slack.refusals import REFUSALS
from gofer.sources.slack.write import AddReaction, PostMessage, slack_add_reaction, slack_post_message
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.outside import HttpRequest, HttpResponse
from gofer.values.secret import Secret
from gofer_simulators.slack.simulator import SlackSimulator
from support.tools.calls import any_call
from support.tools.declared_tools import look_for
from support.vendors.slack import API, ROOT, play


def test_slack_file_is_attached_to_the_thread_and_found_by_the_call() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        wanted = PostFile(name="answer.md", text="# Zürich 🚀", thread_ts=ROOT)
        assert await look_for(slack_post_file, API, call, wanted) is None
        done = await slack_post_file.act(API, call, wanted)
        assert await look_for(slack_post_file, API, call, wanted) == done
        (file,) = slack.workspace.files.values()
        assert (file.name, file.content) == (file_name("answer.md", call.key), "# Zürich 🚀".encode())
        (reply,) = slack.workspace.replies(slack.workspace.message("C0000001", ROOT))
        assert reply.extra["files"][0]["title"] == "answer.md"
        in_channel = PostFile(name="other", text="x")
        assert await slack_post_file.act(API, call, in_channel) == await look_for(
            slack_post_file, API, call, in_channel
        )

    play(story)


@pytest.mark.parametrize(
    ("name", "safe"), [("a.md", "a-{}.md"), ("../../x y.tar", "x-y-{}.tar"), ("..", "file-{}.txt"), ("ä", "ä-{}.txt")]
)
def test_slack_file_name_is_safe_and_unique_to_the_call(name: str, safe: str) -> None:
    mark = file_name("x.md", "run1/answer-file/1")[2:-3]
    assert file_name(name, "run1/answer-file/1") == safe.format(mark)
    assert file_name(name, "run2/answer-file/1") != file_name(name, "run1/answer-file/1")


def test_slack_file_refused_by_slack_is_reported_and_a_lost_answer_is_found() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.fail_next("files.getUploadURLExternal", "file_uploads_disabled")
        with pytest.raises(ToolError, match="does not accept files from apps"):
            await slack_post_file.act(API, call, PostFile(name="a.md", text="x"))
        slack.workspace.files.clear()
        gone = SlackApi("http://slack/api/", Secret("xoxb-simulated"))
        slack.fail_next("files.completeUploadExternal", "internal_error", after_effect=True)
        with pytest.raises(TemporaryError):
            await slack_post_file.act(gone, call, PostFile(name="a.md", text="x"))
        assert await look_for(slack_post_file, gone, call, PostFile(name="a.md", text="x"))

    play(story)


async def user_called(call: Call, name: str) -> ToolResult:
    return await slack_get_user.act(API, call, GetUser(name=name))


def test_slack_user_is_described_without_an_id() -> None:
    async def story(_: SlackSimulator, call: Call) -> None:
        for name in ("@Ada", "ada byron", "U0000001", "<@U0000001>", "<@U0000001|ada>"):
            found = await user_called(call, name)
            assert found.text == "@Ada: handle @ada; real name Ada Byron; Engineer; time zone Europe/Berlin"
        assert (await user_called(call, "build bot")).text.endswith("; a bot")

    play(story)


def test_slack_user_name_of_two_people_lists_both_and_an_unknown_name_is_not_guessed() -> None:
    async def story(_: SlackSimulator, call: Call) -> None:
        both = await user_called(call, "sam")
        assert both.details == {"found": 2}
        assert both.text.splitlines() == [
            "2 people are called “sam”; ask which one is meant:",
            "- @Sam: handle @sam; real name Sam Field; time zone Etc/UTC; a guest",
            "- @Sam: handle @sam; real name Sam Hill; time zone Etc/UTC; deactivated",
        ]
        nobody = await user_called(call, "Bryon")
        assert nobody.text.startswith("No person here is called “Bryon”.")
        assert (await user_called(call, "Ada Bryon")).text.endswith("Similar names: Ada.")
        with pytest.raises(ToolError, match="knows no such person"):
            await user_called(call, "U0000009")
        assert "U0000" not in both.text + nobody.text

    play(story)


@pytest.mark.parametrize(
    ("channel", "words"),
    [("C0000002", "must invite it"), ("C0000003", "archived"), ("#nowhere", "Check the name")],
)
def test_slack_post_to_a_closed_channel_is_refused_with_the_reason(channel: str, words: str) -> None:
    async def story(_: SlackSimulator, call: Call) -> None:
        with pytest.raises(ToolError, match=words):
            await slack_post_message.act(API, call, PostMessage(text="x", channel=channel))

    play(story)


@pytest.mark.parametrize("code", [*REFUSALS.known, "something_new"])
def test_slack_refusal_code_decides_error_type_and_operator_log(code: str, caplog: pytest.LogCaptureFixture) -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.fail_next("chat.postMessage", code)
        known = REFUSALS.known.get(code)
        with pytest.raises(TemporaryError if known and known.rule == "unclear" else SlackRefusal) as raised:
            await slack_post_message.act(API, call, PostMessage(text="private words"))
        if known and known.rule != "unclear":
            assert known.sentence in str(raised.value)
        assert code in str(raised.value)
        errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
        assert len(errors) == bool(known and known.rule == "operate")
        assert not any("private words" in error or "run1" in error for error in errors)

    play(story)


def test_slack_missing_scope_is_named() -> None:
    async def story(slack: SlackSimulator, call: Call) -> None:
        slack.fail_next("reactions.add", "missing_scope")
        with pytest.raises(ToolError, match=r"The missing permission is reactions:write\."):
            await slack_add_reaction.act(API, call, AddReaction(emoji="eyes", ts=ROOT))

    play(story)


class Busy:
    """A Slack that answers 429 a few times before it answers."""

    def __init__(self, times: int, **headers: str) -> None:
        self.times = times
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.sent = 0

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.sent += 1
        busy = self.sent <= self.times
        return HttpResponse(429, self.headers, b"") if busy else HttpResponse(200, {}, b'{"ok":true,"ts":"1.0"}')


@pytest.mark.parametrize(
    ("busy", "waits", "words"),
    [
        (Busy(1, retry_after="0"), [1], ""),
        (Busy(4, retry_after="2"), [2, 2, 2, 2], ""),
        (Busy(1, retry_after="15"), [15], ""),
        (Busy(99, retry_after="4"), [4, 4, 4], "Wait 4 seconds"),
        (Busy(99, retry_after="0"), [1] * 15, "Wait 1 second before"),
        (Busy(1, retry_after="30"), [], "Wait 30 seconds"),
        (Busy(1), [], "Wait a few minutes"),
        (Busy(1, retry_after="soon"), [], "Wait a few minutes"),
    ],
)
def test_slack_waits_for_the_retry_after_of_a_429_within_the_time_of_a_call(
    busy: Busy, waits: list[float], words: str
) -> None:
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    api = SlackApi("http://slack/api/", Secret("xoxb-simulated"), pause)
    call = any_call(busy, key="k", place={"channel": "C0000001"})
    if words:
        with pytest.raises(ToolError, match=words):
            asyncio.run(slack_post_message.act(api, call, PostMessage(text="x")))
    else:
        assert asyncio.run(slack_post_message.act(api, call, PostMessage(text="x"))).details["ts"] == "1.0"
    assert waited == waits
    assert busy.sent == len(waits) + 1
