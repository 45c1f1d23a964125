"""The runs from which a suggestion learns: public ended ones that a model decided, with the current prompt first."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gofer.evals.public_runs import REPORT_READER
from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.head_facts import decode
from gofer.runtime.reviews.agreement import Pair, agreement_of, not_counting, pair_of
from gofer.runtime.reviews.reviewer import hash_of_goal, prompt_sha256
from gofer.runtime.run_reader import RunReader
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import Corrupt, Gone
from gofer.workflows.load import Loaded

MOST_READ = 200
"""The most journals that are read, the newest first."""
_AT_ONCE = 10


@dataclass(frozen=True, slots=True)
class EndedRuns:
    """The runs of a workflow."""

    records: Sequence[RunRecord]
    """Those with the current prompt first, and then the newest first."""
    current: int
    """The number of runs with the current prompt."""
    reviews_do_not_count: str
    """Why reviews alone are no evidence, in one sentence; empty if they are."""


async def ended_runs(runs: RunReader, loaded: Loaded, days: int) -> EndedRuns:
    """Return the runs of a workflow that were accepted in the last days. `loaded` has its current prompt.

    Private, hidden, damaged and deleted runs are left out, and runs on repositories that are not known to be public.
    Raises TemporaryError.
    """
    since = int(runs.clock.now() * 1000) - days * DAY_MS
    heads: list[Head] = []
    pairs: Counter[Pair] = Counter()
    async for page in runs.stores.journals.listed(since):
        public = [head for head in page if head.ended and not head.private and head.status != "ignored"]
        pairs.update(pair for head in public if (pair := _pair(head)) is not None)
        heads += [head for head in public if head.workflow == loaded.name]
        heads = sorted(heads, key=lambda head: (-head.accepted_at, head.run))[:MOST_READ]
    found: list[RunRecord] = []
    for first in range(0, len(heads), _AT_ONCE):
        read = await asyncio.gather(*(_read(runs, head.run) for head in heads[first : first + _AT_ONCE]))
        found += [record for record in read if record is not None]
    prompt = hash_of_goal(loaded)
    current = [record for record in found if prompt_sha256(record) == prompt]
    earlier = [record for record in found if prompt_sha256(record) != prompt]
    return EndedRuns([*current, *earlier], len(current), not_counting(agreement_of(pairs)))


def _pair(head: Head) -> Pair | None:
    facts = decode(head.facts)
    if facts is None:
        return None
    return pair_of(facts)


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
