"""Answers in one comment: where there is a place for one, and what is left of a long one."""

import pytest

from gofer.sources.part_values import OwnCall
from gofer.sources.registry import SOURCES
from gofer.sources.source import Answers
from gofer.sources.subject import COMMENT_LIMIT, one_comment
from gofer.values.events import Actor, Event


def answers_of(name: str) -> Answers:
    answers = SOURCES[name].answers
    assert answers is not None
    return answers


def event(source: str, **place: str) -> Event:
    return Event(source, f"{source}.commented", ("1",), f"{source}:1", Actor("1"), "", place)


@pytest.mark.parametrize(
    ("happened", "tool", "where"),
    [
        (event("jira", issue="PAY-17"), "jira_add_comment", {"issue": "PAY-17"}),
        (event("notion", page="p1"), "notion_add_comment", {"page": "p1"}),
        (event("notion", page="p1", discussion="d1"), "notion_add_comment", {"discussion": "d1"}),
        (
            event("github", repository="acme/shop", number="7"),
            "github_add_comment",
            {"repository": "acme/shop", "number": 7},
        ),
    ],
)
def test_an_answer_is_a_comment_where_the_event_happened(happened: Event, tool: str, where: dict[str, object]) -> None:
    answers = answers_of(happened.source)
    assert answers.has_place(happened)
    assert answers.write(happened, "", "Done.") == OwnCall(tool, {"text": "Done.", **where})
    assert tool in answers.tools


def test_a_push_has_no_place_for_an_answer() -> None:
    assert not answers_of("github").has_place(event("github", repository="acme/shop"))


@pytest.mark.parametrize("name", ["jira", "notion", "github"])
def test_a_comment_is_never_announced_and_is_for_all_who_see_its_place(name: str) -> None:
    answers = answers_of(name)
    assert (answers.messages, answers.private) == (None, None)


def test_a_long_answer_is_cut_and_says_so() -> None:
    assert one_comment("x" * COMMENT_LIMIT).messages == ("x" * COMMENT_LIMIT,)
    (comment,) = one_comment("word " * 10_000).messages
    assert len(comment) < COMMENT_LIMIT
    assert comment.startswith("word word")
    assert comment.endswith("word\n\n_This is the beginning; the rest is too long for a comment._")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("one two\n\n" * 3_000, "one two"),
        ("Found:\n\n" + "- a thing that is long\n" * 2_000, "- a thing that is long"),
        ("```\n" + "print(1)\n" * 5_000 + "```", "\n```"),
        ("x" * 30_000, "xxx"),
    ],
    ids=["paragraphs", "list", "code", "one word"],
)
def test_a_long_answer_is_cut_where_it_reads_well(text: str, end: str) -> None:
    (comment,) = one_comment(text).messages
    assert len(comment) <= COMMENT_LIMIT
    assert len(comment) > COMMENT_LIMIT - 200
    assert comment.removesuffix("\n\n_This is the beginning; the rest is too long for a comment._").endswith(end)


def test_a_long_answer_of_definitions_alone_is_cut_between_words() -> None:
    text = "\n".join(f"[{n}]: https://example.com/{n}" for n in range(1_000))
    (comment,) = one_comment(text).messages
    assert len(comment) <= COMMENT_LIMIT
    assert comment.startswith("[0]: https://example.com/0\n")
    assert comment.endswith("too long for a comment._")
