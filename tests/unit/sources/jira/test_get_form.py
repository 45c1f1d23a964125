"""The forms of Jira as text for a model, against the simulated Jira."""

from typing import Any

import pytest

from gofer.sources.jira.form import TEXT_LIMIT
from gofer.sources.jira.get_form import GetForm, jira_get_form
from gofer.values.errors import ToolError
from support.vendors.jira import API, FORMS, Room, call_of, own_fields, play


def test_jira_form_of_a_new_issue_lists_required_fields_first_with_their_values() -> None:
    async def story(room: Room) -> None:
        read = await jira_get_form.act(API, call_of(room), GetForm(project="pay", type="bug"))
        assert read.text.splitlines() == [
            "The form of Bug in PAY:",
            "- Components (required): one or more of: Web, Ledger",
            "- Requestor (required): a person, by full name or e-mail address",
            "- Labels: labels, each one word",
            "- Assignee: a person, by full name or e-mail address",
            "- Priority: one of: Highest, High, Medium, Low, Lowest",
            "- Due date: a date, as 2026-11-21",
            "- Environment: a text in Markdown",
            "- Parent: the key of an issue, such as OPS-7",
            "- Time tracking: an estimate, as 2d 4h",
            "- Attachment: (files)",
            "- Severity: one of: Low, High",
            "- Device: one of: Phone, Computer, Computer > Laptop, Computer > Desktop",
            "- Steps: a text in Markdown",
            "- Cost: a number",
            "- Begin: a time with its zone, as 2026-11-21T14:30+01:00",
            "- Watchers: a person, by full name or e-mail address",
            "- Group: the name of a group",
            "- Tags: labels, each one word",
            "- Page: an address that begins with https:// or http://",
            "- Sprint: a sprint that issues of the project are in, by name, or any by its number",
            "- Team: a team that issues of the project have, by name, or any by its id",
            "- Epic Link: the key of an epic, such as OPS-7",
            "- Server: (objects of Assets)",
            "- Reference (customfield_15): a text on one line",
            "- Reference (customfield_16): a text on one line",
            "- Dashboard: (a type of field that Gofer does not know: wall)",
        ]
        assert read.details == {"required": ["Components", "Requestor"]}

    play(story, FORMS)


def test_jira_form_of_a_step_lists_its_fields() -> None:
    async def story(room: Room) -> None:
        read = await jira_get_form.act(API, call_of(room, issue="PAY-1"), GetForm(status="done", field="resol"))
        assert read.text.splitlines() == [
            "The form of PAY-1 on its way to Done:",
            "- Resolution (required): one of: Done, Won't Do, Duplicate, Cannot Reproduce",
        ]
        with pytest.raises(ToolError, match="from there Gofer can move it to: In Progress, Done"):
            await jira_get_form.act(API, call_of(room, issue="PAY-1"), GetForm(status="Gone"))
        with pytest.raises(ToolError, match=r"PAY-1 is in To Do already\."):
            await jira_get_form.act(API, call_of(room, issue="PAY-1"), GetForm(status="To Do"))

    play(story, FORMS)


def test_jira_form_without_a_type_names_the_types_and_without_a_project_asks_for_one() -> None:
    async def story(room: Room) -> None:
        with pytest.raises(ToolError, match=r"PAY has no type ''\. The types of PAY are: Bug, Task, Alert\."):
            await jira_get_form.act(API, call_of(room), GetForm(project="PAY"))
        with pytest.raises(ToolError, match="Say the project and the type"):
            await jira_get_form.act(API, call_of(room), GetForm(type="Bug"))
        with pytest.raises(ToolError, match=r"no issues in a project NO\. The projects are: OPS, PAY, WEB"):
            await jira_get_form.act(API, call_of(room), GetForm(project="NO", type="Bug"))

    play(story, FORMS)


def test_jira_form_of_300_fields_with_5000_values_is_a_short_text_that_counts_the_others() -> None:
    severity = own_fields()[7]
    many = [
        severity | {"id": f"customfield_{number}", "name": f"Field {number}", "options": ["x" * 20] * 20}
        for number in range(100, 399)
    ]
    values = [f"Server {number:04}" for number in range(5_000)]
    last: dict[str, Any] = severity | {"id": "customfield_99", "name": "Server", "options": values}
    project = {"key": "BIG", "name": "Big", "issue_types": [{"name": "Bug", "fields": [*many, last]}]}
    world = FORMS | {"projects": [*FORMS["projects"], project]}

    async def story(room: Room) -> None:
        read = await jira_get_form.act(API, call_of(room), GetForm(project="BIG", type="Bug"))
        assert len(read.text) <= TEXT_LIMIT + 200
        assert "more fields are left out here.)" in read.text.splitlines()[-1]
        one = await jira_get_form.act(API, call_of(room), GetForm(project="BIG", type="Bug", field="server"))
        assert len(one.text) <= TEXT_LIMIT
        assert one.text.rstrip().endswith(" others")
        assert "Server 0400" in one.text

    play(story, world)
