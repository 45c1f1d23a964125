"""Discussions on Notion pages: the answer stands where the question stands, and the question is always read."""

from dataclasses import replace

import pytest

import gofer_simulators.notion.rich_text as rich_text
from gofer.sources.notion.comments import AddComment, notion_add_comment
from gofer.sources.notion.get_page import GetPage, notion_get_page
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call
from gofer.values.errors import TemporaryError
from gofer_simulators.faults import Fault
from gofer_simulators.notion.simulator import NotionSimulator
from gofer_simulators.notion.workspace import Comment
from support.tools.calls import started
from support.vendors.notion import ADA, API, CACHE, HANDBOOK, INTRO, LIMITS, RISK, SAM, WORLD, play


def asked(call: Call, comment: Comment) -> Call:
    """Return the call of a run that a comment started."""
    place = {**call.place, "comment": comment.id}
    if comment.block:
        place["block"] = comment.block
    return started(call, place=place)


def answers(notion: NotionSimulator) -> list[Comment]:
    bot = notion.workspace.bot.id
    return [one for one in notion.workspace.comments.values() if one.created[1] == bot]


@pytest.mark.parametrize("block", ["", INTRO])
def test_answer_is_a_reply_in_the_discussion_of_the_comment_and_is_found_again(block: str) -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        question = notion.people.comment(CACHE, "Is this right?", by=ADA, block=block)
        notion.people.comment(CACHE, "Another matter", by=SAM, block=block)
        here = asked(call, question)
        made = await notion_add_comment.act(API, here, AddComment(text="Yes."))
        (answer,) = answers(notion)
        assert (answer.discussion, answer.block) == (question.discussion, block)
        assert made.details["discussion"] == question.discussion
        (tool,) = bind_all([notion_add_comment], API)
        assert tool.in_doubt.look
        found = await tool.in_doubt.look(here, AddComment(text="Yes."))
        assert found
        assert found.details["comment"] == answer.id

    play(story)


def test_answer_finds_the_discussion_in_the_list_when_the_comment_itself_is_refused() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        question = notion.people.comment(CACHE, "Is this right?", by=ADA, block=INTRO)
        notion.faults.add("GET", f"/v1/comments/{question.id}", Fault("status", 404))
        await notion_add_comment.act(API, asked(call, question), AddComment(text="Yes."))
        assert [one.discussion for one in answers(notion)] == [question.discussion]

    play(story)


def test_answer_to_a_discussion_that_takes_no_reply_stands_on_its_block() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        question = notion.people.comment(CACHE, "Is this right?", by=ADA, block=INTRO)
        notion.faults.add("POST", "/v1/comments", Fault("status", 400))
        await notion_add_comment.act(API, asked(call, question), AddComment(text="Yes."))
        (answer,) = answers(notion)
        assert answer.block == INTRO
        assert answer.discussion != question.discussion

    play(story)


def test_call_that_names_a_place_comments_there() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        here = asked(call, notion.people.comment(CACHE, "Is this right?", by=ADA, block=INTRO))
        await notion_add_comment.act(API, here, AddComment(text="a", block=RISK))
        await notion_add_comment.act(API, here, AddComment(text="b", page=CACHE))
        await notion_add_comment.act(API, here, AddComment(text="c", page=HANDBOOK))
        assert [(one.page, one.block) for one in answers(notion)] == [(CACHE, RISK), (CACHE, ""), (HANDBOOK, "")]

    play(story)


def test_reply_to_a_discussion_on_the_page_needs_no_place_in_a_run_that_a_block_started() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        here = asked(call, notion.people.comment(CACHE, "Is this right?", by=ADA, block=INTRO))
        other = next(one for one in notion.workspace.comments.values() if not one.block)
        await notion_add_comment.act(API, here, AddComment(text="Yes.", discussion=other.discussion))
        assert [one.discussion for one in answers(notion)] == [other.discussion]

    play(story)


def test_question_in_a_discussion_of_thousands_of_comments_is_read_within_limits() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        first = notion.people.comment(CACHE, "comment 0", by=ADA, block=INTRO)
        for number in range(1, 2_500):
            texts = rich_text.from_markdown(f"comment {number} {'x' * 200}")
            page = notion.people.page(CACHE)
            notion.workspace.comment(page, INTRO, texts, notion.people.user(SAM), first.discussion)
        question = notion.people.comment(CACHE, "THE QUESTION", by=ADA, block=INTRO, discussion=first.discussion)
        read = await notion_get_page.act(API, asked(call, question), GetPage())
        lines = read.text.splitlines()
        header = next(line for line in lines if f"(comment {question.id}, which started this run):" in line)
        assert lines[lines.index(header) + 1] == "      THE QUESTION"
        assert "older comments are left out here.)" in read.text
        assert "(There are more comments than Gofer reads; these are the oldest of them.)" in read.text
        assert len(read.text) < 40_000
        assert len(notion.requests) < 30
        assert read.details["subject"]["words"] == "THE QUESTION"
        assert read.details["subject"]["author"] == "Ada Byron"

    play(story)


def test_question_on_a_block_beyond_the_limits_of_a_page_is_read_with_its_block() -> None:
    blocks = [*({"markdown": f"{n} {'x' * 300}"} for n in range(250)), {"id": RISK, "markdown": "The price is 10"}]
    page = {"id": LIMITS, "title": "Long", "blocks": blocks}

    async def story(notion: NotionSimulator, call: Call) -> None:
        question = notion.people.comment(LIMITS, "Is this price right?", by=ADA, block=RISK)
        read = (await notion_get_page.act(API, asked(call, question), GetPage(page=LIMITS))).text
        assert "The price is 10" not in read
        here = started(asked(call, question), place={"page": LIMITS, "comment": question.id, "block": RISK})
        lines = (await notion_get_page.act(API, here, GetPage())).text.splitlines()
        assert f"    [{RISK}] The price is 10" in lines
        assert "      Is this price right?" in lines

    play(story, WORLD | {"databases": [], "pages": [page]})


def test_author_without_a_name_stands_with_the_id() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.workspace.users[SAM] = replace(notion.workspace.users[SAM], name="")
        read = (await notion_get_page.act(API, call, GetPage())).text
        assert f"  Person {SAM} at " in read

    play(story)


@pytest.mark.parametrize("status", [403, 404])
def test_answer_stands_on_the_page_when_comments_cannot_be_read(status: int) -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        question = notion.people.comment(CACHE, "Is this right?", by=ADA, block=INTRO)
        notion.faults.add("GET", "/v1/comments*", Fault("status", status), times=2)
        await notion_add_comment.act(API, asked(call, question), AddComment(text="Yes."))
        assert [one.block for one in answers(notion)] == [INTRO]

    play(story)


def test_outage_while_the_discussion_is_looked_up_writes_no_answer() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        question = notion.people.comment(CACHE, "Is this right?", by=ADA, block=INTRO)
        notion.faults.add("GET", "/v1/comments*", Fault("status", 503))
        with pytest.raises(TemporaryError):
            await notion_add_comment.act(API, asked(call, question), AddComment(text="Yes."))
        assert answers(notion) == []

    play(story)
