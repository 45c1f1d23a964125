"""Jira tools that write, against the simulated Jira: each write happens once, also when the answer is lost."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any

import pytest

from gofer.engine.effects import Done, LastFrame, Patience, Permit, carry_out
from gofer.sources.jira.api import PROPERTY, JiraApi, JiraRefusal
from gofer.sources.jira.create_issue import CHUNK, CreateIssue, jira_create_issue
from gofer.sources.jira.field_types import Site
from gofer.sources.jira.form import explained, form_of_new, form_of_step
from gofer.sources.jira.tools import TOOLS
from gofer.sources.jira.write import (
    CLOCKS_APART,
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
from support.vendors.jira import ADA, API, BEN, EMAIL, FORMS, OWN, Room, call_of, play

WANTED = CreateIssue(project="ops", type="Bug", summary="It is\n broken", description="**Why?**\n\n- a\n- b")


async def lost(asked: Any) -> None:
    """Await a request that takes effect and is never answered."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await asked


def test_jira_issue_is_created_with_links_and_found_by_the_call() -> None:
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
        # The search index lags; the lookup does not depend on it.
        assert "OPS-10" not in await room.found("project = OPS")
        assert await look_for(jira_create_issue, API, call, WANTED) == done
        assert await look_for(jira_create_issue, API, call_of(room, "run1/call/2"), WANTED) is None

    play(story)


def test_jira_issue_with_a_lost_answer_is_found_while_search_lags() -> None:
    async def story(room: Room) -> None:
        call = call_of(room)
        room.jira.faults.add("POST", "*/issue", Fault("timeout_after_success"))
        await lost(jira_create_issue.act(API, call, WANTED))
        # Other people create issues before the index catches up.
        for number in range(CHUNK + 5):
            room.jira.people.create(ADA, NewIssue("OPS", "Task", f"issue {number}"))
        found = await look_for(jira_create_issue, API, call, WANTED)
        assert found is not None
        assert found.details["key"] == "OPS-10"

    play(story)


@pytest.mark.parametrize("name", ["jira_create_issue", "jira_add_comment"])
def test_jira_write_with_a_late_answer_happens_once(name: str) -> None:
    async def story(room: Room) -> None:
        (tool,) = (
            replace(tool, timeout=0.5, in_doubt=replace(tool.in_doubt, settle=0.0))
            for tool in bind_all(TOOLS, API)
            if tool.name == name
        )
        wanted = WANTED if name == "jira_create_issue" else AddComment(text="Look", issue="OPS-7")
        call, patience = call_of(room), Patience(permit=60, inflight=0.5, skew=0)

        async def renew() -> None:
            """Renew the lease of the run without a conflict."""

        room.jira.faults.add("POST", "*/issue", Fault("timeout_after_success"))
        room.jira.faults.add("POST", "*/comment", Fault("timeout_after_success"))
        outcome = await carry_out(tool, call, wanted, Permit(patience, LastFrame(room.clock), renew))
        assert isinstance(outcome, Done)
        again = await carry_out(tool, call, wanted, Permit(patience, LastFrame(room.clock), renew), doubt="lost")
        assert again == outcome
        made = [issue for issue in room.jira.site.all_issues() if issue.creator == OWN]
        said = [one for one in room.issue().comments if one.author == OWN]
        assert len(made + said) == 1  # type: ignore[operator]

    play(story)


def test_jira_issue_is_found_among_many_others_after_an_edit() -> None:
    async def story(room: Room) -> None:
        for number in range(2 * CHUNK):
            room.jira.people.create(ADA, NewIssue("OPS", "Task", f"issue {number}"))
        done = await jira_create_issue.act(API, call_of(room), WANTED)
        room.jira.people.edit(BEN, room.issue(str(done.details["key"])), summary="Other", labels=())
        assert await look_for(jira_create_issue, API, call_of(room), WANTED) == done

    play(story)


def test_jira_first_issue_of_a_project_is_found() -> None:
    async def story(room: Room) -> None:
        wanted = WANTED.model_copy(update={"project": "WEB", "type": "Task"})
        assert await look_for(jira_create_issue, API, call_of(room), wanted) is None
        done = await jira_create_issue.act(API, call_of(room), wanted)
        assert done.details["key"] == "WEB-1"
        assert await look_for(jira_create_issue, API, call_of(room), wanted) == done

    play(story)


def test_jira_lookup_of_an_issue_fails_when_jira_does_not_answer() -> None:
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
            r"Priority: Priority is required\. It takes one of: Highest, High, Medium, Low, Lowest\.",
        ),
        (
            {"priority": "Urgent"},
            r"The priority selected is invalid\. It takes one of: Highest, High, Medium,",
        ),
        ({"assignee": "ben"}, r"Several people match: Ben Okri, Ben Field\."),
        ({"assignee": "Nobody Here"}, "Jira knows no person called 'Nobody Here'"),
        ({"description": " "}, "text is empty"),
    ],
)
def test_jira_issue_with_an_invalid_field_is_refused_with_the_valid_values(
    changes: dict[str, object], words: str
) -> None:
    async def story(room: Room) -> None:
        before = room.jira.state()
        with pytest.raises(ToolError, match=words):
            await jira_create_issue.act(API, call_of(room), WANTED.model_copy(update=changes))
        assert room.jira.state() == before

    play(story)


def test_jira_issue_gets_assignee_labels_and_priority() -> None:
    async def story(room: Room) -> None:
        more = {"type": "Change", "priority": "High", "labels": ("two words", " "), "assignee": "ben okri"}
        await jira_create_issue.act(API, call_of(room), WANTED.model_copy(update=more))
        made = room.issue("OPS-10")
        assert (made.assignee, made.priority, made.labels) == (BEN, "High", ("two-words",))

    play(story)


async def refused(asked: Awaitable[object]) -> str:
    """Return the message of a refused call."""
    with pytest.raises(ToolError) as told:
        await asked
    return told.value.message_to_model


def test_jira_refusal_has_the_names_of_the_form_and_the_next_call_succeeds() -> None:
    async def story(room: Room) -> None:
        wanted = WANTED.model_copy(update={"project": "PAY"})
        assert await refused(jira_create_issue.act(API, call_of(room), wanted)) == (
            "Jira refused that (400): Components: Components is required. It takes one or more of: Web, Ledger.\n"
            "Requestor: Requestor is required. It takes a person, by full name or e-mail address.\n"
            "Set what is missing in `fields`, by these names."
        )
        fields = {"Components": ["Ledger"], "Requestor": "Ada Byron"}
        done = await jira_create_issue.act(API, call_of(room), wanted.model_copy(update={"fields": fields}))
        assert done.details["key"] == "PAY-2"
        assert room.issue("PAY-2").own == {"components": [{"id": "2"}], "customfield_1": {"accountId": ADA}}

    play(story, FORMS)


def test_jira_text_of_an_issue_without_a_description_is_one_comment() -> None:
    async def story(room: Room) -> None:
        call, wanted = call_of(room), WANTED.model_copy(update={"project": "PAY", "type": "Alert"})
        assert await refused(jira_create_issue.act(API, call, wanted)) == (
            "Jira refused that (400): The form has no description: Gofer leaves it out, and the text follows as a "
            "comment.\nSeverity: Severity is required. It takes one of: Low, High.\n"
            "Set what is missing in `fields`, by these names."
        )
        wanted = wanted.model_copy(update={"fields": {"Severity": "High"}})
        done = await jira_create_issue.act(API, call, wanted)
        assert done.text.splitlines() == [
            "Created PAY-2. http://jira/browse/PAY-2",
            "Its form has no description, so the text is its first comment.",
        ]
        made = room.issue("PAY-2")
        assert (made.description, len(made.comments)) == (None, 1)
        assert made.comments[0].properties["sd.public.comment"] == {"internal": True}
        assert await look_for(jira_create_issue, API, call, wanted) == done

    play(story, FORMS)


def test_jira_issue_with_only_a_refused_description_is_created_with_a_comment() -> None:
    async def story(room: Room) -> None:
        site = room.jira.site
        alert = replace(site.projects["PAY"].types[1], without=("description",))
        site.projects["PAY"] = replace(site.projects["PAY"], types=(alert,))
        wanted = WANTED.model_copy(update={"project": "PAY", "type": "Task"})
        await jira_create_issue.act(API, call_of(room), wanted)
        assert [len(issue.comments) for issue in site.all_issues() if issue.project == "PAY"] == [0, 1]
        await jira_create_issue.act(API, call_of(room, "run1/call/2"), wanted.model_copy(update={"description": ""}))
        assert [len(issue.comments) for issue in site.all_issues() if issue.project == "PAY"] == [0, 1, 0]

    play(story, FORMS)


def test_jira_issue_of_a_killed_run_is_not_made_twice_and_says_that_its_text_is_missing() -> None:
    async def story(room: Room) -> None:
        more = {"project": "PAY", "type": "Alert", "fields": {"Severity": "High"}}
        call, wanted = call_of(room), WANTED.model_copy(update=more)
        room.jira.faults.add("POST", "*/issue", Fault("timeout_after_success"))
        await lost(jira_create_issue.act(API, call, wanted))
        found = await look_for(jira_create_issue, API, call, wanted)
        assert found is not None
        assert found.details["key"] == "PAY-2"
        assert found.text.endswith("so the text is missing; write it with jira_add_comment.")

    play(story, FORMS)


def test_jira_issue_is_created_although_its_text_cannot_be_a_comment() -> None:
    async def story(room: Room) -> None:
        wanted = WANTED.model_copy(update={"project": "PAY", "type": "Alert", "fields": {"Severity": "High"}})
        room.jira.faults.add("POST", "*/comment", Fault("status", 403))
        done = await jira_create_issue.act(API, call_of(room), wanted)
        assert done.details["key"] == "PAY-2"
        assert "so the text cannot be a comment: Jira refused that (403)" in done.text

    play(story, FORMS)


def test_jira_refusal_is_passed_on_when_the_form_cannot_be_read() -> None:
    async def story(room: Room) -> None:
        room.jira.faults.add("GET", "*/createmeta/*", Fault("status", 503))
        said = await refused(jira_create_issue.act(API, call_of(room), WANTED.model_copy(update={"project": "PAY"})))
        assert "components: Components is required." in said

    play(story, FORMS)


def test_jira_rule_that_names_no_field_is_refused_with_the_fields_that_may_be_meant() -> None:
    async def story(room: Room) -> None:
        form = form_of_step(await done_of(room), "PAY-1")
        site = Site(API, call_of(room), "PAY")
        said = JiraRefusal(400, "", general=["Add the fix versions before you close this."])
        assert (await explained(site, form, said)).message_to_model.splitlines() == [
            "Jira refused that (400): Add the fix versions before you close this.",
            "Resolution takes one of: Done, Won't Do, Duplicate, Cannot Reproduce.",
            "Fix versions takes one or more of: 4.2, 4.3.",
            "Set what is missing in `fields`, by these names.",
        ]
        assert (await explained(site, form, JiraRefusal(403, "No."))).code == "403"

    play(story, FORMS)


def test_jira_refusal_names_values_that_issues_have_arguments_and_fields_that_only_people_set() -> None:
    async def story(room: Room) -> None:
        room.jira.people.edit(ADA, room.issue("PAY-1"), own={"customfield_11": [{"id": 3, "name": "Autumn"}]})
        room.clock.advance(60)
        site = Site(API, call_of(room), "PAY")
        errors = {"customfield_11": "Sprint is required", "customfield_14": "Pick one", "description": "Is required"}
        text = (await explained(site, await form_of_new(site, "Bug"), JiraRefusal(400, "", errors))).message_to_model
        assert text.splitlines() == [
            "Jira refused that (400): Sprint: Sprint is required. It takes one of: Autumn.",
            "Server: Pick one. It is (objects of Assets), which only people can set, in Jira.",
            "Description: Is required. It has the argument `description`.",
            "Set what is missing in `fields`, by these names.",
        ]
        unknown = JiraRefusal(400, "", {"comment": "Comment is required.", "x": "Field 'x' cannot be set."})
        assert (await explained(site, await form_of_new(site, "Bug"), unknown)).message_to_model == (
            "Jira refused that (400): comment: Comment is required.\n"
            "x: Field 'x' cannot be set. It is not on the form; leave it out."
        )

    play(story, FORMS)


async def done_of(room: Room) -> dict[str, Any]:
    """Return the step of PAY-1 to Done, with its form."""
    steps = (await room.get("/issue/PAY-1/transitions", expand="transitions.fields")).json()["transitions"]
    return next(step for step in steps if step["name"] == "Done")


def test_jira_transition_sets_the_resolution_that_its_form_asks_for() -> None:
    async def story(room: Room) -> None:
        call, wanted = call_of(room, issue="PAY-1"), TransitionIssue(status="Done")
        assert await refused(jira_transition_issue.act(API, call, wanted)) == (
            "Jira refused that (400): Resolution: Resolution is required. It takes one of: Done, Won't Do, Duplicate, "
            "Cannot Reproduce.\nSet what is missing in `fields`, by these names."
        )
        fields = {"resolution": "won't do", "Fix versions": ["4.3"]}
        done = await jira_transition_issue.act(API, call, TransitionIssue(status="Done", fields=fields))
        assert done.text == "PAY-1 is in Done."
        assert room.issue("PAY-1").own == {"resolution": {"id": "2"}, "fixVersions": [{"id": "2"}]}
        again = await jira_transition_issue.act(API, call, TransitionIssue(status="Done", fields=fields))
        assert again.text.endswith("It was there before this attempt, which therefore set no fields.")
        back = TransitionIssue(status="To Do", fields={"Resolution": "Done"})
        said = await refused(jira_transition_issue.act(API, call, back))
        assert "The form of PAY-1 on its way to To Do has no field 'Resolution'." in said

    play(story, FORMS)


def test_jira_answer_to_a_restricted_comment_has_the_same_restriction() -> None:
    async def story(room: Room) -> None:
        call = call_of(room, issue="OPS-9", audience="Administrators", audience_type="role")
        await jira_add_comment.act(API, call, AddComment(text="x"))
        await jira_add_comment.act(API, call, AddComment(text="agreed", issue="OPS-7"))
        answers = [room.issue(key).comments[-1].visibility for key in ("OPS-9", "OPS-7")]
        assert answers == ["Administrators", ""]

    play(story)


def test_jira_comment_for_a_role_without_gofer_asks_for_an_admin_to_add_gofer() -> None:
    async def story(room: Room) -> None:
        call = call_of(room, issue="OPS-9", audience="Lawyers", audience_type="role")
        with pytest.raises(ToolError, match=r"project role: Lawyers\. An admin of the project must add Gofer's"):
            await jira_add_comment.act(API, call, AddComment(text="x"))
        assert room.issue("OPS-9").comments == ()

    play(story)


def test_jira_writes_go_to_the_issue_of_the_arguments_or_of_the_run() -> None:
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


def test_jira_comment_with_a_lost_answer_is_found_by_the_call() -> None:
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
        # Customers of a service project cannot read the comment.
        shown = (await room.get(f"/issue/OPS-7/comment/{written.id}")).json()
        assert shown["jsdPublic"] is False
        assert room.jira.state()["OPS-7"]["comments"][2]["body"] == "Since 4.2.\nanswer-here prompt · run run1"  # type: ignore[index]
        assert await look_for(jira_add_comment, API, call_of(room, "run2/call/1", issue="OPS-7"), wanted) is None

    play(story)


def test_jira_comment_lookup_returns_none_without_a_match_and_fails_during_an_outage() -> None:
    async def story(room: Room) -> None:
        call = replace(call_of(room), since=room.clock.now())
        assert await look_for(jira_add_comment, API, call, AddComment(text="x", issue="OPS-7")) is None
        room.jira.faults.add("GET", "*/comment", Fault("status", 500))
        with pytest.raises(TemporaryError):
            await look_for(jira_add_comment, API, call, AddComment(text="x", issue="OPS-7"))

    play(story)


def test_jira_comment_lookup_passes_over_comments_from_before_the_run() -> None:
    async def story(room: Room) -> None:
        call, wanted = call_of(room), AddComment(text="x", issue="OPS-7")
        done = await jira_add_comment.act(API, call, wanted)
        room.clock.advance(CLOCKS_APART + 60)
        assert await look_for(jira_add_comment, API, call, wanted) == done
        assert await look_for(jira_add_comment, API, replace(call, since=room.clock.now()), wanted) is None
        # Jira's clock may be behind.
        since = room.clock.now() - 60
        assert await look_for(jira_add_comment, API, replace(call, since=since), wanted) == done

    play(story)


def test_jira_comment_on_a_missing_issue_is_refused() -> None:
    async def story(room: Room) -> None:
        with pytest.raises(ToolError, match="There is no such issue") as told:
            await jira_add_comment.act(API, call_of(room), AddComment(text="x", issue="OPS-99"))
        assert told.value.code == "404"

    play(story)


def test_jira_transition_repeated_moves_the_issue_once() -> None:
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


def test_jira_api_gateway_has_no_browse_address() -> None:
    assert JiraApi("https://api.atlassian.com/ex/jira/1", EMAIL, API.token).browse("OPS-7") == ""


def test_jira_link_to_the_same_address_is_updated_and_not_repeated() -> None:
    async def story(room: Room) -> None:
        call = call_of(room, issue="OPS-7")
        await jira_link_url.act(API, call, LinkUrl(url="https://acme.example/thread", title="Thread"))
        await jira_link_url.act(API, call, LinkUrl(url="https://acme.example/thread", title="The thread"))
        (link,) = room.issue().remote_links
        assert (link.url, link.title) == ("https://acme.example/thread", "The thread")
        with pytest.raises(ToolError, match="begins with https"):
            await jira_link_url.act(API, call, LinkUrl(url="javascript:alert(1)", title="x"))

    play(story)
