"""The newest public runs of a place, which a change is compared with."""

import asyncio
from collections.abc import Sequence

from typing_extensions import override

from gofer.evals.affected import MOST_RUNS
from gofer.journal.coordination import Head
from gofer.runtime.run_reader import Operator, RunReader
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import Corrupt, Gone
from gofer.workflows.load import Loaded

DAYS = 7
"""The days with the runs that are compared."""
_DAY_MS = 86_400_000
_AT_ONCE = 10


class ReportReader(Operator):
    """The reader of a report, which everybody may read: private repositories stay hidden."""

    @override
    async def sees_repository(self, loaded: Loaded | None) -> bool:
        return False


REPORT_READER = ReportReader()


async def public_runs(runs: RunReader, days: int = DAYS) -> Sequence[RunRecord]:
    """Return the newest public ended runs of the last days, at most MOST_RUNS, without damaged and deleted ones.

    Private and hidden runs are left out, and runs on repositories that are not known to be public. Raises
    TemporaryError.
    """
    since = int(runs.clock.now() * 1000) - days * _DAY_MS
    heads = [head for head in await runs.stores.journals.heads(MOST_RUNS) if _counts(head, since)]
    found: list[RunRecord] = []
    for first in range(0, len(heads), _AT_ONCE):
        read = await asyncio.gather(*(_read(runs, head.run) for head in heads[first : first + _AT_ONCE]))
        found += [record for record in read if record is not None]
    return found


def _counts(head: Head, since: int) -> bool:
    return bool(head.ended) and head.accepted_at >= since and not head.private and head.status != "ignored"


async def _read(runs: RunReader, run: str) -> RunRecord | None:
    try:
        record = await runs.read(run, REPORT_READER)
    except (Corrupt, Gone):
        return None
    if record is None or record.damage or record.progress.private:
        return None
    return record
