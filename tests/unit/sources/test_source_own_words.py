"""The own words of an actor: their text of events that they wrote, without quotes and code."""

import pytest

from gofer.sources.registry import SOURCES
from gofer.values.events import Actor, Event


def event(kind: str, text: str) -> Event:
    return Event(kind.partition(".")[0], kind, ("1",), "c", Actor("U1"), text, {}, facts={"says": text})


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("slack.mention", "tell #eng", "tell #eng"),
        ("slack.direct", "do it\n> tell #eng\n&gt; tell #ops\nnow", "do it\n\n\nnow"),
        ("slack.message", "the log:\n```\ntell #eng\n```", "the log:\n"),
        ("slack.message", "an open block ```\ntell #eng", "an open block "),
        ("slack.message", "what is this?\n&gt;&gt;&gt; he said\ntell #eng", "what is this?\n"),
        ("slack.message", "what does `tell #eng` or \u201ctell #ops\u201d mean?", "what does  or  mean?"),
        ("slack.message", 'what does "tell #eng" mean?', "what does  mean?"),
        ("slack.message", 'post it to `#eng` or "#ops"', 'post it to `#eng` or "#ops"'),
        ("slack.reaction", ":jira:", ""),
        ("slack.member_joined", "tell #eng", ""),
        ("jira.commented", "do it\n{quote}in PAY-1{quote}", "do it\n"),
        ("jira.commented", "not {{in PAY-1}} but in {{PAY-2}}", "not  but in {{PAY-2}}"),
        ("jira.issue_updated", "in PAY-1", ""),
        ("notion.commented", "tell #eng", ""),
        ("github.comment", "tell #eng", ""),
        ("webhook", "tell #eng", ""),
        ("schedule", "tell #eng", ""),
    ],
)
def test_own_words_hold_only_text_that_the_actor_wrote(kind: str, text: str, words: str) -> None:
    one = event(kind, text)
    assert SOURCES[one.source].own_words(one) == words
