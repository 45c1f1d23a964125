"""Texts of a model in Slack: no mentions, and the same visible words."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.slack.api import SlackApi
from gofer.sources.slack.parts import JOINER, neutral
from gofer.sources.slack.write import PostMessage, UpdateMessage, slack_post_message, slack_update_message
from gofer.values.secret import Secret
from gofer_simulators.slack.content import mentions
from support.stand_ins import AnsweringHttp
from support.tools.calls import any_call

ENTITIES = ("<!channel>", "<!here|here>", "<!everyone>", "<!subteam^S0LEADS0>", "<@U0CAPTN0>", "<@W0CAPTN0|ada>")
PLAIN = ("@channel", "@here", "@everyone", "@Channel", "@HERE")
paging = st.sampled_from([*ENTITIES, *PLAIN])


def disguised(text: str) -> st.SearchStrategy[str]:
    """Return a strategy for the same mention behind escapes of Markdown and HTML."""
    return st.tuples(*(st.sampled_from(_ways(char)) for char in text)).map("".join)


def _ways(char: str) -> list[str]:
    ways = [char, f"&#{ord(char)};", f"&#x{ord(char):X};"]
    named = {"<": ["&lt;", "&LT;"], ">": ["&gt;"], "@": ["&commat;"], "!": ["&excl;"]}.get(char, [])
    return [*ways, *named, *([] if char.isalnum() else [f"\\{char}"])]


INLINE = ("{}", "a {} b", "`{}`", "**{}**", "<{}", "\\{}", "({})", "_{}_", "@{}", "<<{}")
LINKS = ("[{}](https://example.com)", "[x]({})", "[x](https://e.com/{})", "![{}](https://e.com)")
BLOCKS = ("> {}", "- {}", "# {}", "```\n{}\n```", "| {} |\n|---|")
around = st.sampled_from([*INLINE, *LINKS, *BLOCKS])
texts = st.lists(
    st.one_of(st.builds(str.format, around, paging.flatmap(disguised)), st.text(max_size=20)), min_size=1, max_size=6
).map(" ".join)


def sent(text: str, *, change: bool = False) -> dict[str, object]:
    http = AnsweringHttp(lambda url, content: {"ok": True, "ts": "3.0"})
    api = SlackApi("http://127.0.0.1/api/", Secret("x"))
    place = {"channel": "C0000001", "thread_ts": "1.0"}
    call = any_call(http, key="run1/answer/1", place=place)
    if change:
        asyncio.run(slack_update_message.act(api, call, UpdateMessage(text=text, ts="1.0")))
    else:
        asyncio.run(slack_post_message.act(api, call, PostMessage(text=text)))
    return json.loads(http.requests[0][1])


@given(texts.filter(str.strip), st.booleans())
def test_slack_text_of_a_model_never_mentions_a_person_or_group(text: str, change: bool) -> None:
    body = sent(f"x {text}", change=change)
    assert mentions(body["text"], body["blocks"], plain=True) == frozenset()
    assert (body["parse"], body["link_names"]) == ("none", False)


@given(texts)
def test_slack_neutral_text_looks_the_same_and_is_idempotent(text: str) -> None:
    assert neutral(text).replace(JOINER, "") == text.replace(JOINER, "")
    assert neutral(neutral(text)) == neutral(text)


@pytest.mark.parametrize(
    "text", ["write to ops@here.com", "a < b", "<https://example.com>", "x@y", "<b>!</b>", "&lt;div&gt;"]
)
def test_slack_text_without_a_mention_is_left_unchanged(text: str) -> None:
    assert neutral(text) == text


@pytest.mark.parametrize("entity", [*ENTITIES, *PLAIN])
def test_slack_text_left_as_written_would_mention(entity: str) -> None:
    assert mentions("", [{"type": "markdown", "text": entity}], plain=True)
