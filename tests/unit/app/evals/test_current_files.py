"""The bundles of the current files: the ones with which runs would begin now."""

from pathlib import Path

from gofer.app.evals.current_files import current_files
from gofer.values.canonical_json import as_object

ROOT = Path(__file__).parents[4]


def test_current_bundle_of_each_workflow_has_its_prompt_and_the_schemas_of_its_tools() -> None:
    bundles = current_files(ROOT).bundles
    assert set(bundles) == {path.stem for path in (ROOT / "agents").glob("*.yaml")} - {"defaults"}
    tickets = bundles["file-ticket"]
    names = [as_object(schema["function"])["name"] for schema in tickets.tools]
    assert "jira_create_issue" in names
    assert (ROOT / "agents" / "file-ticket.md").read_text().strip()[:80] in tickets.loaded.system
