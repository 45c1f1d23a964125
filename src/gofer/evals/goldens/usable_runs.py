"""The runs that may become a golden, read for an operator: public, undamaged and over."""

from collections.abc import Sequence

from gofer.evals.goldens.run_file import GoldenRun, golden_run
from gofer.journal.entries import FileAdded
from gofer.replay.recorded_run import RecordedRun, recorded_run
from gofer.runtime.listed_record import listed_record
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_record import RunRecord
from gofer.sources.receivers import BY_SOURCE
from gofer.values.errors import ConfigError, OtherVersion

MOST_TURNS = 20
"""The most runs of one golden."""


async def usable_runs(runs: RunReader, name: str, *, thread: bool) -> Sequence[GoldenRun]:
    """Return a run by its id or the beginning of it; with `thread` also the runs that it continues, the oldest first.

    Raises ConfigError for a run that may not become a golden, and what `listed_record` raises.
    """
    found = [_usable(await listed_record(runs, name, OPERATOR))]
    while thread and (earlier := _continued(found[0])):
        if len(found) == MOST_TURNS:
            raise ConfigError(f"The conversation has more than {MOST_TURNS} runs; leave out --thread.")
        found.insert(0, _usable(await listed_record(runs, earlier, OPERATOR)))
    return [await _golden_run(record, runs) for record in found]


def _continued(record: RunRecord) -> str:
    if record.progress.started is None:
        return ""
    return record.progress.started.continues


def _usable(record: RunRecord) -> RunRecord:
    """Return the run if it may become a golden. Raises ConfigError with the reason."""
    run = record.run
    if isinstance(record.error, OtherVersion):
        raise ConfigError(f"Run {run} was written by another version of Gofer; make the golden with that version.")
    if record.error is not None or record.subagents.damaged:
        raise ConfigError(f"Run {run} is damaged, so it cannot become a golden; restore it from a backup first.")
    if record.progress.private:
        raise ConfigError(f"Run {run} is private, and private runs never become goldens.")
    if _is_of_private_repository(record):
        raise ConfigError(f"Run {run} is about a private repository, and such runs never become goldens.")
    if record.progress.parent:
        raise ConfigError(f"Run {run} is a subagent run; name the run that asked it, which holds both.")
    if record.progress.finished is None:
        raise ConfigError(f"Run {run} has not ended; wait for its end, or cancel it with gofer cancel.")
    if record.progress.started is None or record.progress.concluded is None:
        raise ConfigError(f"Run {run} ended before it began to work, so there is nothing to test.")
    if record.bundle is None:
        raise ConfigError(f"The bundle of run {run} is missing, so the run cannot be played again; restore it.")
    return record


def _is_of_private_repository(record: RunRecord) -> bool:
    event = record.progress.event
    if event is None:
        return False
    spec = BY_SOURCE.get(event.source)
    return spec is not None and spec.is_restricted(event)


async def _golden_run(record: RunRecord, runs: RunReader) -> GoldenRun:
    recorded = await recorded_run(record, runs.stores)
    for earlier in recorded.earlier:
        before = await runs.read(earlier, OPERATOR)
        if before is None or before.progress.private or _is_of_private_repository(before):
            raise ConfigError(
                f"Run {record.run} continues a private run or one about a private repository, and such runs never "
                "become goldens."
            )
    missing = [name for name in _stored_files(recorded) if name not in recorded.bodies]
    if missing:
        raise ConfigError(f"A file of run {record.run} cannot be read any more, so the run cannot be played again.")
    return golden_run(recorded)


def _stored_files(recorded: RecordedRun) -> Sequence[str]:
    entries = [one.entry for journal in recorded.journals.values() for one in journal]
    return [entry.body for entry in entries if isinstance(entry, FileAdded) and entry.body]
