"""The bundles with which runs of the workflows of a repository would begin now."""

from collections.abc import Mapping
from pathlib import Path

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.engine.services import offered_tools
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import load_company
from gofer.workflows.bundle import Bundle


def current_bundles(root: Path) -> Mapping[str, Bundle]:
    """Return the bundle with which a run of each workflow of a repository would begin now, by workflow.

    The prices in it are those of the published price list. Raises ConfigError.
    """
    tools = build_tools(read_settings({}), company=load_company(root))
    workflows = load_catalog(root / "agents").workflows
    return {
        name: Bundle(loaded, [tool.schema() for tool in offered_tools(tools, loaded)])
        for name, loaded in workflows.items()
    }
