"""The recorded runs that a promotion reads: public ones that ended as done, those of the newest prompt first."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.evals.public_runs import REPORT_READER
from gofer.journal.coordination import Head
from gofer.runtime.run_reader import RunReader
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import Corrupt, Gone

MOST_RUNS = 200
"""The most runs of one promotion or verification."""
MOST_READ = 400
"""The most journals that are read to find these runs, the newest first."""
_AT_ONCE = 10


@dataclass(frozen=True, slots=True)
class ReadRuns:
    """The runs of a workflow."""

    records: Sequence[RunRecord]
    with_bad_feedback: int = 0
    """The number of runs that were left out because people did not like their answers."""


async def recorded_runs(runs: RunReader, workflow: str, most: int) -> ReadRuns:
    """Return at most `most` runs of a workflow that a model decided. Raises TemporaryError.

    Private and hidden runs are left out, damaged and deleted ones too, and runs on repositories that are not known to
    be public.
    """
    heads: list[Head] = []
    async for page in runs.stores.journals.listed(0):
        heads += [head for head in page if head.workflow == workflow and head.status == "done" and not head.private]
        heads = sorted(heads, key=lambda head: (-head.accepted_at, head.run))[:MOST_READ]
    found: list[RunRecord] = []
    for first in range(0, len(heads), _AT_ONCE):
        read = await asyncio.gather(*(_read(runs, head.run) for head in heads[first : first + _AT_ONCE]))
        found += [record for record in read if record is not None]
    liked = [record for record in found if not record.progress.follow_ups.count("bad")]
    return ReadRuns(_newest_prompt_first(liked)[:most], len(found) - len(liked))


async def _read(runs: RunReader, run: str) -> RunRecord | None:
    try:
        record = await runs.read(run, REPORT_READER)
    except (Corrupt, Gone):
        return None
    if record is None or record.damage or record.progress.private or record.bundle is None:
        return None
    if record.bundle.loaded.workflow.coordinator != "llm":
        return None
    return record


def _newest_prompt_first(records: Sequence[RunRecord]) -> Sequence[RunRecord]:
    """Return the runs by version of their prompt: the version of the newest run first, then the runs by time."""
    order: dict[str, int] = {}
    for record in records:
        order.setdefault(_prompt(record), len(order))
    return sorted(records, key=lambda record: order[_prompt(record)])


def _prompt(record: RunRecord) -> str:
    if record.bundle is None:
        return ""
    return record.bundle.loaded.system
