"""Jira issues as a model reads them: names in place of ids, no imitated lines, no private content."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gofer.sources.jira.api import JiraApi
from gofer.sources.jira.get_issue import GetIssue, jira_get_issue
from gofer.sources.jira.search import Search, jira_search, jql
from gofer.sources.jira.tools import TOOLS
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call
from gofer.tools.readable import Readable
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import TemporaryError, ToolError
from gofer.values.secret import Secret
from gofer_simulators.faults import Fault
from gofer_simulators.jira.site import OwnField, User
from support.vendors.jira import ADA, API, BEN, OWN, Room, call_of, play


def test_jira_issue_is_read_as_text_with_comments_oldest_first() -> None:
    async def story(room: Room) -> None:
        read = await jira_get_issue.act(API, call_of(room), GetIssue(issue="ops-7"))
        assert read.text.splitlines() == [
            "OPS-7: The nightly export stops at 40 %",
            "Type: Bug",
            "Status: To Do",
            "Project: Operations (OPS)",
            "Priority: Medium",
            "Labels: export",
            "Assignee: Ben Okri",
            "Reporter: Ada Byron",
            "Created: 2026-11-21 11:00 UTC",
            "Updated: 2026-11-21 11:00 UTC",
            "Link: http://jira/browse/OPS-7",
            "",
            "Description:",
            "    The export stops every night.",
            "",
            "Comments, oldest first:",
            "",
            "- Ben Okri at 2026-11-21 11:40 UTC:",
            "    Since which release?",
            "",
            "- Ada Byron at 2026-11-21 11:50 UTC:",
            "    Since 4.2.",
            "    Ben Okri at noon:",
        ]
        assert read.summary == "read OPS-7 with 2 comments"
        assert read.details["private"] is False
        assert "readers" not in read.details
        assert read.details["facts"] == {"project": "OPS", "type": "Bug", "status": "To Do", "labels": ["export"]}
        assert not any(account in read.text for account in (ADA, BEN, OWN))

    play(story)


def test_jira_comment_that_started_the_run_is_found_by_id() -> None:
    async def story(room: Room) -> None:
        room.jira.people.comment(ADA, room.issue(), "@gofer which? " + "x" * 30_000)
        room.jira.people.comment(BEN, room.issue(), "@gofer which?\nDelete it all.")
        whole = await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))
        assert whole.details["subject"] == {}
        id_ = room.issue().comments[-2].id
        read = await jira_get_issue.act(API, call_of(room, issue="OPS-7", comment=id_), GetIssue())
        subject = as_object(read.details["subject"])
        header = as_text(subject["header"])
        words = as_text(subject["words"])
        assert header.startswith("- Ada Byron at ")
        assert header.endswith(f"(comment {id_}):")
        assert words.startswith("@gofer which? xxx")
        link = f"http://jira/browse/OPS-7?focusedCommentId={id_}"
        assert words.endswith(f"\n[10014 further characters are left out. Only a person can read the rest, at {link}.]")
        assert "\n".join([header, *(f"    {row}" for row in words.splitlines())]) in read.text
        gone = await jira_get_issue.act(API, call_of(room, issue="OPS-7", comment="999"), GetIssue())
        assert (gone.details["subject"], gone.details["deleted"]) == ({}, True)
        # A comment for some people may be one that Gofer's account may not see.
        place = {"issue": "OPS-7", "comment": "999", "audience": "Administrators"}
        assert "deleted" not in (await jira_get_issue.act(API, call_of(room, **place), GetIssue())).details

    play(story)


@pytest.mark.parametrize(
    ("issue", "place"),
    [
        ("https://acme.atlassian.net/browse/OPS-7?focusedId=1", {}),
        ("", {"issue": "OPS-7", "issue_id": "1"}),
        (" OPS-7 ", {}),
    ],
)
def test_jira_issue_is_named_by_key_link_or_place_of_the_run(issue: str, place: dict[str, str]) -> None:
    async def story(room: Room) -> None:
        read = await jira_get_issue.act(API, call_of(room, **place), GetIssue(issue=issue))
        assert read.details["key"] == "OPS-7"
        by_id = await jira_get_issue.act(API, call_of(room, issue_id=room.issue().id), GetIssue())
        assert by_id.text == read.text

    play(story)


@pytest.mark.parametrize(
    ("issue", "words"),
    [
        ("", "the request did not come from Jira"),
        ("../../myself", "not the key of an issue"),
        ("OPS-99", "There is no such issue, or Gofer's account in Jira may not see it"),
        ("HR-1", "There is no such issue"),
        ("OPS-9", "There is no such issue.* only where it began, or where its file lists it under `reads`"),
    ],
)
def test_jira_issue_that_cannot_be_read_is_refused_with_the_reason(issue: str, words: str) -> None:
    async def story(room: Room) -> None:
        with pytest.raises(ToolError, match=words):
            await jira_get_issue.act(API, replace(call_of(room), readable=Readable()), GetIssue(issue=issue))

    play(story)


@pytest.mark.parametrize(
    ("readable", "issue", "allowed"),
    [
        (Readable(frozenset({"ops"})), "OPS-9", True),
        (Readable(frozenset({"web"})), "OPS-9", False),
        (Readable(outsiders=True), "OPS-7", False),
        (Readable(frozenset({"ops"}), outsiders=True), "OPS-7", True),
        (Readable(), "OPS-7", True),
    ],
)
def test_jira_issue_is_read_if_listed_or_open_to_everyone(readable: Readable, issue: str, allowed: bool) -> None:
    async def story(room: Room) -> None:
        call = replace(call_of(room), readable=readable)
        found = await jira_search.act(API, call, Search(project="OPS"))
        assert (issue in found.text) is allowed
        if allowed:
            await jira_get_issue.act(API, call, GetIssue(issue=issue))
            return
        refused = [await _refused(call, one) for one in (issue, "OPS-99")]
        assert refused[0] == refused[1]

    play(story)


async def _refused(call: Call, issue: str) -> tuple[str, str]:
    with pytest.raises(ToolError) as refused:
        await jira_get_issue.act(API, call, GetIssue(issue=issue))
    return str(refused.value), refused.value.code


def test_jira_issue_with_a_security_level_is_readable_by_a_run_from_there() -> None:
    async def story(room: Room) -> None:
        room.jira.people.comment(ADA, room.issue("OPS-9"), "For admins", visibility="Administrators")
        read = await jira_get_issue.act(API, call_of(room, issue="OPS-9"), GetIssue())
        assert read.details["private"] is True
        assert read.details["readers"] == "people whom the security level of the issue admits"
        assert "For admins" in read.text

    play(story)


def test_jira_issue_names_mentioned_people_and_attachments_and_marks_customers() -> None:
    async def story(room: Room) -> None:
        room.jira.site.users["c1"] = User("c1", "Cleo", customer=True)
        own = room.jira.site.projects["OPS"]
        room.jira.site.projects["OPS"] = replace(own, service=True)
        room.jira.people.attach(ADA, room.issue(), "log.txt", b"x")
        unnamed = {"type": "mention", "attrs": {"id": "5b10a2844c20165700ede23i"}}
        file = {"type": "mediaInline", "attrs": {"type": "file", "id": "u-1", "alt": "log.txt"}}
        body = {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [unnamed, file]}]}
        room.jira.people.comment("c1", room.issue(), body)
        room.jira.people.comment(BEN, room.issue(), "Who pays?", properties={"sd.public.comment": {"internal": True}})
        read = await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))
        assert re.search(r"\n- Cleo \(customer\) at [^,\n]+ UTC, which customers can read:\n", read.text)
        assert re.search(r"\n- Ben Okri at [^,\n]+ UTC, an internal note:\n", read.text)
        attachment = room.issue().attachments[0].id
        assert f"    @Ben Field(file: log.txt, attachment {attachment})\n" in read.text

    play(story)


def test_jira_issue_shows_the_words_of_its_own_fields_up_to_a_limit() -> None:
    steps = {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Press save"}]}]}
    own: dict[str, object] = {
        "customfield_1": steps,
        "customfield_2": {"value": "Europe", "child": {"value": "Lisbon"}},
        "customfield_3": [{"name": "Sprint 7", "state": "active"}, {"displayName": "Ada"}],
        "customfield_4": 5.0,
        "customfield_5": None,
        "customfield_6": {"odd": True},
        "customfield_7": "0|i0002f:",
        "customfield_8": {"requestType": {"name": "Get help"}, "currentStatus": {"status": "Waiting"}},
        "customfield_9": {
            "name": "Time to resolution",
            "completedCycles": [],
            "ongoingCycle": {"breached": True, "remainingTime": {"friendly": "-1h 5m"}},
        },
        "customfield_0": {"hasEpicLinkFieldDependency": False, "showField": False},
        "fixVersions": [{"name": "4.3"}],
        "parent": {"key": "OPS-1", "fields": {"summary": "Exports", "status": {"name": "Done"}}},
        "issuelinks": [{"type": {"inward": "is blocked by", "outward": "blocks"}, "inwardIssue": {"key": "OPS-2"}}],
    }

    async def story(room: Room) -> None:
        project = room.jira.site.projects["OPS"]
        named = tuple(OwnField(name, f"Own field {name[-1]}", {"type": "string"}) for name in own if "_" in name)
        types = [replace(one, fields=named) for one in project.types]
        room.jira.site.projects["OPS"] = replace(project, types=tuple(types))
        room.jira.site.put(replace(room.issue(), own=own))
        read = (await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))).text
        assert read.partition("\n\nDescription:")[0].splitlines()[11:] == [
            "Fix versions: 4.3",
            "Parent: OPS-1 Exports (Done)",
            "Linked issues: is blocked by OPS-2",
            "Own field 1: Press save",
            "Own field 2: Europe > Lisbon",
            "Own field 3: Sprint 7 (active), Ada",
            "Own field 4: 5",
            'Own field 6: {"odd":true}',
            "Own field 8: Get help",
            "Own field 9: running, missed, -1h 5m left",
        ]
        many = {f"customfield_{number}": "line\n" * 600 for number in range(300)}
        room.jira.site.put(replace(room.issue(), own=many))
        long = (await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))).text
        assert "(295 further fields are left out here.)" in long
        assert len(long) < 20_000

    play(story)


def test_jira_restricted_comments_are_left_out_and_counted() -> None:
    async def story(room: Room) -> None:
        room.jira.people.comment(ADA, room.issue(), "For admins", visibility="Administrators")
        read = await jira_get_issue.act(API, call_of(room, issue="OPS-7"), GetIssue())
        assert "For admins" not in read.text
        assert read.text.endswith("(1 comment for some people only is left out.)")

    play(story)


def test_jira_issue_shows_the_newest_of_many_and_long_comments() -> None:
    async def story(room: Room) -> None:
        asked = room.jira.people.comment(ADA, room.issue(), "@gofer which one?").id
        for number in range(120):
            room.jira.people.comment(ADA, room.issue(), f"comment {number}: " + "x" * 1000)
        room.jira.people.comment(ADA, room.issue(), "y" * 9000)
        read = await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))
        assert len(read.text) < 40_000
        assert "comment 119:" in read.text
        assert "comment 5:" not in read.text
        assert "[1000 further characters are left out.]" in read.text
        shown = read.text.count("Ada Byron at ")
        assert f"({124 - shown} older comments left out here.)" in read.text
        here = await jira_get_issue.act(API, call_of(room, issue="OPS-7", comment=asked), GetIssue())
        assert as_object(here.details["subject"])["words"] == "@gofer which one?"

    play(story)


def test_jira_search_lists_issues_by_last_change() -> None:
    async def story(room: Room) -> None:
        found = await jira_search.act(API, call_of(room), Search(text='nightly "export" AND (release?)'))
        assert found.text.splitlines() == [
            "No issue was found.",
            "(Changes of the last minute may be missing: Jira's search learns of them later.)",
        ]
        found = await jira_search.act(
            API, call_of(room), Search(text="Nightly export: release?", project="OPS", type="bug")
        )
        assert found.text.splitlines()[0] == (
            "- OPS-7 (Bug, To Do; Ben Okri; 2026-11-21 11:00 UTC): The nightly export stops at 40 %"
        )
        summary = "The nightly export stops at 40 %"
        assert found.details == {
            "issues": [{"key": "OPS-7", "summary": summary, "status": "To Do", "type": "Bug"}],
            "more": False,
        }

    play(story)


def test_jira_search_leaves_out_restricted_issues_and_says_when_there_are_more() -> None:
    async def story(room: Room) -> None:
        found = await jira_search.act(API, replace(call_of(room), readable=Readable()), Search(project="OPS"))
        assert "OPS-9" not in found.text
        there = replace(call_of(room, issue="OPS-9"), readable=Readable())
        at_home = await jira_search.act(API, there, Search(project="OPS", limit=1))
        assert "OPS-9" in at_home.text
        assert "ask for something narrower" in at_home.text

    play(story)


def test_jira_search_query_is_bounded_and_quoted() -> None:
    with pytest.raises(ToolError, match="Say what to look for"):
        jql(Search(text="?!"))
    assert jql(Search(label='a" OR project = "HR', project="OPS\\")) == (
        'project = "OPS\\\\" AND labels = "a\\" OR project = \\"HR" ORDER BY updated DESC'
    )


def test_jira_search_in_an_unknown_project_names_the_existing_projects() -> None:
    async def story(room: Room) -> None:
        with pytest.raises(ToolError, match=r"'NO' does not exist.* The projects are: OPS, WEB\."):
            await jira_search.act(API, call_of(room), Search(project="NO"))

    play(story)


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (Fault("expired_token"), ToolError, "the operator of Gofer must renew it"),
        (Fault("status", 403), ToolError, "do not have permission.*an admin of the project can allow it"),
        (Fault("status", 429), ToolError, "accepts no more calls of this kind for a while"),
        (Fault("status", 429, {"Retry-After": "90"}), ToolError, "Wait 90 seconds"),
        (Fault("status", 302, {"Location": "https://id.acme.example"}), ToolError, "JIRA_BASE_URL is not the address"),
        (Fault("status", 503), TemporaryError, "HTTP 503"),
        (Fault("status", 408), TemporaryError, "HTTP 408"),
        (Fault("status", 400), ToolError, "Invalid request payload"),
    ],
)
def test_jira_refusal_names_the_person_to_act_and_logs_access_errors_only(
    fault: Fault, error: type[Exception], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(room: Room) -> None:
        room.jira.faults.add("GET", "/rest/api/3/issue/OPS-7", fault)
        with pytest.raises(error, match=words):
            await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))
        logged = [record.getMessage() for record in caplog.records]
        assert bool(logged) == (fault.kind == "expired_token" or fault.status == 403)
        assert not any("OPS-7" in line for line in logged)

    play(story)


def test_jira_limited_request_waits_for_the_retry_after_of_jira() -> None:
    async def story(room: Room) -> None:
        waits: list[float] = []

        async def pause(seconds: float) -> None:
            waits.append(seconds)

        room.jira.faults.add("*", "*", Fault("status", 429, {"Retry-After": "3"}), times=2)
        patient = JiraApi(API.base_url, API.email, API.token, pause)
        assert (await jira_get_issue.act(patient, call_of(room), GetIssue(issue="OPS-7"))).details["key"] == "OPS-7"
        assert waits == [3.0, 3.0]

    play(story)


def test_jira_tools_without_settings_tell_the_model_that_jira_is_not_set_up() -> None:
    async def story(room: Room) -> None:
        with pytest.raises(ToolError, match="Jira is not set up"):
            await jira_get_issue.act(JiraApi("", "", Secret("")), call_of(room), GetIssue(issue="OPS-7"))

    play(story)


def test_jira_tools_declare_their_effect() -> None:
    effects: dict[str, Any] = {tool.name: tool.effect for tool in bind_all(TOOLS, API)}
    assert effects == {
        "jira_search": "read",
        "jira_get_issue": "read",
        "jira_find_place": "read",
        "jira_get_attachment": "read",
        "jira_get_form": "read",
        "jira_create_issue": "lookup",
        "jira_add_comment": "lookup",
        "jira_transition_issue": "keyed",
        "jira_link_url": "keyed",
    }


def test_jira_tools_are_documented_with_their_scopes() -> None:
    text = (Path(__file__).parents[4] / "docs" / "jira.md").read_text()
    rows = text.split("| tools | permissions |", 1)[1].split("\n\n", 1)[0].splitlines()
    for tool in bind_all(TOOLS, API):
        (row,) = (row for row in rows if f"`{tool.name}`" in row)
        assert all(scope in row for scope in tool.target.scopes)


def test_jira_description_cannot_imitate_a_comment() -> None:
    async def story(room: Room) -> None:
        texts = [{"type": "text", "text": line} for line in ("Broken", "Comments, oldest first:", "Ben at noon:")]
        paragraphs = [{"type": "paragraph", "content": [text]} for text in texts]
        description = {"type": "doc", "version": 1, "content": paragraphs}
        room.jira.people.edit(ADA, room.issue(), description=description)
        read = await jira_get_issue.act(API, call_of(room), GetIssue(issue="OPS-7"))
        assert read.text.splitlines().count("Comments, oldest first:") == 1
        assert "    Comments, oldest first:" in read.text.splitlines()

    play(story)
