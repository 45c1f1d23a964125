"""The newest ended public runs of a workflow, which a run of that workflow is compared with."""

import asyncio
from collections.abc import Mapping, Sequence

from gofer.projections.examination.anomalies import MOST_RUNS, SEARCHED, Traits, traits
from gofer.runtime.run_reader import Reader, RunReader
from gofer.runtime.run_record import RunRecord
from gofer.values.errors import Corrupt, Gone

_AT_ONCE = 10


async def baseline(runs: RunReader, reader: Reader, workflow: str, *, without: str) -> Sequence[Traits]:
    """Return the traits of the newest MOST_RUNS runs of a workflow that a reader may see, without one run.

    Runs that were ignored did no work and do not count, and damaged or deleted runs cannot be read. Raises
    TemporaryError.
    """
    others: Sequence[str] = ()
    for most in SEARCHED:
        heads = await runs.stores.journals.heads(most)
        ended = [head.run for head in heads if head.workflow == workflow and head.ended and head.status != "ignored"]
        others = [run for run in ended if run != without][:MOST_RUNS]
        if len(others) == MOST_RUNS or len(heads) < most:
            break
    found: list[Traits] = []
    for first in range(0, len(others), _AT_ONCE):
        read = await asyncio.gather(*(_traits(runs, reader, run) for run in others[first : first + _AT_ONCE]))
        found += [one for one in read if one is not None]
    return found


async def _traits(runs: RunReader, reader: Reader, run: str) -> Traits | None:
    try:
        record = await runs.read(run, reader)
    except (Corrupt, Gone):
        return None
    if record is None or record.damage or record.progress.private:
        return None
    return traits_of(record)


def traits_of(record: RunRecord) -> Traits:
    """Return what of a run is compared with its baseline."""
    schemas: Sequence[Mapping[str, object]] = ()
    if record.bundle is not None:
        schemas = record.bundle.tools
    return traits(record.entries, record.progress, schemas)
