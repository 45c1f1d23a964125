"""Messages and reactions that Gofer writes to Slack, against prepared answers."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.refusals import REFUSALS
from gofer.sources.slack.write import AddReaction, PostMessage, slack_add_reaction, slack_post_message
from gofer.tools.definition import Call, ToolResult
from gofer.values.errors import ToolError
from gofer.values.secret import Secret
from support.engine.memory_run import PROVENANCE
from support.stand_ins import AnsweringHttp
from support.tools.calls import any_call

API = SlackApi("http://127.0.0.1/api/", Secret("xoxb-secret"))
HERE = {"team": "T1", "channel": "C0000001", "ts": "2.0", "thread_ts": "1.0"}


def answering(**fields: object) -> AnsweringHttp:
    return AnsweringHttp(lambda url, content: {"ok": True, "ts": "3.0", **fields})


def call(http: AnsweringHttp) -> Call:
    return any_call(http, key="run1/answer/1", place=HERE)


def post(http: AnsweringHttp, **arguments: str) -> ToolResult:
    return asyncio.run(slack_post_message.act(API, call(http), PostMessage(**arguments)))


def sent(http: AnsweringHttp) -> Mapping[str, object]:
    return json.loads(http.requests[-1][1])


def test_slack_message_carries_the_call_key_and_ends_with_links() -> None:
    http = answering()
    result = post(http, text="**Hello**", thread_ts="1.0")
    body = sent(http)
    assert (body["channel"], body["thread_ts"], body["unfurl_links"], body["unfurl_media"]) == (
        "C0000001",
        "1.0",
        False,
        False,
    )
    assert body["blocks"][0] == {"type": "markdown", "text": "**Hello**"}
    assert body["blocks"][1]["elements"][0]["text"] == (
        "<http://localhost/prompts/answer-here|answer-here prompt> · <http://localhost/runs/run1|run run1>"
    )
    assert body["metadata"]["event_payload"] == {"key": "run1/answer/1", "hops": 0}
    assert result.details == {"channel": "C0000001", "ts": "3.0"}


def test_slack_new_message_has_no_thread() -> None:
    http = answering()
    post(http, text="x")
    assert "thread_ts" not in sent(http)


@pytest.mark.parametrize("text", ["x" * 12_001, "# a\n\n" * 60, " \n "])
def test_slack_text_too_large_or_empty_is_refused_unsent(text: str) -> None:
    http = answering()
    with pytest.raises(ToolError, match="post it in several"):
        post(http, text=text)
    assert http.requests == []


def test_slack_message_without_provenance_has_no_links() -> None:
    http = answering()
    part = replace(call(http), provenance=replace(PROVENANCE, prompt_url="", run_url=None))
    asyncio.run(slack_post_message.act(API, part, PostMessage(text="first part")))
    assert sent(http)["blocks"] == [{"type": "markdown", "text": "first part"}]


def test_slack_message_shows_writes_of_its_run_below_its_text() -> None:
    http = answering()
    part = replace(call(http), provenance=replace(PROVENANCE, prompt_url="", run_url=None, wrote="created <PAY-1>"))
    asyncio.run(slack_post_message.act(API, part, PostMessage(text="Done.")))
    (_, below) = sent(http)["blocks"]
    assert below["elements"] == [{"type": "mrkdwn", "text": "created &lt;PAY-1&gt;"}]


def react(http: AnsweringHttp, emoji: str) -> ToolResult:
    return asyncio.run(slack_add_reaction.act(API, call(http), AddReaction(emoji=emoji, ts="2.0")))


def test_slack_reaction_that_exists_counts_as_added() -> None:
    assert "now has :eyes:" in react(answering(ok=False, error="already_reacted"), "eyes").text
    with pytest.raises(ToolError, match="invalid_name"):
        react(answering(ok=False, error="invalid_name"), "nosuch")


@pytest.mark.parametrize("emoji", ["+1::skin-tone-2", ":+1::skin-tone-2:"])
def test_slack_emoji_can_be_written_with_colons(emoji: str) -> None:
    http = answering()
    react(http, emoji)
    assert sent(http) == {"channel": "C0000001", "timestamp": "2.0", "name": "+1::skin-tone-2"}


@pytest.mark.parametrize(
    "emoji", ["対応済み", "완료", "déjà_vu", "हिंदी", "チーム・開発", "+1", "1234", "e-mail", "o'clock"]
)
def test_slack_emoji_has_a_name_in_any_script(emoji: str) -> None:
    http = answering()
    assert f"now has :{emoji}:" in react(http, f":{emoji}:").text
    assert sent(http)["name"] == emoji


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("thumbsup", "+1"),
        (":thumbsdown::skin-tone-6:", "-1::skin-tone-6"),
        ("Punch", "facepunch"),
        ("white_tick", "white_check_mark"),
        ("de\u0301ja\u0300", "déjà"),
    ],
)
def test_slack_emoji_is_added_by_the_name_that_slack_uses(written: str, name: str) -> None:
    http = answering()
    assert f":{name}:" in react(http, written).text
    assert sent(http)["name"] == name


@pytest.mark.parametrize("emoji", ["👀", "not an emoji", "a:b", "eyes!", "eyes::skin-tone-9", "", ":", "a\u200bb"])
def test_slack_reaction_with_an_invalid_emoji_name_is_refused(emoji: str) -> None:
    with pytest.raises(ToolError, match="not the name of an emoji"):
        react(answering(), emoji)


def test_slack_error_codes_of_unclear_edits_have_the_rule_unclear() -> None:
    for unclear in ("fatal_error", "internal_error", "request_timeout", "service_unavailable", "update_failed"):
        assert REFUSALS.of(unclear).rule == "unclear"
