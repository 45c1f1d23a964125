"""The recorded runs that the files of a repository affect: its goldens, and the public runs of a place."""

from collections.abc import Sequence
from pathlib import Path

from gofer.app.evals.current_files import current_files
from gofer.app.http import http_client
from gofer.app.model_endpoints import models_of
from gofer.app.operations import Operations
from gofer.app.settings import Settings
from gofer.evals.affected import AffectedRun, RecordedWork, affected_runs
from gofer.evals.golden_works import golden_works
from gofer.evals.goldens.golden_file import FOLDER
from gofer.evals.next_step import with_next_steps
from gofer.evals.public_runs import public_runs
from gofer.runtime.run_reader import RunReader


async def affected_by_files(root: Path, opened: Operations | None, live: Settings | None) -> Sequence[AffectedRun]:
    """Return how the files below `root` change the requests of its goldens, and of the public runs of seven days.

    `opened` is the state with the runs, None without one. With the settings `live`, the models of the workflows are
    asked how their next step differs. Raises ConfigError and TemporaryError.
    """
    works: list[RecordedWork] = [*golden_works(root / FOLDER)]
    if opened is not None:
        works += await public_runs(RunReader(opened.stores, opened.clock, {}))
    current = current_files(root)
    affected = affected_runs(works, current)
    if live is None:
        return affected
    async with http_client(live.proxies) as http:
        return await with_next_steps(affected, works, current.bundles, models_of(live, http).of)
