"""Runs of the engine with their prompts, as readers compare and examine them."""

from gofer.journal.child_runs import read_subagents
from gofer.projections import progress
from gofer.projections.prompted_run import PromptedRun
from gofer.runtime.prompted_runs import prompted_run
from gofer.runtime.run_record import RunRecord, read_bundle
from support.engine.memory_run import MemoryRun


async def prompted(made: MemoryRun) -> PromptedRun:
    """Return a memory run with its bundle and its subagent runs."""
    entries = await made.journal()
    subagents = await read_subagents(entries, made.store, made.blobs)
    # A memory run does not store its own bundle.
    bundles = {"run1": made.bundle()}
    for run, journal in subagents.journals.items():
        bundle = await read_bundle(progress.project(journal), made.blobs)
        if bundle is not None:
            bundles[run] = bundle
    return prompted_run(RunRecord("run1", entries, progress.project(entries), subagents, bundles))
