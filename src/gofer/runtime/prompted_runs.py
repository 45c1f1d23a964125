"""Runs with their prompts, for readers who compare and examine runs."""

import json
from collections.abc import Mapping

from gofer.journal.child_runs import SubagentJournals, subagent_runs
from gofer.projections.prompted_run import PromptedRun
from gofer.runtime.run_record import RunRecord
from gofer.workflows.bundle import Bundle, encode_bundle


def prompted_run(record: RunRecord) -> PromptedRun:
    """Return a run that its reader may see, with its bundle and its subagent runs."""
    below = record.subagents
    damaged = {record.run: record.damage, **below.damaged}
    return _prompted(
        record.run, SubagentJournals({record.run: record.entries, **below.journals}, damaged), record.bundles
    )


def _prompted(run: str, journals: SubagentJournals, bundles: Mapping[str, Bundle]) -> PromptedRun:
    entries = journals.journals[run]
    bundle: Mapping[str, object] = {}
    if run in bundles:
        bundle = json.loads(encode_bundle(bundles[run]))
    children = [child for child in subagent_runs(entries) if child in journals.journals]
    return PromptedRun(
        run=run,
        entries=entries,
        bundle=bundle,
        subagents={child: _prompted(child, journals, bundles) for child in children},
        damage=journals.damaged.get(run, ""),
    )
