"""Runs with their prompts, for readers who compare and examine runs."""

import json
from collections.abc import Mapping
from typing import cast

from gofer.journal.blob_store import BUNDLES, Bodies
from gofer.journal.child_runs import SubagentJournals, subagent_runs
from gofer.journal.entries import RunStarted
from gofer.journal.lineage import root_of
from gofer.projections.prompted_run import PromptedRun
from gofer.runtime.run_reader import Reader, RunReader, listed_run
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import ConfigError, Corrupt


async def listed_record(runs: RunReader, name: str, reader: Reader) -> RunRecord:
    """Return the run with this id, or the only listed run whose id begins so; also a subagent run by its whole id.

    Raises ConfigError if there is no such run or the reader may not see it, and what `RunReader.read` raises.
    """
    root = (await listed_run(runs.stores.journals, root_of(name))).run
    run = f"{root}{name.removeprefix(root_of(name))}"
    record = await runs.read(run, reader)
    if record is None:
        raise ConfigError(f"Run {run} began in a private channel, so it is not shown.")
    return record


async def prompted_run(record: RunRecord, blobs: Bodies) -> PromptedRun:
    """Return a run that its reader may see, with its bundle and its subagent runs. Raises TemporaryError."""
    below = record.subagents
    damaged = {record.run: record.damage, **below.damaged}
    journals = SubagentJournals({record.run: record.entries, **below.journals}, damaged)
    return await _prompted(record.run, journals, blobs)


async def _prompted(run: str, journals: SubagentJournals, blobs: Bodies) -> PromptedRun:
    entries = journals.journals[run]
    started = [recorded.entry.bundle for recorded in entries if isinstance(recorded.entry, RunStarted)]
    bundle: Mapping[str, object] = {}
    if started:
        bundle = await _bundle(started[0], blobs)
    children = [child for child in subagent_runs(entries) if child in journals.journals]
    return PromptedRun(
        run=run,
        entries=entries,
        bundle=bundle,
        subagents={child: await _prompted(child, journals, blobs) for child in children},
        damage=journals.damaged.get(run, ""),
    )


async def _bundle(name: str, blobs: Bodies) -> Mapping[str, object]:
    """Return a bundle as JSON; empty if its body is gone, so that the journal can still be examined."""
    try:
        return cast(Mapping[str, object], json.loads(await blobs.get(f"{BUNDLES}/{name}")))
    except Corrupt:
        return {}
