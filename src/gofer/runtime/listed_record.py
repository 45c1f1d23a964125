"""The run that an operator names at a terminal: a root run or a subagent run, by its id or the beginning of it."""

from gofer.journal.lineage import root_of
from gofer.runtime.run_reader import Ambiguous, Reader, RunReader, listed_run
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import ConfigError


async def listed_record(runs: RunReader, name: str, reader: Reader) -> RunRecord:
    """Return the listed run whose id begins with `name`, or with `ROOT.BEGINNING` one of its subagent runs.

    Raises ConfigError if there is no such run or the reader may not see it, Ambiguous if there are several, and what
    `RunReader.read` raises.
    """
    root = (await listed_run(runs.stores.journals, root_of(name))).run
    record = await _read(runs, root, reader)
    beginning = f"{root}{name.removeprefix(root_of(name))}"
    if beginning == root:
        return record
    return await _read(runs, _subagent_run(beginning, record), reader)


async def _read(runs: RunReader, run: str, reader: Reader) -> RunRecord:
    record = await runs.read(run, reader)
    if record is None:
        raise ConfigError(f"Run {run} began in a private channel, so it is not shown.")
    return record


def _subagent_run(beginning: str, record: RunRecord) -> str:
    """Return the subagent run of a run, at any depth, that the beginning of an id names."""
    found = record.subagent_runs(beginning)
    if len(found) > 1:
        raise Ambiguous(beginning, len(found))
    if found:
        return found[0]
    if record.damage or record.subagents.damaged:
        # A damaged journal may not name all of its subagent runs, but each can be read by its whole id.
        return beginning
    raise ConfigError(f"There is no subagent run {beginning!r}; `gofer trace {record.run}` lists those of the run.")
