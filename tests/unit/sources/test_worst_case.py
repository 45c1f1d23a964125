"""What a workflow could do at worst, in one paragraph."""

import pytest

from gofer.app.catalog import known_tools
from gofer.sources.workflow_files import WorkflowForm
from gofer.sources.worst_case import outsiders, worst_case


def paragraph(**keys: object) -> str:
    whole = {"description": "d", "owner": "#o", "when": ["slack.mention"], **keys}
    return worst_case(WorkflowForm.model_validate(whole), known_tools())


def test_paragraph_names_starters_reads_writes_questions_and_harm() -> None:
    tools = [
        "github_read_file",
        {"jira_create_issue": {"most": 5, "once": "per_message", "arguments": {"priority": "none"}}},
        "slack_post_message",
    ]
    text = paragraph(
        tools=tools,
        who=["members", "guests"],
        reads={"github": ["acme"]},
        writes={"jira": ["PAY"]},
        approve={"tools": ["slack_post_message"], "by": "@leads"},
    )
    assert text == (
        "It is started by `slack.mention`, for members and guests. "
        "It reads GitHub: the place where it was started, and what all members or its asker may read. "
        "Of what only some people see, it reads acme in GitHub. "
        "Without asking, it calls `jira_create_issue` at most 5 times in a run, once for each message, issue or page, "
        "with bounds for `priority`, in Jira: where its asker's own words say or in PAY. "
        "It asks @leads before each call of `slack_post_message`. "
        "It asks its asker before it writes in any other place. "
        "At worst, a text that it reads makes its answer false and these calls say what the attacker wants, or what it "
        "read, to all who can read those places."
    )


def test_schedule_starts_runs_in_no_place() -> None:
    text = paragraph(
        when=[{"schedule": {"cron": "0 9 ? * MON *", "zone": "Europe/Berlin"}}],
        tools=["slack_post_message"],
        writes={"slack": ["#general"]},
        reply="none",
    )
    assert "`slack_post_message` at most 3 times in a run, in Slack: in #general." in text
    assert "makes these calls say" in text
    assert "asks its asker" not in text


def test_fields_of_a_call_and_linked_hosts_are_named() -> None:
    hook = {"name": "new-hire", "auth": {"token": {"header": "X-Key"}}, "fields": ["/name", "/start"]}
    text = paragraph(when=[{"webhook": hook}], links=["wiki.example.com"])
    assert "Of a call of `new-hire` it gets only `/name` and `/start`." in text
    assert "Its texts may link each page of wiki.example.com." in text


def test_script_decides_each_step_itself() -> None:
    text = paragraph(coordinator="script", coordinator_script="coordinators/a.py", tools=["slack_post_message"])
    assert "at most" not in text
    assert "A script decides each step" in text


def test_workflow_without_tools_only_answers() -> None:
    text = paragraph()
    assert "It reads only what it is about. It writes nothing outside without asking." in text
    assert text.endswith("At worst, a text that it reads makes its answer false.")


@pytest.mark.parametrize(
    ("when", "who", "found"),
    [
        ("slack.mention", ["members", "customers"], []),
        ("jira.commented", ["members", "customers"], ["customers"]),
        ("slack.mention", ["everyone"], ["everyone"]),
        ("slack.mention", ["members", "bots"], []),
    ],
)
def test_outsiders_are_people_from_outside_the_company(when: str, who: list[str], found: list[str]) -> None:
    keys = {"description": "d", "owner": "#o", "when": [when], "who": who}
    assert outsiders(WorkflowForm.model_validate(keys)) == found
