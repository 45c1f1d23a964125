"""How does a worker follow what is published? By whole bundles, with the scripts that were deployed with it."""

from pathlib import Path

from gofer.sources.workflow_files import WorkflowForm, load_catalog
from gofer.values.outside import Clock
from gofer.workflows.load import Catalog
from gofer.workflows.publication import AGENTS, LiveCatalog, read_catalog
from gofer.workflows.published import BundleStore, Live, bundle_key


def live_catalog(shelf: BundleStore, clock: Clock, code: Path) -> LiveCatalog:
    """The workflows of a worker, for its `live`; `code` is where the package has `coordinators/`.

    The package's own `agents/`, if it has them, count as long as nothing was ever published.
    """

    def load(raw: bytes) -> Catalog:
        return read_catalog(raw, code, WorkflowForm)

    packaged = load_catalog(code / AGENTS) if (code / AGENTS).is_dir() else None
    return LiveCatalog(Live(shelf, clock, bundle_key, load, packaged))
