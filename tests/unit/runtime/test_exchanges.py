"""The exchange of a run: the author of the question apart from the person who started it, and posted answers only."""

from dataclasses import replace

import pytest

from gofer.journal.entries import Entry, Recorded, RunAccepted, RunConcluded, ToolResult
from gofer.journal.purposes import ANSWER, ANSWER_ANEW, CONTEXT, DONE_BEFORE, PRIVATE_ANSWER
from gofer.projections.progress import project
from gofer.runtime.exchanges import Exchange, exchange_of
from gofer.values.events import Event
from support.stand_ins import mention

READ = ToolResult(
    CONTEXT,
    "ok",
    "the thread",
    details={"channel": "pay", "words": "The job died at night", "header": "@Ada at 2026-11-23 14:00 UTC (ts 1.2):"},
)
CONCLUDED = RunConcluded("done", "", "Filed.")


def exchange(*entries: Entry, event: Event | None = None) -> Exchange:
    accepted = RunAccepted(event or mention("hello"), "w")
    return exchange_of(project([Recorded(1, n, 1, "me", entry) for n, entry in enumerate((accepted, *entries))]))


def test_author_of_the_read_message_is_named_apart_from_the_reacting_person() -> None:
    reaction = replace(mention(":ticket:"), kind="slack.reaction")
    found = exchange(READ, event=reaction)
    assert (found.author, found.question) == ("Ada", "The job died at night")


def test_words_of_the_event_have_no_other_author() -> None:
    assert exchange() == Exchange("", "hello")
    assert exchange(replace(READ, status="error")) == Exchange("", "hello")


def test_author_of_a_jira_comment_is_the_one_in_its_header() -> None:
    subject = {"words": "Please look", "header": "- Ada at Work at 2026-11-23 14:00 UTC (comment 10):"}
    event = replace(mention("summary: old, then new"), source="jira", kind="jira.issue_updated")
    found = exchange(replace(READ, details={"subject": subject}), event=event)
    assert (found.author, found.question) == ("Ada at Work", "Please look")


@pytest.mark.parametrize("call", [ANSWER, ANSWER_ANEW, PRIVATE_ANSWER.format(1)])
def test_conclusion_is_an_answer_only_after_a_delivery_arrived(call: str) -> None:
    posted = exchange(CONCLUDED, ToolResult(call, "ok", ""))
    assert (posted.answer, posted.conclusion) == ("Filed.", "")
    refused = exchange(CONCLUDED, ToolResult(call, "error", ""))
    assert (refused.answer, refused.conclusion) == ("", "Filed.")


def test_notice_of_a_repetition_is_no_answer() -> None:
    found = exchange(CONCLUDED, ToolResult(DONE_BEFORE, "ok", ""))
    assert (found.answer, found.conclusion, found.is_repetition) == ("", "Filed.", True)
