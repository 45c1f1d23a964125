"""A recorded conversation, played in a world with other channels, people, messages and issues."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.app.command_line import gofer
from support.evals.small_repository import SmallRepository, report

pytestmark = pytest.mark.usefixtures("terminal")
Capture = pytest.CaptureFixture[str]

WORKFLOW = """\
description: Files a ticket for a person who asks.
owner: "#ops"
when: [slack.mention]
tools: [slack_read_thread, jira_create_issue, jira_add_comment, jira_get_issue]
writes: {jira: [PAY]}
"""
SCRIPTS = [
    {
        "name": "two-turns.second",
        "when": {"says": "add that it is urgent"},
        "steps": [
            {"calls": [{"jira_add_comment": {"issue": "PAY-1", "text": "It is urgent."}}]},
            {"text": "Noted in PAY-1."},
        ],
    },
    {
        "name": "two-turns.first",
        "steps": [
            {
                "calls": [
                    {
                        "jira_create_issue": {
                            "project": "PAY",
                            "type": "Bug",
                            "summary": "Refunds",
                            "description": "Paid twice.",
                        }
                    }
                ]
            },
            {"text": "Filed as PAY-1."},
        ],
    },
]
COMMENT = {"jira_add_comment": {"arguments": {"issue": "PAY-1"}, "times": 1}}


def world(person: str, channel: str, issues: int) -> Mapping[str, Any]:
    """Return a Slack with one channel, and a Jira in which some issues exist."""
    return {
        "slack": {
            "team": {"id": "T0ACME00", "domain": "acme", "name": "Acme"},
            "app": {"id": "A0GOFER0"},
            "bot": {"user": "U0GOFER0", "bot_id": "B0GOFER0", "name": "Gofer"},
            "users": [{"id": person, "name": f"Person {person[-2:]}"}],
            "channels": [{"id": channel, "name": "general", "members": ["U0GOFER0", person]}],
            "messages": [],
        },
        "jira": {
            "site": "acme",
            "account": "712020:gofer",
            "users": [{"account_id": "712020:gofer", "name": "Gofer", "app": True}],
            "projects": [{"key": "PAY", "name": "Payments"}],
            "issues": [
                {"key": f"PAY-{n}", "summary": "Old", "type": "Bug", "status": "To Do", "reporter": "712020:gofer"}
                for n in range(1, issues + 1)
            ],
        },
    }


def mention(person: str, channel: str, ts: str, text: str, thread: str = "") -> Mapping[str, Any]:
    event = {"type": "app_mention", "user": person, "team": "T0ACME00", "channel": channel, "ts": ts, "event_ts": ts}
    if thread:
        event["thread_ts"] = thread
    return {
        "type": "event_callback",
        "team_id": "T0ACME00",
        "api_app_id": "A0GOFER0",
        "event_id": f"Ev{ts}",
        "event_time": int(float(ts)),
        "authorizations": [{"team_id": "T0ACME00", "user_id": "U0GOFER0", "is_bot": True}],
        "event": {**event, "text": f"<@U0GOFER0> {text}"},
    }


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> SmallRepository:
    """A repository with the golden `two` of a conversation, in which turn 2 comments on the issue of turn 1."""
    made = SmallRepository(tmp_path)
    (tmp_path / "agents" / "pager.yaml").write_text(WORKFLOW)
    (tmp_path / "evals" / "scripts" / "pager.yaml").write_text(yaml.safe_dump(SCRIPTS))
    first = mention("U0FIRST1", "C0FIRST1", "1772442000.000100", "file a ticket")
    second = mention("U0FIRST1", "C0FIRST1", "1772442300.000100", "add that it is urgent", "1772442000.000100")
    made.cases(
        {
            "name": "two-turns",
            "world": world("U0FIRST1", "C0FIRST1", issues=0),
            "trigger": {"payload": first},
            "then": [{"trigger": {"payload": second}, "expect": {"tools": {"required": [COMMENT]}, "checks": "none"}}],
            "expect": {"checks": "none"},
        }
    )
    monkeypatch.chdir(tmp_path)
    gofer(capsys, "eval", "--record")
    code, out, err = gofer(capsys, "eval", "--json", "first.json")
    assert code == 0, out + err
    runs = report(tmp_path / "first.json")["cases"][0]["runs"][0]["runs"]
    code, _, err = gofer(capsys, "golden", runs[1], "--thread", "--name", "two")
    assert (code, err) == (0, "")
    return made


def in_another_world(made: SmallRepository, **case: Any) -> None:
    first = mention("U0OTHER7", "C0OTHER7", "1790000000.000700", "file a ticket")
    other = {"name": "two-in-another-world", "golden": "two", "world": world("U0OTHER7", "C0OTHER7", issues=40)}
    made.cases({**other, "trigger": {"payload": first}, "expect": {"checks": "none"}, **case})


def test_later_turn_names_the_issue_that_the_first_turn_created_in_this_world(
    capsys: Capture, repository: SmallRepository
) -> None:
    in_another_world(repository)
    assert gofer(capsys, "check")[0] == 0
    code, out, _ = gofer(capsys, "eval", "evals/pager.yaml", "--json", "other.json")
    assert code == 0, out
    assert "1 passed (1 harness only)" in out
    runs = report(repository.path / "other.json")["cases"][0]["runs"][0]["runs"]
    assert len(runs) == 2
    steps = json.loads(gofer(capsys, "trace", runs[1], "--json", "--full")[1])["steps"]
    comments = [step for step in steps if step["kind"] == "tool.call" and step["tool"] == "jira_add_comment"]
    assert [json.loads(step["input"])["issue"] for step in comments] == ["PAY-41"]
    assert any("Noted in PAY-41." in str(step.get("output")) for step in steps)


def test_changed_expectation_fails_with_the_ids_of_this_world(capsys: Capture, repository: SmallRepository) -> None:
    in_another_world(repository, expect={"tools": {"forbidden": ["jira_create_issue"]}, "checks": "none"})
    code, out, _ = gofer(capsys, "eval", "evals/pager.yaml")
    assert code == 1
    assert "no call of jira_create_issue" in out


def test_given_id_of_the_world_is_used(capsys: Capture, repository: SmallRepository) -> None:
    in_another_world(repository, ids={"PAY-1": "PAY-7"})
    code, out, _ = gofer(capsys, "eval", "evals/pager.yaml", "--json", "other.json")
    assert code == 0, out
    runs = report(repository.path / "other.json")["cases"][0]["runs"][0]["runs"]
    steps = json.loads(gofer(capsys, "trace", runs[1], "--json", "--full")[1])["steps"]
    comments = [step for step in steps if step["kind"] == "tool.call" and step["tool"] == "jira_add_comment"]
    assert [json.loads(step["input"])["issue"] for step in comments] == ["PAY-7"]


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ({"world": None}, "has a `trigger` and no `world` in which it could be played"),
        ({"ids": {"PAY-1": "PAY-7", "PAY-2": "PAY-7"}}, "Two recorded ids become `PAY-7`."),
        ({"ids": {"PAY-9": "PAY-7"}}, "The golden `two` has no id `PAY-9`."),
        ({"trigger": None}, "so `world` means nothing"),
    ],
)
def test_golden_that_cannot_be_played_in_a_world_is_refused(
    capsys: Capture, repository: SmallRepository, case: Mapping[str, Any], problem: str
) -> None:
    in_another_world(repository, **case)
    path = repository.path / "evals" / "pager.yaml"
    written = yaml.safe_load(path.read_text())
    del written["world"]
    written["cases"] = [{key: value for key, value in one.items() if value is not None} for one in written["cases"]]
    path.write_text(yaml.safe_dump(written))
    code, out, _ = gofer(capsys, "check")
    assert code == 1
    assert problem in out
