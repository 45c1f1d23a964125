"""Runs of the engine with their prompts, as readers compare and examine them."""

import json
from dataclasses import replace

from gofer.journal.child_runs import read_subagents
from gofer.projections import progress
from gofer.projections.prompted_run import PromptedRun
from gofer.runtime.prompted_runs import prompted_run
from gofer.runtime.run_record import RunRecord
from gofer.workflows.bundle import encode_bundle
from support.engine.memory_run import MemoryRun


async def prompted(made: MemoryRun) -> PromptedRun:
    """Return a memory run with its bundle and its subagent runs."""
    entries = await made.journal()
    subagents = await read_subagents(entries, made.store, made.blobs)
    record = RunRecord("run1", entries, progress.project(entries), subagents, None)
    run = await prompted_run(record, made.blobs)
    # A memory run does not store its own bundle.
    return replace(run, bundle=json.loads(encode_bundle(made.bundle())))
