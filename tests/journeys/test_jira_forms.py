"""A Jira project with forms that ask for more than a summary: from a comment to a new issue, which is closed."""

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from gofer_simulators.jira.simulator import JiraSimulator
from support.app.company import company
from support.app.one_workflow import world
from support.engine.memory_run import ListModel, says
from support.vendors.jira import ADA, FORMS

pytestmark = pytest.mark.anyio
WORKFLOW = """description: d
owner: "#o"
when: [jira.commented]
tools: [jira_create_issue, jira_get_form, jira_transition_issue]
writes: {jira: [PAY]}
"""
BUG: dict[str, object] = {"project": "PAY", "type": "Bug", "summary": "Refund Ada", "description": "Twice."}
FILLED: dict[str, object] = {"fields": {"Components": ["ledger"], "Requestor": "Ada Byron", "Severity": "high"}}
RESOLUTIONS = "Done, Won't Do, Duplicate, Cannot Reproduce"
DONE: dict[str, object] = {"issue": "PAY-2", "status": "Done"}


async def test_run_learns_the_fields_of_a_form_from_refusals_and_sets_each(tmp_path: Path) -> None:
    model = ListModel(
        [
            says("", ("jira_create_issue", BUG)),
            says("", ("jira_create_issue", BUG | FILLED)),
            says("", ("jira_get_form", DONE)),
            says("", ("jira_transition_issue", DONE)),
            says("", ("jira_transition_issue", DONE | {"fields": {"Resolution": "Done"}})),
            says("Closed PAY-2."),
        ]
    )
    agents = tmp_path / "repository" / "agents"
    agents.mkdir(parents=True)
    (agents / "w.yaml").write_text(WORKFLOW)
    (agents / "w.md").write_text("Help.")
    (agents / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    everything: dict[str, Any] = {**world(), "jira": copy.deepcopy(FORMS)}
    async with company(tmp_path, root=tmp_path / "repository", world=everything, model=model) as made:
        jira = made.embedded.simulated.system(JiraSimulator)
        assert jira is not None
        jira.people.comment(ADA, jira.site.issue("OPS-7"), "Please file it and close it.")
        async with asyncio.timeout(60):
            while not await made.ended():
                await asyncio.sleep(0.01)
        state = jira.state()
    made_issues = [key for key in state if key.startswith("PAY-")]
    assert made_issues == ["PAY-1", "PAY-2"]
    assert state["PAY-2"]["status"] == "Done"  # type: ignore[index]
    results = [
        str(message["content"]) for message in json.loads(model.requests[-1])["messages"] if message["role"] == "tool"
    ]
    assert [result.partition("\n")[0].partition(" http")[0] for result in results] == [
        "Jira refused that (400): Components: Components is required. It takes one or more of: Web, Ledger.",
        "Created PAY-2.",
        "The form of PAY-2 on its way to Done:",
        f"Jira refused that (400): Resolution: Resolution is required. It takes one of: {RESOLUTIONS}.",
        "PAY-2 is in Done.",
    ]
