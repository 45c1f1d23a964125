"""The candidates of this folder: requests without a workflow of their own, and passages that prompts share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from gofer.app.operations import Operations
from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.journal.coordination import DAY_MS
from gofer.learning.candidates.candidates import Candidate, candidates
from gofer.learning.candidates.candidates_text import Found
from gofer.learning.candidates.requests import read_requests
from gofer.learning.candidates.sketch import workflow_file
from gofer.runtime.run_reader import RunReader
from gofer.sources.workflow_files import load_catalog
from gofer.tools.company import load_company
from gofer.workflows.load import Catalog
from gofer.workflows.skill import FOLDER as SKILLS

AGENTS = "agents"
_PROMPTS = (AGENTS, "subagents", SKILLS)
_NOBODY = "#owner"


async def candidates_of(opened: Operations, root: Path, days: int) -> Found:
    """Return the candidates among the public runs of some days. Raises ConfigError, TemporaryError."""
    since = int(opened.clock.now() * 1000) - days * DAY_MS
    read = await read_requests(RunReader(opened.stores, opened.clock, {}), since)
    found = candidates(read.requests)
    catalog = load_catalog(root / AGENTS)
    known = list(build_tools(read_settings({}), company=load_company(root)))
    files = {one.name: workflow_file(one, _owner(one, catalog), known) for one in found}
    return Found(
        days=days,
        looked_at=read.looked_at,
        requests=len(read.requests),
        unread=read.unread,
        candidates=found,
        files=files,
    )


def _owner(candidate: Candidate, catalog: Catalog) -> str:
    """Return the owner of the workflow that answered most of the requests."""
    for name, _ in Counter(candidate.workflows).most_common():
        if loaded := catalog.workflows.get(name):
            return loaded.workflow.owner
    return _NOBODY


def prompts_of(root: Path) -> Mapping[str, str]:
    """Return the texts of the prompts and skills of a folder by their paths. A file that is no UTF-8 is left out."""
    found: dict[str, str] = {}
    for path in _files(root):
        try:
            found[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    return found


def _files(root: Path) -> Sequence[Path]:
    return [path for folder in _PROMPTS for path in sorted((root / folder).rglob("*.md"))]
