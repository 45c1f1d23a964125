"""The lines that the recorded runs of an installation would have needed in the workflow files of a folder."""

from collections.abc import Sequence
from pathlib import Path

from gofer.app.candidates import AGENTS
from gofer.app.operations import Operations
from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.evals.public_runs import public_runs
from gofer.learning.needed_lines import needed_by, needed_text
from gofer.runtime.run_reader import RunReader
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import load_company

DAYS = 30


async def lines_of_runs(opened: Operations, root: Path) -> Sequence[str]:
    """Return the lines for people, from the public runs of the last 30 days. Raises ConfigError, TemporaryError."""
    records = await public_runs(RunReader(opened.stores, opened.clock, {}), DAYS)
    workflows = {name: one.workflow for name, one in load_catalog(root / AGENTS).workflows.items()}
    tools = build_tools(read_settings({}), company=load_company(root))
    return list(needed_text(needed_by(records, workflows, tools), DAYS))
