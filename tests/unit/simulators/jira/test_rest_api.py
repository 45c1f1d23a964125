"""The REST API of the simulated Jira: answers, refusals, JQL, faults and worlds."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gofer.values.errors import ConfigError
from gofer_simulators.faults import Fault
from gofer_simulators.jira.simulator import JiraSimulator
from gofer_simulators.jira.site import Names, OwnField
from support.http import loopback
from support.vendors.jira import ADA, OWN, WORLD, Room, document, paragraph, play


def new(**fields: object) -> dict[str, Any]:
    whole = {"project": {"key": "OPS"}, "issuetype": {"name": "Bug"}, "summary": "It is broken"} | fields
    return {"fields": {name: value for name, value in whole.items() if value is not None}}


def test_simulated_jira_creates_reads_edits_and_transitions_an_issue() -> None:
    async def story(room: Room) -> None:
        body = new(description=document(paragraph("Why?")), labels=["a"]) | {"properties": [{"key": "k", "value": 1}]}
        created = await room.post("/issue", body)
        assert (created.status_code, created.json()["key"]) == (201, "OPS-10")
        read = (await room.get("/issue/OPS-10", fields="summary,status,creator", properties="k,other")).json()
        assert sorted(read["fields"]) == ["creator", "status", "summary"]
        assert (read["fields"]["creator"]["accountId"], read["properties"]) == (OWN, {"k": 1})
        changed = await room.put("/issue/OPS-10", {"fields": {"summary": "New"}, "update": {"labels": [{"add": "b"}]}})
        assert changed.status_code == 204
        moves = (await room.get("/issue/OPS-10/transitions")).json()["transitions"]
        assert [move["to"]["name"] for move in moves] == ["In Progress", "Done"]
        done = await room.post("/issue/OPS-10/transitions", {"transition": {"id": moves[1]["id"]}})
        assert done.status_code == 204
        again = await room.post("/issue/OPS-10/transitions", {"transition": {"id": moves[1]["id"]}})
        assert again.status_code == 400
        after = room.issue("OPS-10")
        assert (after.summary, after.labels, after.status) == ("New", ("a", "b"), "Done")

    play(story)


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"project": {"key": "NO"}}, {"project": "Specify a valid project ID or key"}),
        ({"project": {"key": "HR"}}, {"project": "Specify a valid project ID or key"}),
        ({"issuetype": {"name": "Epic"}}, {"issuetype": "Specify a valid issue type"}),
        ({"issuetype": {"name": "Change"}}, {"priority": "Priority is required."}),
        ({"summary": None}, {"summary": "You must specify a summary of the issue."}),
        ({"summary": "a\nb"}, {"summary": "The summary is invalid because it contains newline characters."}),
        ({"summary": "a" * 256}, {"summary": "Summary can't exceed 255 characters."}),
        (
            {"description": "plain"},
            {"description": "Operation value must be an Atlassian Document (see the Atlassian Document Format)"},
        ),
        ({"description": document(paragraph(""))}, {"description": "INVALID_INPUT"}),
        ({"labels": ["two words"]}, {"labels": "The label 'two words' contains spaces which is invalid."}),
        ({"labels": "one"}, {"labels": "data was not an array"}),
        ({"assignee": {"accountId": "nobody"}}, {"assignee": "Specify a valid value for assignee"}),
        ({"priority": {"name": "Urgent"}}, {"priority": "The priority selected is invalid."}),
        ({"priority": {"id": "6"}}, {"priority": "The priority selected is invalid."}),
        (
            {"colour": "red"},
            {"colour": "Field 'colour' cannot be set. It is not on the appropriate screen, or unknown."},
        ),
    ],
)
def test_simulated_jira_names_each_wrong_field_of_a_new_issue(
    fields: dict[str, object], errors: dict[str, str]
) -> None:
    async def story(room: Room) -> None:
        before = room.jira.state()
        refused = await room.post("/issue", new(**fields))
        assert (refused.status_code, refused.json()) == (400, {"errorMessages": [], "errors": errors})
        assert room.jira.state() == before

    play(story)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"description": None, "assignee": None, "priority": {"name": "High"}}, 204),
        ({"summary": ""}, 400),
        ({"description": "plain"}, 400),
        ({"status": {"name": "Done"}}, 400),
        ({"priority": {"name": "Urgent"}}, 400),
    ],
)
def test_simulated_jira_edit_changes_all_fields_or_none(fields: dict[str, object], status: int) -> None:
    async def story(room: Room) -> None:
        before = room.issue()
        assert (await room.put("/issue/OPS-7", {"fields": fields})).status_code == status
        after = room.issue()
        changed = (after.description, after.assignee, after.priority) == (None, "", "High")
        assert changed == (status == 204)
        assert (after == before) == (status == 400)
        whole = await room.http.put(
            "http://jira/rest/api/3/issue/OPS-7?returnIssue=true", headers=room.headers, json={"update": {}}
        )
        assert (whole.status_code, whole.json()["key"]) == (200, "OPS-7")
        assert (await room.put("/issue/OPS-7", {"update": {"summary": [{"set": "x"}]}})).status_code == 400
        assert (await room.put("/issue/OPS-7", {"fields": {}, "colour": 1})).status_code == 400

    play(story)


def test_simulated_jira_pages_comments_and_keeps_their_properties() -> None:
    async def story(room: Room) -> None:
        body = {"body": document(paragraph("Third")), "properties": [{"key": "k", "value": {"a": 1}}]}
        written = await room.post("/issue/OPS-7/comment", body)
        assert written.status_code == 201
        page = (await room.get("/issue/OPS-7/comment", startAt=1, maxResults=1)).json()
        assert (page["startAt"], page["maxResults"], page["total"], len(page["comments"])) == (1, 1, 3, 1)
        newest = (await room.get("/issue/OPS-7/comment", orderBy="-created")).json()["comments"][0]
        assert newest["id"] == written.json()["id"]
        listed = await room.http.post(
            "http://jira/rest/api/3/comment/list?expand=properties",
            headers=room.headers,
            json={"ids": [int(newest["id"])]},
        )
        assert listed.json()["values"][0]["properties"] == [{"key": "k", "value": {"a": 1}}]
        assert (await room.get(f"/issue/OPS-7/comment/{newest['id']}")).json() == newest
        assert (await room.get("/issue/OPS-7/comment/1")).status_code == 404
        for wrong in ({"body": "plain"}, {"body": document()}, {"body": document({"type": "heading"})}):
            assert (await room.post("/issue/OPS-7/comment", wrong)).status_code == 400

    play(story)


@pytest.mark.parametrize(
    ("jql", "keys"),
    [
        ("project = OPS", ["OPS-9", "OPS-7"]),
        ("project = OPS ORDER BY key ASC", ["OPS-7", "OPS-9"]),
        ('text ~ "export night" AND project = ops', ["OPS-7"]),
        ('text ~ "release" AND type = Bug AND status = "To Do"', ["OPS-7"]),
        ('summary ~ "release"', []),
        ("labels = export AND reporter != currentUser()", ["OPS-7"]),
        ("key in (OPS-7, OPS-9) AND assignee = " + '"5b10a2844c20165700ede22h"', ["OPS-7"]),
        ("creator = currentUser() AND created >= -90m", []),
        ("created >= -90m AND project in (OPS) ORDER BY updated DESC", ["OPS-9", "OPS-7"]),
        ("created >= -5m", []),
    ],
)
def test_simulated_jira_finds_issues_by_jql(jql: str, keys: list[str]) -> None:
    async def story(room: Room) -> None:
        assert sorted(await room.found(jql)) == sorted(keys)

    play(story)


@pytest.mark.parametrize(
    ("jql", "words"),
    [
        ("", "Unbounded"),
        ("ORDER BY created", "Unbounded"),
        ("project = HR", "The value 'HR' does not exist for the field 'project'."),
        ("status = Nowhere", "does not exist for the field 'status'"),
        ("key = OPS-99", "An issue with key 'OPS-99' does not exist"),
        ("colour = red", "Field 'colour' does not exist"),
        ('text ~ "a (b"', "Unable to parse the text"),
        ('text = "a"', "The operator '=' is not supported by the 'text' field."),
        ("project = OPS OR project = WEB", "Expecting either 'OR' or 'AND' but got 'OR'"),
        ("project = {OPS}", "reserved JQL character"),
        ("project in (OPS", "Expecting ')'"),
        ("project", "Expecting operator"),
        ("project OPS OPS", "Expecting operator"),
        ('created >= "yesterday"', "Date value 'yesterday' is invalid"),
        ("project = OPS ORDER BY colour", "Expecting a field to order by"),
    ],
)
def test_simulated_jira_refuses_wrong_jql_with_the_reason(jql: str, words: str) -> None:
    async def story(room: Room) -> None:
        refused = await room.post("/search/jql", {"jql": jql})
        assert refused.status_code == 400
        assert words in refused.json()["errorMessages"][0]

    play(story)


def test_simulated_jira_search_lags_unless_reconciled_and_direct_reads_do_not() -> None:
    async def story(room: Room) -> None:
        created = (await room.post("/issue", new())).json()
        assert "OPS-10" not in await room.found("project = OPS")
        assert "OPS-10" in await room.found("project = OPS", reconcileIssues=[int(created["id"])])
        fetched = await room.post("/issue/bulkfetch", {"issueIdsOrKeys": ["OPS-10", "OPS-11", "HR-1"], "fields": []})
        assert [issue["key"] for issue in fetched.json()["issues"]] == ["OPS-10"]
        room.clock.advance(30)
        assert "OPS-10" in await room.found("project = OPS")

    play(story)


def test_simulated_jira_search_returns_ids_in_pages_by_token() -> None:
    async def story(room: Room) -> None:
        first = (await room.get("/search/jql", jql="project = OPS", maxResults=1)).json()
        assert [sorted(issue) for issue in first["issues"]] == [["id"]]
        assert first["isLast"] is False
        token = first["nextPageToken"]
        last = (await room.get("/search/jql", jql="project = OPS", maxResults=1, nextPageToken=token)).json()
        assert last["isLast"] is True
        assert "nextPageToken" not in last
        assert (await room.get("/search/jql", jql="project = WEB", nextPageToken=token)).status_code == 400
        assert (await room.get("/search", jql="project = OPS")).status_code == 410

    play(story)


def test_simulated_jira_answers_properties_links_people_and_projects() -> None:
    async def story(room: Room) -> None:
        assert (await room.put("/issue/OPS-7/properties/gofer", {"a": [1]})).status_code == 201
        assert (await room.put("/issue/OPS-7/properties/gofer", {"a": [2]})).status_code == 200
        assert (await room.get("/issue/OPS-7/properties/gofer")).json() == {"key": "gofer", "value": {"a": [2]}}
        assert (await room.get("/issue/OPS-7/properties")).json() == {"keys": [{"key": "gofer"}]}
        assert (await room.get("/issue/OPS-7/properties/other")).status_code == 404
        link = {"globalId": "g", "object": {"url": "https://acme.example/1", "title": "One"}}
        assert (await room.post("/issue/OPS-7/remotelink", link)).status_code == 201
        assert (await room.post("/issue/OPS-7/remotelink", link)).status_code == 200
        assert len((await room.get("/issue/OPS-7/remotelink")).json()) == 1
        assert (await room.post("/issue/OPS-7/remotelink", {"object": {"url": "x"}})).status_code == 400
        between = {"type": {"name": "Blocks"}, "inwardIssue": {"key": "OPS-7"}, "outwardIssue": {"key": "OPS-9"}}
        assert (await room.post("/issueLink", between)).status_code == 201
        unknown = await room.post("/issueLink", {**between, "type": {"name": "Befriends"}})
        assert unknown.status_code == 404
        assert unknown.json()["errorMessages"] == ["No issue link type with name 'Befriends' found."]
        assert (await room.get("/myself")).json()["accountId"] == OWN
        assert [user["accountId"] for user in (await room.get("/user/search", query="byron")).json()] == [ADA]
        assert [one["key"] for one in (await room.get("/project/search")).json()["values"]] == ["OPS", "WEB"]
        types = (await room.get("/issue/createmeta/OPS/issuetypes")).json()["issueTypes"]
        assert [one["name"] for one in types] == ["Bug", "Task", "Change"]
        fields = (await room.get(f"/issue/createmeta/OPS/issuetypes/{types[2]['id']}")).json()["fields"]
        assert {one["key"] for one in fields if one["required"]} == {"project", "issuetype", "summary", "priority"}
        assert (await room.get("/issue/createmeta/HR/issuetypes")).status_code == 404

    play(story)


def test_simulated_jira_hides_forbidden_issues_and_refuses_a_wrong_caller() -> None:
    async def story(room: Room) -> None:
        for key in ("HR-1", "OPS-99"):
            hidden = await room.get(f"/issue/{key}")
            assert hidden.status_code == 404
            assert hidden.json()["errorMessages"] == ["Issue does not exist or you do not have permission to see it."]
        assert (await room.get("/nothing")).status_code == 404
        assert (await room.put("/myself", {})).status_code == 405
        unread = await room.http.post("http://jira/rest/api/3/issue", headers=room.headers, content=b"{}")
        assert unread.status_code == 415
        assert (await room.post("/search/jql", {"jql": "project = OPS", "startAt": 0})).status_code == 400
        room.headers["Authorization"] = "Basic d3Jvbmc6d3Jvbmc="
        refused = await room.get("/myself")
        assert (refused.status_code, refused.headers["x-seraph-loginreason"]) == (401, "AUTHENTICATED_FAILED")
        with pytest.raises(ValueError, match="Expecting value"):
            refused.json()

    play(story)


def test_simulated_jira_faults_hit_the_matching_requests() -> None:
    async def story(room: Room) -> None:
        faults = room.jira.faults
        faults.add("*", "*", Fault("status", 429, {"Retry-After": "3"}))
        faults.add("*", "*", Fault("status", 503))
        faults.add("*", "*", Fault("expired_token"))
        faults.add("*", "*", Fault("slow", seconds=0.001))
        busy = await room.get("/myself")
        assert (busy.status_code, busy.headers["retry-after"]) == (429, "3")
        assert [(await room.get("/myself")).status_code for _ in range(4)] == [503, 401, 200, 200]
        faults.add("POST", "*/issue", Fault("timeout_after_success"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await room.post("/issue", new())
        assert room.issue("OPS-10").summary == "It is broken"

    play(story)


def test_simulated_jira_site_has_custom_priorities_roles_and_resolutions() -> None:
    names = {"priorities": ["P1", "P2"], "roles": ["Owners"], "link_types": ["Causes"]}
    resolution = OwnField("resolution", "Resolution", {"type": "resolution"}, options=("Fixed",))

    async def story(room: Room) -> None:
        site = room.jira.site
        site.names = Names(**{name: tuple(values) for name, values in names.items()})
        site.projects["OPS"] = replace(site.projects["OPS"], screens={"In Progress": (resolution,)})
        await room.post("/issue", new(priority={"id": "2"}))
        await room.post("/issue", new())
        assert [room.issue(key).priority for key in ("OPS-10", "OPS-11")] == ["P2", "P1"]
        said = {"body": document(paragraph("x")), "visibility": {"type": "role", "value": "Administrators"}}
        refused = await room.post("/issue/OPS-10/comment", said)
        sentence = "You are currently not a member of the project role: Administrators."
        assert (refused.status_code, refused.json()["errors"]) == (400, {"commentLevel": sentence})
        shown = (await room.get("/issue/OPS-10/transitions", expand="transitions.fields")).json()["transitions"]
        (move,) = (one for one in shown if one["name"] == "In Progress")
        assert move["fields"]["resolution"]["allowedValues"] == [{"id": "1", "name": "Fixed"}]
        done = {"transition": {"id": move["id"]}, "fields": {"resolution": {"id": "2"}}}
        assert (await room.post("/issue/OPS-10/transitions", done)).status_code == 400
        done["fields"] = {"resolution": {"id": "1"}}
        assert (await room.post("/issue/OPS-10/transitions", done)).status_code == 204

    play(story)


def test_simulated_jira_state_shows_the_comments_people_see() -> None:
    async def story(room: Room) -> None:
        before = room.jira.state()
        await room.post("/issue/OPS-7/comment", {"body": document(paragraph("Seen"))})
        after = room.jira.state()
        assert after["OPS-7"]["comments"][2] == {"author": OWN, "body": "Seen"}  # type: ignore[index]
        assert after.pop("OPS-7") != before.pop("OPS-7")
        assert after == before

    play(story)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"site": "Not A Site"}, "jira.site"),
        ({"colour": "red"}, "jira.colour"),
        ({"account": "nobody"}, "jira.account"),
        ({"issues": [{"key": "NO-1", "summary": "x", "reporter": ADA}]}, "issues NO-1"),
        ({"issues": [{"key": "OPS-1", "summary": "x", "reporter": ADA, "type": "Epic"}]}, "no such type"),
        ({"issues": [{"key": "OPS-1", "summary": "x", "reporter": "nobody"}]}, "'nobody'"),
        ({"issues": [{"key": "OPS-1", "summary": "x", "reporter": ADA, "priority": "P1"}]}, "no priority 'P1'"),
        ({"priorities": []}, "jira.priorities"),
    ],
)
def test_simulated_jira_world_with_a_mistake_is_refused_at_the_place(change: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        JiraSimulator(WORLD | change, clock=lambda: 0.0, http=loopback.client())
