"""The bundles with which runs of the workflows of a repository would begin now."""

from collections.abc import Sequence
from pathlib import Path

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.engine.services import new_bundle
from gofer.evals.affected import FileVersion
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import CompanyTool, load_company
from gofer.workflows.load import Catalog


def current_files(root: Path) -> FileVersion:
    """Return the bundles with which runs of the workflows of a repository would begin now.

    The prices in them are those of the published price list. Raises ConfigError.
    """
    return file_version(load_catalog(root / "agents"), load_company(root))


def file_version(catalog: Catalog, company: Sequence[CompanyTool]) -> FileVersion:
    """Return the bundles with which runs of loaded workflows would begin, with the tools of their company."""
    tools = build_tools(read_settings({}), company=company)
    bundles = {name: new_bundle(tools, loaded) for name, loaded in catalog.workflows.items()}
    return FileVersion(bundles, tools)
