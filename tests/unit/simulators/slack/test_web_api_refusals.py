"""Refusals, limits and planned failures of the Web API of the simulated Slack."""

import pytest

from gofer_simulators.json_values import object_of, text_of
from support.vendors.slack_web_api import TOKEN, WORLD, Slack, play, texts


def button(text: str, value: str) -> dict[str, object]:
    return {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": text}, "value": value}


def line(text: str) -> dict[str, object]:
    return {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"blocks": [{"type": "markdown", "text": "x" * 6_001}] * 2}, "msg_too_long"),
        ({"markdown_text": "x", "text": "y"}, "markdown_text_conflict"),
        ({"blocks": [{"type": "poem"}]}, "invalid_blocks"),
        ({"blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        (
            {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}]},
            "invalid_blocks",
        ),
        ({"blocks": [{"type": "actions", "elements": [button("a" * 76, "v")]}]}, "invalid_blocks"),
        ({"blocks": [{"type": "actions", "elements": [button("a", "v" * 2_001)]}]}, "invalid_blocks"),
        ({"blocks": "[{"}, "invalid_blocks_format"),
        ({"text": "x", "metadata": {"event_type": "x"}}, "invalid_metadata_format"),
        ({"text": "x", "thread_ts": "yesterday"}, "invalid_thread_ts"),
        ({"text": "x", "thread_ts": "1.000001"}, "thread_not_found"),
    ],
)
def test_simulated_slack_refuses_an_invalid_message(content: dict[str, object], expected: str) -> None:
    async def story(slack: Slack) -> None:
        before = slack.simulator.state()
        assert await slack.error("chat.postMessage", channel="C1", **content) == expected
        assert slack.simulator.state() == before

    play(story)


def test_simulated_slack_edit_takes_4000_bytes_of_text_also_with_blocks() -> None:
    async def story(slack: Slack) -> None:
        ts = text_of(await slack.call("chat.postMessage", channel="C1", text="日" * 4_000), "ts")
        blocks = [{"type": "markdown", "text": "short"}]
        where: dict[str, object] = {"channel": "C1", "ts": ts}
        assert (await slack.call("chat.update", **where, text="x" * 4_000))["ok"] is True
        assert (await slack.call("chat.update", **where, text="x" * 4_000, blocks=blocks))["ok"] is True
        assert await slack.error("chat.update", **where, text="x" * 4_001) == "msg_too_long"
        assert await slack.error("chat.update", **where, text="日" * 1_334) == "msg_too_long"
        assert await slack.error("chat.update", **where, text="日" * 1_334, blocks=blocks) == "msg_too_long"

    play(story)


@pytest.mark.parametrize(
    ("blocks", "taken"),
    [
        ([{"type": "markdown", "text": "## Heading 12\n\n" * 20 + "x" * 10_400}], True),
        ([{"type": "markdown", "text": "## Heading 12\n\n" * 40 + "x" * 7_650}], True),
        ([{"type": "markdown", "text": "## Heading 12\n\n" * 40 + "x" * 8_200}], False),
        ([{"type": "markdown", "text": "x" * 11_000 + "<" * 900}], False),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_000}}] * 4, True),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_000}}] * 5, False),
        ([{"type": "rich_text", "elements": [line("x" * 300)] * 25}], True),
        ([{"type": "rich_text", "elements": [line("x" * 300)] * 40}], False),
    ],
)
def test_simulated_slack_limits_all_blocks_to_about_13200_characters(
    blocks: list[dict[str, object]], *, taken: bool
) -> None:
    async def story(slack: Slack) -> None:
        answer = await slack.call("chat.postMessage", channel="C1", text="x", blocks=blocks)
        assert answer.get("error") == (None if taken else "msg_blocks_too_long")

    play(story)


def test_simulated_slack_planned_failures_each_hit_a_single_call() -> None:
    async def story(slack: Slack) -> None:
        slack.simulator.fail_next("chat.postMessage", 429, 500, "internal_error", "missing_scope")
        said: dict[str, object] = {"channel": "C1", "text": "x"}
        limited = await slack.http.post("/api/chat.postMessage", json=said, headers=TOKEN)
        assert (limited.status_code, limited.headers["Retry-After"]) == (429, "1")
        assert limited.json() == {"ok": False, "error": "ratelimited"}
        broken = await slack.http.post("/api/chat.postMessage", json=said, headers=TOKEN)
        assert (broken.status_code, broken.text[:6]) == (500, "<html>")
        assert await slack.error("chat.postMessage", **said) == "internal_error"
        assert (await slack.call("chat.postMessage", **said))["needed"] == "chat:write"
        assert texts(await slack.call("conversations.history", channel="C1", limit=1)) == ["third"]
        assert (await slack.call("chat.postMessage", **said))["ok"] is True
        with pytest.raises(ValueError, match=r"no method 'chat\.shout'"):
            slack.simulator.fail_next("chat.shout", 500)

    play(story)


def test_simulated_slack_lost_answer_keeps_the_effect() -> None:
    async def story(slack: Slack) -> None:
        slack.simulator.fail_next("chat.postMessage", "fatal_error", after_effect=True)
        assert await slack.error("chat.postMessage", channel="C1", text="did it") == "fatal_error"
        assert texts(await slack.call("conversations.history", channel="C1", limit=1)) == ["did it"]

    play(story)


def test_simulated_slack_names_the_missing_scope() -> None:
    slack_world = object_of(WORLD, "slack")
    few = slack_world | {"bot": object_of(slack_world, "bot") | {"scopes": ["users:read"]}}

    async def story(slack: Slack) -> None:
        refused = await slack.call("chat.postMessage", channel="C1", text="x")
        assert (refused["error"], refused["needed"]) == ("missing_scope", "chat:write")
        assert (await slack.call("users.info", user="U1"))["ok"] is True

    play(story, {"slack": few})


def test_simulated_slack_limits_markdown_of_a_whole_message() -> None:
    def markdown(*texts: str) -> list[dict[str, str]]:
        return [{"type": "markdown", "text": text} for text in texts]

    rows = "| a |\n|---|\n"
    cases = {
        "12,000 characters": (markdown("x" * 12_000), None),
        "more in one block": (markdown("x" * 12_001), "msg_too_long"),
        "more in all blocks": (markdown("x" * 6_001, "y" * 6_000), "msg_too_long"),
        "two units a sign": (markdown("🚀" * 6_001), "msg_too_long"),
        "51 blocks": (markdown(*"x" * 51), "invalid_blocks"),
        "26 headings with text": (markdown("# a\nb\n" * 26), "invalid_blocks"),
        "many paragraphs": (markdown("a\n\n" * 100), None),
        "100 rows": (markdown(rows + "| b |\n" * 99), None),
        "101 rows": (markdown(rows + "| b |\n" * 100), "invalid_blocks"),
        "21 columns": (markdown("| a " * 21 + "|\n" + "|---" * 21 + "|"), "invalid_blocks"),
        "long cells": (markdown(rows + f"| {'b' * 10_001} |"), "invalid_blocks"),
    }

    async def story(slack: Slack) -> None:
        for name, (blocks, error) in cases.items():
            answer = await slack.call("chat.postMessage", channel="C1", blocks=blocks)
            assert answer.get("error") == error, name
        assert await slack.error("chat.postMessage", channel="C1", text="x" * 40_001) == "msg_too_long"

    play(story)


def test_simulated_slack_refuses_invalid_file_uploads() -> None:
    async def story(slack: Slack) -> None:
        ask = "files.getUploadURLExternal"
        assert await slack.error(ask, filename="x.md") == "missing_argument"
        assert await slack.error(ask, filename="x.md", length=0) == "missing_argument"
        assert await slack.error(ask, length=5) == "invalid_arguments"
        assert await slack.error(ask, filename="x.md", length=2_000_000_000) == "file_upload_size_restricted"
        place = await slack.call(ask, filename="x.md", length=1)
        await slack.http.post(text_of(place, "upload_url"), content=b"x")
        done, files = "files.completeUploadExternal", [{"id": place["file_id"]}]
        assert await slack.error(done, channel_id="C1") == "invalid_arguments"
        assert await slack.error(done, files=files, channel_id="C2") == "not_in_channel"
        assert await slack.error(done, files=files, channel_id="C4") == "invalid_channel"
        assert await slack.error(done, files=files, channel_id="C5") == "is_archived"
        assert await slack.error(done, files=files, channel_id="C1", thread_ts="x") == "invalid_thread_ts"
        assert (await slack.call(done, files=files))["ok"] is True
        assert (await slack.http.post("/upload/v1/F0", content=b"x")).status_code == 400

    play(story)
