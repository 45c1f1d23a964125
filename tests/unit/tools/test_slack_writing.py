import asyncio
import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_room import PROVENANCE
from gofer.errors import ToolError
from gofer.events import Actor
from gofer.secret import Secret
from gofer.tools.slack.api import SlackApi
from gofer.tools.slack.write import MARKDOWN_LIMIT, AddReaction, PostMessage, add_reaction, neutral, post_message
from gofer.tools.tool import Call, ToolResult
from stand_ins import AnsweringHttp, SetClock

API = SlackApi("http://127.0.0.1/api/", Secret("xoxb-secret"))
HERE = {"team": "T1", "channel": "C0000001", "ts": "2.0", "thread_ts": "1.0"}


def answering(**fields: object) -> AnsweringHttp:
    return AnsweringHttp(lambda url, content: {"ok": True, "ts": "3.0", **fields})


def call(http: AnsweringHttp, private: bool = False) -> Call:
    return Call("run1/answer/1", Actor("U1"), HERE, private, PROVENANCE, http, SetClock())


def post(http: AnsweringHttp, private: bool = False, **arguments: str) -> ToolResult:
    return asyncio.run(post_message(API, call(http, private), PostMessage(**arguments)))


def sent(http: AnsweringHttp) -> Mapping[str, object]:
    return json.loads(http.requests[-1][1])


def test_a_message_carries_its_call_and_ends_with_links() -> None:
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
    assert body["metadata"]["event_payload"] == {"key": "run1/answer/1"}
    assert result.details == {"channel": "C0000001", "ts": "3.0"}


def test_a_new_message_has_no_thread() -> None:
    http = answering()
    post(http, text="x")
    assert "thread_ts" not in sent(http)


@given(st.text(min_size=1, max_size=200), st.sampled_from(["<!channel>", "<!here>", "<@U1>", "<#C1>", "<!subteam^S1>"]))
def test_no_words_of_a_model_page_anybody(text: str, entity: str) -> None:
    shown = neutral(text + entity + text)
    assert not any(mark in shown for mark in ("<!", "<@", "<#"))


def test_a_message_longer_than_slack_takes_says_that_it_was_cut() -> None:
    http = answering()
    post(http, text="<@U1>" * 20_000)
    text = sent(http)["blocks"][0]["text"]
    assert len(text) == MARKDOWN_LIMIT
    assert text.endswith("longer than one Slack message.)_")


def test_a_private_run_writes_nowhere_else() -> None:
    http = answering()
    with pytest.raises(ToolError, match="nowhere else"):
        post(http, private=True, text="x", channel="C0000002")
    assert http.requests == []
    post(http, private=True, text="x", channel="C0000001")


def test_a_private_run_reacts_nowhere_else() -> None:
    http = answering()
    arguments = AddReaction(emoji="eyes", ts="2.0", channel="C0000002")
    with pytest.raises(ToolError, match="nowhere else"):
        asyncio.run(add_reaction(API, call(http, private=True), arguments))
    assert http.requests == []


def react(http: AnsweringHttp, emoji: str) -> ToolResult:
    return asyncio.run(add_reaction(API, call(http), AddReaction(emoji=emoji, ts="2.0")))


def test_a_reaction_that_is_there_already_counts_as_added() -> None:
    assert "now has :eyes:" in react(answering(ok=False, error="already_reacted"), "eyes").text
    with pytest.raises(ToolError, match="invalid_name"):
        react(answering(ok=False, error="invalid_name"), "nosuch")


@pytest.mark.parametrize("emoji", ["+1::skin-tone-2", ":+1::skin-tone-2:"])
def test_an_emoji_can_be_written_with_colons(emoji: str) -> None:
    http = answering()
    react(http, emoji)
    assert sent(http) == {"channel": "C0000001", "timestamp": "2.0", "name": "+1::skin-tone-2"}


def test_what_is_no_emoji_is_told_to_the_model() -> None:
    with pytest.raises(ToolError, match="not the name of an emoji"):
        react(answering(), "👀")
