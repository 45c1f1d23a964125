"""The table of what readings of many stored runs ask of DynamoDB.

The requests of 10,000 runs equal those of boto3 to moto, which is compared first. All are counted
on the made table. `make growth` prints the table and writes it into docs/scale.md.
"""

import asyncio
import cProfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from types import CodeType

from cost_table import PAGE
from made_table import NOW, MadeTable, Runs, add_unfinished

from gofer.app.operations import Operations
from gofer.cli.export import chosen
from gofer.cli.runs import find_stuck
from gofer.journal.coordination import DAY_MS, HOUR_MS
from gofer.runtime.feedback import rated_runs
from gofer.runtime.restored_runs import hold_unfinished
from gofer.runtime.retention import Purger
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_readings import RunReadings
from gofer.runtime.statistics import statistics
from gofer.stores.aws.dynamodb_client import _values
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.sharded_index import SHARDS
from gofer.stores.aws.table import key_of
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret
from support.aws.moto_server import aws, client, new_table
from support.stand_ins import SetClock

COUNTS = (10_000, 1_000_000, 10_000_000)
PLAYED = COUNTS[0]
"""The number of runs that moto stores."""
BEGIN, END = "<!-- growth, made by `make growth` -->\n", "<!-- end of growth -->\n"
_AT_ONCE = 25
"""The most items that one request writes."""
_TOKENS = Tokens(InstallationKey(Secret("installation key")))


async def _stats(opened: Operations) -> None:
    readings = RunReadings(RunReader(opened.stores, opened.clock, {}), OPERATOR, 0)
    await statistics(readings, NOW - 30 * DAY_MS, NOW, "workflow")


async def _export(opened: Operations) -> None:
    async for _ in chosen(opened, [], (NOW - HOUR_MS) / 1000):
        pass


WORKS: dict[str, Callable[[Operations], Awaitable[object]]] = {
    "`gofer restore --stage`": lambda opened: hold_unfinished(opened.stores, opened.clock, _TOKENS, NOW),
    "`gofer runs --stuck`": find_stuck,
    "`gofer feedback`": lambda opened: rated_runs(opened.stores.journals),
    "`gofer stats`, of 30 days": _stats,
    "`gofer export --since 1h`, without the journals": _export,
    "the purge of a night, with nothing due": lambda opened: Purger(opened.stores, opened.clock).purge(),
}


OF_ALL = ("`gofer restore --stage`", "`gofer stats`, of 30 days")
"""The readings of all runs. Above PLAYED runs, what runs add is counted in one shard of eight, and multiplied."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one reading asked of DynamoDB."""

    requests: int
    units: float
    """Read units."""
    steps: int
    """Calls of Gofer's own functions."""


def counted(work: str, runs: int) -> Asked:
    """Return what a reading of the made table asks."""
    if work in OF_ALL and runs > PLAYED:
        none, part = [asyncio.run(_counted(work, Runs(number), 1)) for number in (0, runs)]
        return Asked(
            none.requests + SHARDS * (part.requests - none.requests),
            none.units + SHARDS * (part.units - none.units),
            none.steps + SHARDS * (part.steps - none.steps),
        )
    return asyncio.run(_counted(work, Runs(runs), SHARDS))


async def _counted(work: str, runs: Runs, shards: int) -> Asked:
    table = MadeTable(runs, shards)
    store = DynamoStore(table)
    await add_unfinished(store, runs.count * shards // SHARDS)
    table.units.clear()
    profile = cProfile.Profile(subcalls=False, builtins=False)
    profile.enable()
    await WORKS[work](_opened(store))
    profile.disable()
    steps = sum(entry.callcount for entry in profile.getstats() if _is_own(entry.code))
    return Asked(table.units["requests"], table.units["read"], steps)


def _opened(store: DynamoStore) -> Operations:
    clock = SetClock()
    return Operations(Stores(store, MemoryBlobs(), MemoryQueue(clock)), clock)


def _is_own(code: str | CodeType) -> bool:
    return isinstance(code, CodeType) and "/src/gofer/" in code.co_filename


async def played() -> Mapping[str, int]:
    """Return the requests of boto3 to moto for each reading. The first one changes runs, so it is played last."""
    runs = Runs(PLAYED)
    table = new_table()
    items = iter(MadeTable(runs).items())
    while batch := list(islice(items, _AT_ONCE)):
        by_table: defaultdict[str, list[object]] = defaultdict(list)
        for item in batch:
            by_table[table._name_of(key_of(item))].append({"PutRequest": {"Item": _values(item)}})
        client("dynamodb").batch_write_item(RequestItems=dict(by_table))
    store = DynamoStore(table)
    await add_unfinished(store, PLAYED)
    found: dict[str, int] = {}
    for work in reversed(WORKS):
        before = aws().requests.total()
        await WORKS[work](_opened(store))
        found[work] = aws().requests.total() - before
    return found


def rows(counts: Sequence[int]) -> Iterator[str]:
    """Yield the table in Markdown, the largest numbers of runs counted first."""
    tasks = [(work, runs) for runs in sorted(counts, reverse=True) for work in WORKS]
    with ProcessPoolExecutor(2) as pool:
        found = dict(zip(tasks, pool.map(counted, *zip(*tasks, strict=True)), strict=True))
    yield "| reading | " + " | ".join(f"{runs:,} runs" for runs in counts) + " |"
    yield "|---|" + "---|" * len(counts)
    for work in WORKS:
        yield f"| {work} | " + " | ".join(cell(found[work, runs]) for runs in counts) + " |"


def cell(asked: Asked) -> str:
    """Return what a reading asks, as the table has it."""
    return f"{asked.requests:,}; {asked.units:,.0f}; {asked.steps:,}"


def main() -> None:
    """Write the table into docs/scale.md and print it."""
    for work, requests in asyncio.run(played()).items():
        made = counted(work, PLAYED).requests
        assert made == requests, f"{work}: {made} requests to the made table, {requests} to moto"
    text = "\n".join(rows(COUNTS)) + "\n"
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{text}{END}{rest.split(END)[1]}")
    print(text, end="")


if __name__ == "__main__":
    main()
