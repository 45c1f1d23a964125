"""Partitions of the index that are spread over shards, and read as if each were one.

DynamoDB writes at most 1,000 units a second into one partition of an index, and each run passes several times through
the lists of unfinished and ended runs. A line is written into the shard of its run. A reader asks every shard at once
and merges the lines by age. It also asks the partitions into which earlier versions wrote the lines of the same list.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from heapq import nlargest, nsmallest
from zlib import crc32

from gofer.journal.store import PAGE
from gofer.stores.aws.table import FIRST, LAST, Indexed, Span, Table

OPEN = "open"
"""The list of heads of runs that have not ended and have a line in the list of their place."""
UNPLACED = "unfinished"
"""The list of such heads of earlier versions, whose runs may have no line in the list of their place."""
PLACE = "place#"
"""The prefix of the list of the unfinished runs of each place."""
MARKED = "marked#"
"""The prefix of the list of the ended runs with each mark."""
SHARDS = 8
"""The number of shards of a spread partition. It may grow, and never fall while lines are in the last shards."""


def shard_of(partition: str, run: str) -> str:
    """Return the name of the shard of a partition that has the line of a run."""
    return f"{partition}#{crc32(run.encode()) % SHARDS}"


def partitions_of(name: str) -> Sequence[str]:
    """Return the partitions that have lines of a list: its shards, and the partitions of earlier versions."""
    shards = [f"{name}#{number}" for number in range(SHARDS)]
    if name == OPEN:
        return [*shards, *partitions_of(UNPLACED)]
    if name.startswith((PLACE, MARKED)):
        return shards
    return [name, *shards]


def run_of(line: Indexed) -> str:
    """Return the run of a line of the index."""
    return line.sort.partition("#")[2]


def after(sort: str) -> str:
    """Return the lowest sort key after `sort`; ids contain no smaller character."""
    return f"{sort}\x01"


async def pages(
    table: Table, names: Sequence[str], *, low: str = FIRST, high: str = LAST
) -> AsyncIterator[Sequence[Indexed]]:
    """Yield all lines of lists from `low` to `high` in pages, one line for each run, without an order."""
    for partitions in _by_shard(names):
        spans = [Span(pk=partition, low=low, high=high) for partition in partitions]
        firsts = await asyncio.gather(*(table.index(span, limit=PAGE) for span in spans))
        # The index may list a run that changes meanwhile in two partitions, or at two ages.
        known = set[str]()
        for span, first in zip(spans, firsts, strict=True):
            lines = first
            while lines:
                fresh = {run: line for line in lines if (run := run_of(line)) not in known}
                yield list(fresh.values())
                known.update(fresh)
                if len(lines) < PAGE:
                    break
                lines = await table.index(replace(span, low=after(lines[-1].sort)), limit=PAGE)


def _by_shard(names: Sequence[str]) -> Sequence[Sequence[str]]:
    """Return the partitions of lists by shard, first those of earlier versions. Lines of a run move within a shard."""
    partitions = [partition for name in names for partition in partitions_of(name)]
    shards = [[one for one in partitions if one.endswith(f"#{number}")] for number in range(SHARDS)]
    spread = {partition for shard in shards for partition in shard}
    return [[one for one in partitions if one not in spread], *shards]


async def read_lines(table: Table, span: Span, *, limit: int, newest: bool = False) -> Sequence[Indexed]:
    """Return up to `limit` lines of the list `span.pk` by `gsi_sk`, as `Table.index` does for one partition.

    Fewer lines than `limit` mean that no partition has more.
    """
    names = partitions_of(span.pk)
    spans = [Span(pk=name, low=span.low, high=span.high) for name in names]
    parts = await asyncio.gather(*(table.index(one, limit=limit, newest=newest) for one in spans))
    # While a line moves to another shard, the index may list it in both.
    lines = dict.fromkeys(line for part in parts for line in part)
    if newest:
        return nlargest(limit, lines, key=_sort)
    return nsmallest(limit, lines, key=_sort)


def _sort(line: Indexed) -> str:
    return line.sort
