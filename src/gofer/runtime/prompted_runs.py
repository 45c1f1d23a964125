"""Runs with their prompts, for readers who compare and examine runs."""

import json
from collections.abc import Mapping
from typing import cast

from gofer.journal.blob_store import BUNDLES, Bodies
from gofer.journal.child_runs import SubagentJournals, subagent_runs
from gofer.journal.entries import RunStarted
from gofer.projections.prompted_run import PromptedRun
from gofer.runtime.run_reader import RunRecord
from gofer.values.errors import Corrupt


async def prompted_run(record: RunRecord, blobs: Bodies) -> PromptedRun:
    """Return a run that its reader may see, with its bundle and its subagent runs. Raises TemporaryError."""
    journals = SubagentJournals({record.run: record.entries, **record.subagents.journals})
    return await _prompted(record.run, journals, blobs)


async def _prompted(run: str, journals: SubagentJournals, blobs: Bodies) -> PromptedRun:
    entries = journals.journals[run]
    started = [recorded.entry.bundle for recorded in entries if isinstance(recorded.entry, RunStarted)]
    bundle: Mapping[str, object] = {}
    if started:
        bundle = await _bundle(started[0], blobs)
    children = [child for child in subagent_runs(entries) if child in journals.journals]
    return PromptedRun(run, entries, bundle, {child: await _prompted(child, journals, blobs) for child in children})


async def _bundle(name: str, blobs: Bodies) -> Mapping[str, object]:
    """Return a bundle as JSON; empty if its body is gone, so that the journal can still be examined."""
    try:
        return cast(Mapping[str, object], json.loads(await blobs.get(f"{BUNDLES}/{name}")))
    except Corrupt:
        return {}
