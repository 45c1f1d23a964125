"""The prefix that the requests of all workflows share, which a provider caches once."""

from pathlib import Path

import pytest

from gofer.app.catalog import known_tools
from gofer.engine.services import offered_tools
from gofer.projections.requests.request_parts import head
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.sources.workflow_files import load_catalog
from gofer.values.canonical_json import encode
from gofer.workflows.load import Catalog, Loaded
from support.engine.memory_run import memory_run

ROOT = Path(__file__).parents[3]
BASE = {"description": "d", "owner": "#o", "when": ["slack.mention"]}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(ROOT / "agents")


def offered(loaded: Loaded) -> list[str]:
    made = memory_run()
    made.tools |= known_tools()
    return [tool.name for tool in offered_tools(made.tools, loaded)]


def begins(loaded: Loaded) -> bytes:
    """Return the bytes of a request of a workflow up to the end of its system prompt."""
    made = memory_run()
    made.tools |= known_tools()
    return head({"model": "m"}, [tool.schema() for tool in offered_tools(made.tools, loaded)], loaded.system)


def test_requests_of_all_shipped_workflows_begin_with_the_same_tools(catalog: Catalog) -> None:
    made = memory_run()
    made.tools |= known_tools()
    kinds = ("all", "model", "plan", "skills")
    base = [tool for kind in kinds for tool in made.tools.values() if tool.base == kind]
    shared = encode({"model": "m", "tools": [tool.schema() for tool in base]})[:-2]
    heads = {name: begins(one) for name, one in catalog.workflows.items() if one.workflow.coordinator == "llm"}
    assert len(heads) > 4
    assert [name for name, bytes_ in heads.items() if not bytes_.startswith(shared)] == []


def test_prompts_of_all_shipped_workflows_begin_with_preamble_and_plan_rules(catalog: Catalog) -> None:
    preamble = (ROOT / "agents" / "preamble.md").read_text().strip()
    systems = {name: one.system for name, one in catalog.workflows.items() if one.workflow.coordinator == "llm"}
    assert [name for name, text in systems.items() if not text.startswith(f"{preamble}\n\n# Your plan\n\n")] == []


def test_common_tools_come_before_rarer_tools_in_a_request() -> None:
    given = {**BASE, "tools": ["slack_read_thread", "jira_search"], "subagents": ["s"], "search_above": 1}
    workflow = Workflow.model_validate(given)
    names = offered(Loaded("w", workflow, "You are a test.", "p.md", ("m",)))
    assert (names[0], names[-3:]) == ("file_read", ["tool_search", "call_tool", "subagent"])
    listed = workflow.model_copy(update={"search_above": 30})
    names = offered(Loaded("w", listed, "You are a test.", "p.md", ("m",)))
    assert names[-3:] == ["subagent", "slack_read_thread", "jira_search"]


def test_script_has_no_tools_for_models() -> None:
    given = {**BASE, "coordinator": "script", "coordinator_script": "coordinators/s.py", "tools": ["jira_search"]}
    made = memory_run()
    made.tools |= known_tools()
    granted = made.services().granted(Workflow.model_validate(given))
    assert {tool.base for tool in granted.values()} == {"all", ""}
