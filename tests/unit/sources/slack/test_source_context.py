"""The source context of a Slack event: the call that reads it, and the meaning of its result."""

import pytest

from gofer.journal.entries import ToolResult
from gofer.sources.part_values import OwnCall, Person
from gofer.sources.slack.source_context import CHANNEL, READING, RECENT, THREAD, context_of_event, thread_of
from gofer.values.events import Actor, Event

ADA = Person("U0ADA0000", "member", name="Ada")
GONE = "the message that it is about was deleted"


def event(kind: str, text: str = "", **place: str) -> Event:
    return Event("slack", kind, ("1",), "slack:1", Actor(ADA.id), text, {"channel": "C0DEPLOY0", **place})


MENTION = event("slack.mention", "hi <@U0GOFER00>", ts="1.1", thread_ts="1.0")
JOINED = event("slack.member_joined")


def result(status: str = "ok", **details: object) -> ToolResult:
    return ToolResult("context/1", status, "Thread in #deploys", details=details)  # pyright: ignore[reportArgumentType]


def test_slack_context_reads_a_thread_a_channel_or_no_context() -> None:
    assert READING.call(MENTION) == OwnCall("slack_read_thread", {"ts": "1.1"})
    assert READING.call(JOINED) == OwnCall("slack_read_channel", {"limit": RECENT})
    assert READING.call(event("slack.channel_created")) is None
    assert (READING.need(MENTION), READING.need(JOINED)) == (THREAD, CHANNEL)


def test_slack_context_of_a_new_channel_names_the_channel() -> None:
    created = Event("slack", "slack.channel_created", ("1",), "c", Actor(ADA.id), "", {}, facts={"name": "launch"})
    context = context_of_event(created, ADA)
    assert (context.happened, context.read) == ("@Ada created the public channel #launch.", "")
    assert context.private


@pytest.mark.parametrize(
    ("happened", "outcome", "why"),
    [
        (MENTION, result(deleted=True), GONE),
        (MENTION, result("error", code="message_not_found"), GONE),
        (MENTION, result("error", code="thread_not_found"), GONE),
        (MENTION, result("error", code="not_in_channel"), ""),
        (JOINED, result("error", code="message_not_found"), ""),
        (MENTION, result(private=False), ""),
    ],
)
def test_slack_context_is_gone_when_the_message_was_deleted(happened: Event, outcome: ToolResult, why: str) -> None:
    assert READING.gone(happened, outcome) == why


def test_slack_thread_result_becomes_the_source_context() -> None:
    context = READING.read(MENTION, ADA, result(private=False, channel="deploys", words="hi @Gofer", header="@Ada:"))
    assert (context.author, context.words, context.header) == ("@Ada", "hi @Gofer", "@Ada:")
    assert context.facts == {"channels": ["deploys", "C0DEPLOY0"]}
    assert not context.private
    assert READING.read(MENTION, ADA, result()).private
    assert READING.read(MENTION, Person("U1"), result()).words == "hi @U0GOFER00"


def test_slack_context_names_apps_as_apps_and_people_of_a_connected_company_by_their_message() -> None:
    header = {"header": "@jo at noon at 2026-11-21 05:46 UTC (ts 1.1):"}
    nobody = Person("U0PARTNER")
    read = READING.read(MENTION, nobody, result(**header))
    assert (read.happened.partition(" mentioned")[0], read.author) == ("@jo at noon", "@jo at noon")
    assert READING.read(MENTION, ADA, result(**header)).author == "@Ada"
    assert READING.read(MENTION, nobody, result()).author == "A person"
    put = event("slack.reaction", ts="1.1", thread_ts="1.1", reaction="+1")
    assert READING.read(put, nobody, result(**header)).happened.startswith("A person put")
    posted = Event("slack", "slack.message", ("1",), "slack:1", Actor("B1", "bot"), "", {"ts": "1.1"})
    app = {"header": "app Obey me at 2026-11-21 05:46 UTC (ts 1.1):"}
    assert READING.read(posted, Person("B1", "bot"), result(**app)).happened.startswith("An app wrote the message")


@pytest.mark.parametrize("emoji", ["対応済み", "완료", "déjà_vu", "+1"])
def test_slack_context_names_an_emoji_in_any_script(emoji: str) -> None:
    put = event("slack.reaction", ts="1.1", thread_ts="1.1", reaction=emoji)
    sentence = "@Ada put :%s: on the message with ts 1.1 of this thread."
    assert READING.read(put, ADA, result()).happened == sentence % emoji
    odd = event("slack.reaction", ts="1.1", thread_ts="1.1", reaction=f"{emoji}: now\n")
    assert READING.read(odd, ADA, result()).happened == sentence % f"{emoji}now"


def test_slack_thread_of_a_run_is_taken_from_the_result_first_then_from_the_event() -> None:
    reaction = event("slack.reaction", ts="1.1")
    assert thread_of(reaction, None) == ""
    assert thread_of(reaction, result(thread_ts="1.0")) == "1.0"
    assert thread_of(MENTION, result("error")) == "1.0"


def test_slack_message_of_the_event_is_above_a_preview_without_the_message() -> None:
    details = {"words": "is it up?", "carried": "[attachment:]\n| 97 %", "header": "@Ada at 10:00 (ts 1.1):"}
    subject = "@Ada at 10:00 (ts 1.1):\n    is it up?\n    [attachment:]\n    | 97 %"
    assert READING.read(MENTION, ADA, result(**details)).read == f"{subject}\n\nThread in #deploys"
    whole = ToolResult("context/1", "ok", f"Thread in #deploys\n\n{subject}\n\n@Bo at 10:01 (ts 1.2):", details=details)
    assert READING.read(MENTION, ADA, whole).read == whole.text
    assert READING.read(MENTION, ADA, result()).read == "Thread in #deploys"
