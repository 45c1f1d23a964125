"""The bundles of the current files: the ones with which runs would begin now."""

from pathlib import Path

from gofer.app.current_bundles import current_bundles
from gofer.values.canonical_json import as_object

ROOT = Path(__file__).parents[3]


def test_current_bundle_of_each_workflow_has_its_prompt_and_the_schemas_of_its_tools() -> None:
    bundles = current_bundles(ROOT)
    assert set(bundles) == {path.stem for path in (ROOT / "agents").glob("*.yaml")} - {"defaults"}
    tickets = bundles["file-ticket"]
    names = [as_object(schema["function"])["name"] for schema in tickets.tools]
    assert "jira_create_issue" in names
    assert (ROOT / "agents" / "file-ticket.md").read_text().strip()[:80] in tickets.loaded.system
