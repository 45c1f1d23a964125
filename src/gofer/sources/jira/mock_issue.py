"""The issue that mocks of Jira's tools show."""

from gofer.sources.jira.api import Fields
from gofer.tools.mock_ids import MOMENT, NAME, digits


def mock_issue(key: str, summary: str = "Something to do", status: str = "", kind: str = "") -> Fields:
    """Return an issue as Jira gives it."""
    project = key.rpartition("-")[0]
    fields: Fields = {
        "summary": summary,
        "status": {"name": status or "To Do"},
        "issuetype": {"name": kind or "Task"},
        "project": {"key": project, "name": project},
        "priority": {"name": "Medium"},
        "labels": ["later"],
        "assignee": None,
        "reporter": {"displayName": NAME},
        "created": MOMENT,
        "updated": MOMENT,
        "description": adf_of("What has to be done stands here."),
        "attachment": [],
        "security": None,
    }
    return {"key": key, "id": digits(key, 5), "fields": fields}


def adf_of(words: str) -> Fields:
    """Return a document of one paragraph."""
    paragraph = {"type": "paragraph", "content": [{"type": "text", "text": words}]}
    return {"version": 1, "type": "doc", "content": [paragraph]}
