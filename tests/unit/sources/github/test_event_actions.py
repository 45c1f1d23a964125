"""The actions of GitHub's events: which start a workflow without `action`, and which only by name."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from gofer.sources.github.event_actions import ACTIONS
from gofer.sources.github.receiver import GitHubReceiver
from gofer.sources.receiver import RawRequest
from gofer.sources.workflow_files import TriggerForm
from gofer.values.events import Event
from gofer.workflows.routes import passes

RECORDED = Path(__file__).parents[3] / "events"
EVENTS = {
    "github.pull_request": ("pull_request", "github_pull_request_merged", "pull_request"),
    "github.issue": ("issues", "github_issue_labeled", "issue"),
    "github.comment": ("issue_comment", "github_issue_comment", "issue"),
    "github.review": ("pull_request_review", "github_review", "pull_request"),
}
LATER = "2026-11-23T09:00:00Z"
"""A time after each recorded object was made."""


def event(kind: str, action: str, *, label: str = "", at: str = LATER) -> Event:
    """Return the event of a recorded payload with another action, in which `label` was added."""
    name, recorded, thing = EVENTS[kind]
    payload = json.loads((RECORDED / f"{recorded}.json").read_text())
    body: dict[str, Any] = copy.deepcopy(payload.get("body", payload))
    body["action"] = action
    body[thing] |= {"created_at": "2026-11-01T09:00:00Z", "updated_at": at, "labels": [{"name": "bug"}]}
    body.pop("label", None)
    if label:
        body["label"] = {"id": 7, "name": label}
        body[thing]["labels"].append({"name": label})
    found = GitHubReceiver(()).translate(RawRequest("POST", "", (("x-github-event", name),), json.dumps(body).encode()))
    assert isinstance(found, Event)
    return found


def starts(kind: str, happened: Event, **conditions: object) -> bool:
    ((_, where),) = TriggerForm.model_validate({kind: conditions}).compiled()
    return passes(where, happened.facts, whole=True)


@pytest.mark.parametrize("kind", ACTIONS)
def test_trigger_without_an_action_starts_on_new_objects_and_texts(kind: str) -> None:
    published = ACTIONS[kind]
    assert [one for one in published.every if starts(kind, event(kind, one))] == list(published.starts)
    assert all(starts(kind, event(kind, one), action="*") for one in published.every)
    by_name = [one for one in published.named if one != "merged"]
    assert all(starts(kind, event(kind, one), action=one) for one in by_name)


@pytest.mark.parametrize("kind", ["github.pull_request", "github.issue"])
def test_trigger_with_a_label_starts_when_the_label_is_added(kind: str) -> None:
    assert starts(kind, event(kind, "labeled", label="bug"), label="bug")
    assert starts(kind, event(kind, "opened"), label="b*")
    # The issue has the label `bug`, but another one was added.
    assert not starts(kind, event(kind, "labeled", label="later"), label="bug")
    assert not starts(kind, event(kind, "labeled", label="bug"))


def test_issue_opened_with_labels_is_one_event() -> None:
    opened_with = event("github.issue", "labeled", label="bug", at="2026-11-01T09:00:00Z")
    assert not starts("github.issue", opened_with, label="bug")
    assert starts("github.issue", opened_with, action="labeled", label="bug")
