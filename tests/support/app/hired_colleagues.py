"""Forty new colleagues for `new-hire-checklist`: the calls of the HR system, and a scripted model that prepares them.

The model takes the same steps for each colleague but one. Names, roles, teams and dates differ, and so do the words in
which it describes the tasks. The one colleague works remotely, so a third task ships the equipment.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gofer.models.language_model import Answer
from support.engine.memory_run import says

COLLEAGUES = 40
REMOTE = 27
"""The colleague who works remotely, counted from 0."""
_TEAMS = ("Payments", "Checkout", "Search", "Support", "Data", "Mobile", "Identity")
_ROLES = ("engineer", "designer", "analyst")
_LAPTOPS = (
    "Done when {} is set up and on the desk.",
    "The task is done once {} stands on the desk and starts.",
    "Set up {}; done when a first sign-in worked.",
)
_ACCOUNTS = (
    "Done when mail, chat and the repositories of {} are open.",
    "Mail, chat and everything that {} uses every day.",
    "Give the accounts that {} lists for a {}.",
)


def colleague(number: int) -> Mapping[str, object]:
    """Return the body that the HR system sends for one colleague."""
    return {
        "id": f"hire-{3000 + number}",
        "name": f"Colleague {number + 1:02}",
        "role": _ROLES[number % 3],
        "team": _TEAMS[number % 7],
        "start": f"2026-{10 + number % 3}-{1 + number % 28:02}",
        "manager": f"Lead of {_TEAMS[number % 7]}",
        "remote": number == REMOTE,
        "laptop": "the standard laptop",
    }


@dataclass
class HiringModel:
    """A model that prepares for a colleague in four turns."""

    bodies: list[bytes] = field(default_factory=list)

    async def ask(self, body: bytes, timeout: float) -> Answer:
        """Answer a request by the number of answers before it and the results so far."""
        self.bodies.append(body)
        messages: Sequence[Mapping[str, Any]] = json.loads(body)["messages"]
        who = _asked_about(messages)
        turn = sum(message["role"] == "assistant" for message in messages)
        keys = re.findall(r"Created ([A-Z]+-\d+)", " ".join(_texts(messages, "tool")))
        issues = " and ".join(keys)
        match turn:
            case 0:
                return says("", ("jira_search", {"project": "OPS", "text": who["name"]}))
            case 1:
                return says("", *(("jira_create_issue", task) for task in _tasks(who)))
            case 2:
                text = f"{who['name']} starts in {who['team']} on {who['start']}. Being prepared: {issues}."
                return says("", ("slack_post_message", {"channel": "#general", "text": text}))
            case _:
                return says(f"{issues}.")


def _asked_about(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the body in the first message of a user."""
    text = _texts(messages, "user")[0]
    found: Mapping[str, Any] = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
    return found


def _texts(messages: Sequence[Mapping[str, Any]], role: str) -> Sequence[str]:
    return [str(message["content"]) for message in messages if message["role"] == role]


def _tasks(who: Mapping[str, Any]) -> Sequence[dict[str, object]]:
    number = int(str(who["name"]).rpartition(" ")[2]) - 1
    team = str(who["team"])
    manager = f"Manager: {who['manager']}."
    laptop = _LAPTOPS[number % 3].format(who["laptop"])
    accounts = _ACCOUNTS[number % 3].format(team, who["role"])
    tasks = [
        _task(f"Prepare laptop for {who['name']}, {who['start']}", f"{laptop} {manager}"),
        _task(f"Grant accounts to {who['name']}, {who['start']}", f"{accounts} {manager}"),
    ]
    if who["remote"]:
        tasks.append(_task(f"Ship equipment to {who['name']}, {who['start']}", f"It arrives in time. {manager}"))
    return tasks


def _task(summary: str, description: str) -> dict[str, object]:
    return {"project": "OPS", "type": "Task", "summary": summary, "description": description}
