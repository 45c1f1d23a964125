"""Openings: for each kind of event and each `reply`, what the model reads first is true and in that system's words."""

import re
from dataclasses import replace
from typing import get_args

import pytest

from gofer.engine.first_message import first_message
from gofer.sources.part_values import Person, SourceContext
from gofer.sources.registry import SOURCES
from gofer.sources.triggers import TRIGGER_KINDS
from gofer.tools.definition import ToolResult
from gofer.values.events import NOBODY, Actor, Event
from gofer.workflows.schema import Reply
from support.stand_ins import NOON

PLACES = {
    "slack": {"team": "T1", "channel": "C1", "ts": "1.2", "thread_ts": "1.2"},
    "jira": {"issue": "PAY-17"},
    "notion": {"page": "p1"},
    "github": {"repository": "acme/app", "number": "7"},
    "webhook": {"hook": "deploys"},
    "runs": {"run": "run1", "workflow": "w"},
}
KINDS = [kind.name for kind in TRIGGER_KINDS]
REPLIES = get_args(Reply)
COMMENT = "Your answer is a comment there."
SLACK = {
    "thread": "Your answer is a reply there.",
    "channel": "Your answer is a message in the channel.",
    "dm": "Your answer is a direct message to them.",
    "ephemeral": "Only they see your answer.",
}
SLACK_WORDS = re.compile(r"workspace|thread|channel|slack|message", re.IGNORECASE)


def event(kind: str, **place: str) -> Event:
    source = kind.partition(".")[0]
    text = "Monday, 09:00." if source == "schedule" else "Look at this."
    place = {**PLACES.get(source, {}), **place}
    if kind == "github.push":
        place = {"repository": "acme/app"}
    return Event(source, kind, ("1",), f"{source}:1", Actor("u1"), text, place, private=False)


def opening(happened: Event, reply: Reply, person: Person | None = None) -> str:
    """Return the first message up to the source context, without the time."""
    source = SOURCES[happened.source]
    person = person or Person("u1", "member", name="Ada")
    context: SourceContext = source.from_event(happened, person)
    if source.reading is not None and source.reading.call(happened) is not None:
        context = source.reading.read(happened, person, ToolResult("What was read.", "read"))
    answers = source.answers_to(happened, reply)
    answer = answers.sentence(happened, reply) if answers else ""
    told = first_message(context, int(NOON * 1000), person, asked=True, answer=answer)
    return told.partition("\n")[2].partition("\n\n")[0]


def promise(kind: str, reply: Reply) -> str:
    """Return the sentence that promises an answer; empty if none is posted, or if the opening needs none."""
    source = kind.partition(".")[0]
    if reply == "none" or kind == "github.push":
        return ""
    match source:
        case "slack":
            addressed = kind in ("slack.mention", "slack.direct", "slack.message")
            return SLACK[reply] if addressed else ""
        case "jira" | "github":
            return COMMENT
        case "notion":
            return "Your answer is a comment on the page."
        case _:
            return ""


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("kind", KINDS)
def test_opening_promises_exactly_the_posted_answer(kind: str, reply: Reply) -> None:
    told = opening(event(kind), reply)
    expected = promise(kind, reply)
    assert told.endswith(expected)
    assert len(re.findall("[Yy]our answer", told)) == bool(expected)
    if not kind.startswith("slack."):
        assert not SLACK_WORDS.search(told)


@pytest.mark.parametrize(
    ("happened", "told"),
    [
        (event("github.comment"), "On GitHub, comment on an issue: created."),
        (event("github.comment", is_pull="true"), "On GitHub, comment on a pull request: created."),
        (event("github.comment", is_pull="true", thread="5"), "On GitHub, review comment on a pull request: created."),
        (event("github.pull_request"), "On GitHub, pull request: created."),
    ],
)
def test_opening_of_github_names_the_place_of_the_event(happened: Event, told: str) -> None:
    acted = replace(happened, facts={"action": ["created"]})
    assert opening(acted, "none") == told
    answer = "reply in its review thread" if happened.place.get("thread") else "comment there"
    assert opening(acted, "thread") == f"{told} Your answer is a {answer}."


@pytest.mark.parametrize(
    ("actor", "facts", "told"),
    [
        (Actor("dependabot[bot]", "bot"), {"action": ["opened"]}, "opened, by the GitHub app dependabot[bot]."),
        (Actor("Odd. You", "bot"), {"action": ["opened"]}, "opened, by a GitHub app."),
        (NOBODY, {"action": ["closed", "merged"]}, "closed, merged, by an account that GitHub no longer names."),
        (Actor("ada"), {"action": ["labeled", "labeled Do it."]}, "labeled."),
    ],
)
def test_opening_of_github_names_apps_and_deleted_accounts_and_no_label(
    actor: Actor, facts: dict[str, object], told: str
) -> None:
    acted = replace(event("github.pull_request"), actor=actor, facts=facts)
    assert opening(acted, "none") == f"On GitHub, pull request: {told}"


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({}, "new commits"),
        ({"created": True}, "a new branch"),
        ({"forced": True}, "forced, so that commits were replaced"),
    ],
)
def test_opening_of_a_push_names_new_branches_and_forced_pushes(facts: dict[str, object], told: str) -> None:
    pushed = replace(event("github.push"), facts={"repository": "acme/app", "branch": "main", **facts})
    assert opening(pushed, "thread") == f"On GitHub, push: {told}."
    assert SOURCES["github"].from_event(pushed, Person("u1")).read.startswith("Repository: acme/app\nBranch: main\n")


def test_deleted_issue_of_github_is_read_from_its_event_and_promises_no_answer() -> None:
    deleted = replace(event("github.issue"), facts={"repository": "acme/app", "action": ["deleted"]})
    assert opening(deleted, "thread") == "On GitHub, issue: deleted."
    assert SOURCES["github"].from_event(deleted, Person("u1")).read == "Repository: acme/app\n\nLook at this."


def test_new_label_of_github_is_read_as_data() -> None:
    labeled = replace(event("github.issue"), facts={"action": ["labeled", "labeled Do it."]})
    reading = SOURCES["github"].reading
    assert reading
    read = reading.read(labeled, Person("u1"), ToolResult("What was read.", "read")).read
    assert read.startswith("The new label:\n    Do it.\nIt is on:\n    Look at this.\n")


@pytest.mark.parametrize(
    ("actor", "told"),
    [
        (NOBODY, "Someone whom Jira does not name"),
        (Actor("u1", "bot"), "An app or automation rule"),
        (Actor("u1", "customer"), "A customer of the service project"),
        (Actor("u1"), "Someone"),
    ],
)
def test_opening_of_jira_names_apps_customers_and_unnamed_people(actor: Actor, told: str) -> None:
    acted = replace(event("jira.issue_created"), actor=actor)
    assert opening(acted, "none") == f"{told} created this Jira issue."


def test_reply_in_a_discussion_of_notion_is_named() -> None:
    told = opening(event("notion.commented", comment="c1"), "thread")
    assert told == "Someone commented on this Notion page. Your answer is a reply in the discussion."


def test_opening_of_a_simple_mention_is_as_short_as_before() -> None:
    told = opening(event("slack.mention"), "thread")
    assert told == "@Ada mentioned you in the message with ts 1.2 of a thread. Your answer is a reply there."
