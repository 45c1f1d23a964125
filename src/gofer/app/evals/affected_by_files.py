"""The recorded runs that the files of a repository affect: its goldens, and the public runs of a place."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gofer.app.evals.current_files import current_files
from gofer.app.http import http_client
from gofer.app.model_endpoints import models_of
from gofer.app.operations import Operations
from gofer.app.replay import open_replayer
from gofer.app.settings import Settings, read_settings
from gofer.evals.affected import AffectedRun, RecordedWork, affected_by_code, affected_runs
from gofer.evals.golden_works import golden_works
from gofer.evals.goldens.golden_file import FOLDER
from gofer.evals.next_step import with_next_steps
from gofer.evals.public_runs import public_runs
from gofer.replay.recorded_run import RecordedRun, recorded_run
from gofer.runtime.run_reader import RunReader


async def affected_by_files(root: Path, opened: Operations | None, live: Settings | None) -> Sequence[AffectedRun]:
    """Return how the files below `root` change the requests of its goldens, and of the public runs of seven days.

    `opened` is the state with the runs, None without one. With the settings `live`, the models of the workflows are
    asked how their next step differs. Raises ConfigError and TemporaryError.
    """
    goldens = golden_works(root / FOLDER)
    recordings = {golden.run: golden.recorded for golden in goldens}
    works: list[RecordedWork] = [*goldens]
    if opened is not None:
        records = await public_runs(RunReader(opened.stores, opened.clock, {}))
        recordings |= {record.run: await recorded_run(record, opened.stores) for record in records}
        works += records
    current = current_files(root)
    affected = await _with_replays(affected_runs(works, current), recordings, root)
    if live is None:
        return affected
    async with http_client(live.proxies) as http:
        return await with_next_steps(affected, works, current.bundles, models_of(live, http).of)


async def _with_replays(
    affected: Sequence[AffectedRun], recordings: Mapping[str, RecordedRun], root: Path
) -> Sequence[AffectedRun]:
    """Return the runs with what the present code changes in those that the files do not affect."""
    found: list[AffectedRun] = []
    async with open_replayer(read_settings({}), root, live=False) as replayer:
        for run in affected:
            if run.causes:
                found.append(run)
                continue
            recorded = recordings[run.run]
            replay = await replayer.replay(recorded)
            found.append(affected_by_code(run, recorded.entries, replay.divergences))
    return found
