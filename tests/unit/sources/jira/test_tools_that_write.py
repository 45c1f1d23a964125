"""Issues, comments, moves and links against the simulated Jira: each happens once, also when the answer is lost."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gofer.engine.effects import Done, Patience, Permit, carry_out
from gofer.sources.jira.api import PROPERTY, JiraApi
from gofer.sources.jira.create_issue import CHUNK, CreateIssue, jira_create_issue
from gofer.sources.jira.tools import TOOLS
from gofer.sources.jira.write import (
    AddComment,
    LinkUrl,
    TransitionIssue,
    jira_add_comment,
    jira_link_url,
    jira_transition_issue,
)
from gofer.tools.declare import bind_all
from gofer.values.errors import TemporaryError, ToolError
from gofer_simulators.faults import Fault
from gofer_simulators.jira.people import NewIssue
from support.tools.declared_tools import look_for
from support.vendors.jira import ADA, API, BEN, EMAIL, OWN, Room, call_of, play

WANTED = CreateIssue(project="ops", type="Bug", summary="It is\n broken", description="**Why?**\n\n- a\n- b")


async def lost(asked: Any) -> None:
    """A request that does its work and is never answered."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await asked


def test_an_issue_is_created_with_links_and_found_by_the_call_that_did_it() -> None:
    async def story(room: Room) -> None:
        call = call_of(room)
        assert await look_for(jira_create_issue, API, call, WANTED) is None
        done = await jira_create_issue.act(API, call, WANTED)
        assert done.details == {"key": "OPS-10", "id": room.issue("OPS-10").id, "url": "http://jira/browse/OPS-10"}
        assert done.text == "Created OPS-10. http://jira/browse/OPS-10"
        assert room.jira.state()["OPS-10"] == {
            "summary": "It is broken",
            "type": "Bug",
            "status": "To Do",
            "reporter": OWN,
            "description": "Why?\na\nb\nanswer-here prompt · run run1",
        }
        # Search does not know it yet; the look does not need it to.
        assert "OPS-10" not in await room.found("project = OPS")
        assert await look_for(jira_create_issue, API, call, WANTED) == done
        assert await look_for(jira_create_issue, API, call_of(room, "run1/call/2"), WANTED) is None

    play(story)


def test_an_issue_whose_answer_was_lost_is_found_behind_a_search_that_lags() -> None:
    async def story(room: Room) -> None:
        call = call_of(room)
        room.jira.faults.add("POST", "*/issue", Fault("timeout_after_success"))
        await lost(jira_create_issue.act(API, call, WANTED))
        # Others are faster than the index, too.
        for number in range(CHUNK + 5):
            room.jira.people.create(ADA, NewIssue("OPS", "Task", f"issue {number}"))
        found = await look_for(jira_create_issue, API, call, WANTED)
        assert found is not None
        assert found.details["key"] == "OPS-10"

    play(story)


@pytest.mark.parametrize("name", ["jira_create_issue", "jira_add_comment"])
def test_what_was_answered_too_late_happened_once_when_the_call_is_carried_out(name: str) -> None:
    async def story(room: Room) -> None:
        (tool,) = (
            replace(tool, timeout=0.5, in_doubt=replace(tool.in_doubt, settle=0.0))
            for tool in bind_all(TOOLS, API)
            if tool.name == name
        )
        wanted = WANTED if name == "jira_create_issue" else AddComment(text="Look", issue="OPS-7")
        call, patience = call_of(room), Patience(permit=60, inflight=0.5, skew=0)

        async def renew() -> None:
            """The run is in nobody else's hands."""

        room.jira.faults.add("POST", "*/issue", Fault("timeout_after_success"))
        room.jira.faults.add("POST", "*/comment", Fault("timeout_after_success"))
        outcome = await carry_out(tool, call, wanted, Permit(room.clock, patience, renew))
        assert isinstance(outcome, Done)
        again = await carry_out(tool, call, wanted, Permit(room.clock, patience, renew), doubt="lost")
        assert again == outcome
        made = [issue for issue in room.jira.site.all_issues() if issue.creator == OWN]
        said = [one for one in room.issue().comments if one.author == OWN]
        assert len(made + said) == 1  # type: ignore[operator]

    play(story)


def test_an_issue_is_found_far_behind_others_that_came_first_and_after_it_was_edited() -> None:
    async def story(room: Room) -> None:
        for number in range(2 * CHUNK):
            room.jira.people.create(ADA, NewIssue("OPS", "Task", f"issue {number}"))
        done = await jira_create_issue.act(API, call_of(room), WANTED)
        room.jira.people.edit(BEN, room.issue(str(done.details["key"])), summary="Other", labels=())
        assert await look_for(jira_create_issue, API, call_of(room), WANTED) == done

    play(story)


def test_the_first_issue_of_a_project_is_found() -> None:
    async def story(room: Room) -> None:
        wanted = WANTED.model_copy(update={"project": "WEB", "type": "Task"})
        assert await look_for(jira_create_issue, API, call_of(room), wanted) is None
        done = await jira_create_issue.act(API, call_of(room), wanted)
        assert done.details["key"] == "WEB-1"
        assert await look_for(jira_create_issue, API, call_of(room), wanted) == done

    play(story)


def test_where_nobody_can_tell_whether_there_is_an_issue_it_is_not_said_that_there_is_none() -> None:
    async def story(room: Room) -> None:
        room.jira.faults.add("POST", "*/bulkfetch", Fault("status", 503))
        with pytest.raises(TemporaryError):
            await look_for(jira_create_issue, API, call_of(room), WANTED)
        room.jira.faults.add("POST", "*/search/jql", Fault("status", 429))
        with pytest.raises(ToolError):
            await look_for(jira_create_issue, API, call_of(room), WANTED)

    play(story)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"project": "NO"}, r"project: Specify a valid project ID or key\. The projects are: OPS, WEB\."),
        ({"project": "HR"}, r"The projects are: OPS, WEB\."),
        ({"type": "Epic"}, r"issuetype: Specify a valid issue type\. The types of OPS are: Bug, Task, Change\."),
        (
            {"type": "Change"},
            r"priority: Priority is required\. The priorities there are: Highest, High, Medium, Low, Lowest\.",
        ),
        (
            {"priority": "Urgent"},
            r"The priority selected is invalid\. The priorities there are: Highest, High, Medium,",
        ),
        ({"assignee": "ben"}, r"Several people match: Ben Okri, Ben Field\."),
        ({"assignee": "Nobody Here"}, "Jira knows no person called 'Nobody Here'"),
        ({"description": " "}, "text is empty"),
    ],
)
def test_what_an_issue_cannot_be_is_told_with_what_there_is(changes: dict[str, object], words: str) -> None:
    async def story(room: Room) -> None:
        before = room.jira.state()
        with pytest.raises(ToolError, match=words):
            await jira_create_issue.act(API, call_of(room), WANTED.model_copy(update=changes))
        assert room.jira.state() == before

    play(story)


def test_people_labels_and_priority_are_set() -> None:
    async def story(room: Room) -> None:
        more = {"type": "Change", "priority": "High", "labels": ("two words", " "), "assignee": "ben okri"}
        await jira_create_issue.act(API, call_of(room), WANTED.model_copy(update=more))
        made = room.issue("OPS-10")
        assert (made.assignee, made.priority, made.labels) == (BEN, "High", ("two-words",))

    play(story)


def test_a_comment_for_some_people_is_answered_for_them_alone() -> None:
    async def story(room: Room) -> None:
        call = call_of(room, issue="OPS-9", audience="Administrators", audience_type="role")
        await jira_add_comment.act(API, call, AddComment(text="x"))
        await jira_add_comment.act(API, call, AddComment(text="agreed", issue="OPS-7"))
        answers = [room.issue(key).comments[-1].visibility for key in ("OPS-9", "OPS-7")]
        assert answers == ["Administrators", ""]

    play(story)


def test_a_comment_for_a_role_that_gofer_is_not_in_says_who_can_change_that() -> None:
    async def story(room: Room) -> None:
        call = call_of(room, issue="OPS-9", audience="Lawyers", audience_type="role")
        with pytest.raises(ToolError, match=r"project role: Lawyers\. An admin of the project must add Gofer's"):
            await jira_add_comment.act(API, call, AddComment(text="x"))
        assert room.issue("OPS-9").comments == ()

    play(story)


def test_a_call_writes_where_its_arguments_say() -> None:
    async def story(room: Room) -> None:
        call = call_of(room, issue="OPS-9", issue_id=room.issue("OPS-9").id)
        before = len(room.issue("OPS-7").comments)
        await jira_create_issue.act(API, call, WANTED)
        await jira_add_comment.act(API, call, AddComment(text="x", issue="OPS-7"))
        await jira_transition_issue.act(API, call, TransitionIssue(status="Done", issue="OPS-7"))
        await jira_link_url.act(API, call, LinkUrl(url="https://acme.example", title="x", issue="OPS-7"))
        await jira_add_comment.act(API, call, AddComment(text="x"))
        assert room.issue("OPS-10").summary == "It is broken"
        assert [len(room.issue(key).comments) for key in ("OPS-7", "OPS-9")] == [before + 1, 1]

    play(story)


def test_a_comment_is_written_with_links_and_found_by_the_call_that_did_it() -> None:
    async def story(room: Room) -> None:
        call, wanted = call_of(room, issue="OPS-7"), AddComment(text="Since **4.2**.")
        assert await look_for(jira_add_comment, API, call, wanted) is None
        room.jira.faults.add("POST", "*/comment", Fault("timeout_after_success"))
        await lost(jira_add_comment.act(API, call, wanted))
        for number in range(120):
            room.jira.people.comment(ADA, room.issue(), f"comment {number}")
        found = await look_for(jira_add_comment, API, call, wanted)
        assert found is not None
        written = next(one for one in room.issue().comments if one.author == OWN)
        assert found.details == {"comment": written.id}
        assert written.properties[PROPERTY] == {"key": call.key}
        # Customers of a service project do not read it.
        shown = (await room.get(f"/issue/OPS-7/comment/{written.id}")).json()
        assert shown["jsdPublic"] is False
        assert room.jira.state()["OPS-7"]["comments"][2]["body"] == "Since 4.2.\nanswer-here prompt · run run1"  # type: ignore[index]
        assert await look_for(jira_add_comment, API, call_of(room, "run2/call/1", issue="OPS-7"), wanted) is None

    play(story)


def test_comments_from_before_the_run_are_not_looked_through() -> None:
    async def story(room: Room) -> None:
        call = replace(call_of(room), since=room.clock.now())
        assert await look_for(jira_add_comment, API, call, AddComment(text="x", issue="OPS-7")) is None
        room.jira.faults.add("GET", "*/comment", Fault("status", 500))
        with pytest.raises(TemporaryError):
            await look_for(jira_add_comment, API, call, AddComment(text="x", issue="OPS-7"))

    play(story)


def test_a_comment_on_an_issue_that_is_not_there_is_told() -> None:
    async def story(room: Room) -> None:
        with pytest.raises(ToolError, match="There is no such issue") as told:
            await jira_add_comment.act(API, call_of(room), AddComment(text="x", issue="OPS-99"))
        assert told.value.code == "404"

    play(story)


def test_an_issue_is_moved_once_however_often_it_is_asked() -> None:
    async def story(room: Room) -> None:
        call, wanted = call_of(room, issue="OPS-7"), TransitionIssue(status="done")
        room.jira.faults.add("POST", "*/transitions", Fault("timeout_after_success"))
        await lost(jira_transition_issue.act(API, call, wanted))
        done = await jira_transition_issue.act(API, call, wanted)
        assert (done.text, done.details) == ("OPS-7 is in Done.", {"status": "Done"})
        assert room.issue().status == "Done"
        with pytest.raises(ToolError, match=r"OPS-7 is in Done; from there Gofer can move it to: To Do\."):
            await jira_transition_issue.act(API, call, TransitionIssue(status="In Progress"))

    play(story)


def test_behind_the_gateway_no_address_of_a_page_is_known() -> None:
    assert JiraApi("https://api.atlassian.com/ex/jira/1", EMAIL, API.token).browse("OPS-7") == ""


def test_an_address_is_linked_once() -> None:
    async def story(room: Room) -> None:
        call = call_of(room, issue="OPS-7")
        await jira_link_url.act(API, call, LinkUrl(url="https://acme.example/thread", title="Thread"))
        await jira_link_url.act(API, call, LinkUrl(url="https://acme.example/thread", title="The thread"))
        (link,) = room.issue().remote_links
        assert (link.url, link.title) == ("https://acme.example/thread", "The thread")
        with pytest.raises(ToolError, match="begins with https"):
            await jira_link_url.act(API, call, LinkUrl(url="javascript:alert(1)", title="x"))

    play(story)
