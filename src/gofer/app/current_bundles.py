"""The bundles with which runs of the workflows of a repository would begin now."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.engine.services import offered_tools
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import CompanyTool, load_company
from gofer.workflows.bundle import Bundle
from gofer.workflows.load import Catalog


def current_bundles(root: Path) -> Mapping[str, Bundle]:
    """Return the bundle with which a run of each workflow of a repository would begin now, by workflow.

    The prices in it are those of the published price list. Raises ConfigError.
    """
    return bundles_of(load_catalog(root / "agents"), load_company(root))


def bundles_of(catalog: Catalog, company: Sequence[CompanyTool]) -> Mapping[str, Bundle]:
    """Return the bundle with which a run of each workflow would begin now, by workflow."""
    tools = build_tools(read_settings({}), company=company)
    return {
        name: Bundle(loaded, [tool.schema() for tool in offered_tools(tools, loaded)])
        for name, loaded in catalog.workflows.items()
    }
