"""Statistics and searches over 100,000 runs, beside the reading of one journal.

The runs are rows of a SQLite file with the facts of their ends. Only one run has a journal: forty tool calls.
"""

import asyncio
import random
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from gofer.app.embedded.state import State, open_state
from gofer.journal.coordination import DAY_MS, Head
from gofer.journal.entries import Entry, LlmResponse, RunAccepted, RunConcluded, RunFinished, ToolCall, ToolResult
from gofer.journal.head_facts import HeadFacts, ToolCount, encode
from gofer.journal.log import Pen, claim, open_journal
from gofer.runtime.cost_forecast import forecast
from gofer.runtime.run_reader import OPERATOR, RunReader
from gofer.runtime.run_readings import RunReadings
from gofer.runtime.run_search import MOST_READ, Wanted, search
from gofer.runtime.statistics import By, statistics
from gofer.stores.sqlite.head_rows import HEAD, MARKS, row_of
from gofer.values.messages import ToolAsk, Usage
from support.stand_ins import NOON, SetClock, make_outside, mention

RUNS = 100_000
DAYS = 29
CALLS = 40
ROUNDS = 3
NOW = int(NOON * 1000)
READ = "read"
_TOOLS = ("slack_read_thread", "jira_get_issue", "jira_create_issue", "notion_find", "file_read")


def heads() -> Iterator[Head]:
    """Yield the heads of ended runs, evenly over the days, of 300 people in 40 channels."""
    chance = random.Random(5)
    for n in range(RUNS):
        facts = HeadFacts(
            person=f"{chance.randrange(300):024x}",
            channel=f"{chance.randrange(40):024x}",
            llm_calls=chance.randrange(1, 9),
            tool_calls=6,
            tools={tool: ToolCount(chance.randrange(1, 4), chance.randrange(2)) for tool in chance.sample(_TOOLS, 3)},
            skills=("find-owners",),
            input_tokens=chance.randrange(2_000, 80_000),
            output_tokens=chance.randrange(100, 3_000),
            cached_tokens=1_000,
            usd=chance.random() / 10,
            owned_ms=chance.randrange(1_000, 60_000),
            sign_ms=chance.randrange(300, 3_000),
            answer_ms=chance.randrange(2_000, 90_000),
        )
        at = NOW - DAYS * DAY_MS + n * DAYS * DAY_MS // RUNS
        status = chance.choice(("done", "done", "done", "failed"))
        workflow = f"workflow-{chance.randrange(12)}"
        conversation = f"{chance.randrange(40):024x}:{n:024x}"
        yield Head(f"{n:024x}", workflow, conversation, at, status, False, at + 60_000, "", 0, 30, encode(facts))


def journal() -> Sequence[Entry]:
    """Return the entries of a run with CALLS tool calls of 2,000 characters each."""
    entries: list[Entry] = []
    for turn in range(1, CALLS + 1):
        asks = (ToolAsk(f"call_{turn}", "slack_read_thread", '{"ts": "1.0"}'),)
        entries.append(LlmResponse("", asks, "tool_calls", "m", Usage(1_000, 50, 0), 0.01, 900))
        entries.append(ToolCall(f"{turn}.0", "slack_read_thread", "read"))
        entries.append(ToolResult(f"{turn}.0", "ok", f"{turn} " * 1_000, "read a thread"))
    return [*entries, RunConcluded("done", "", "The answer."), RunFinished("done")]


async def fill(state: State) -> None:
    pen = Pen("worker", make_outside(SetClock()))
    await claim(READ, RunAccepted(mention(), "workflow-1"), pen, state.store, state.blobs)
    written, _ = await open_journal(READ, state.store, state.blobs, pen)
    for entry in journal():
        written.add(entry)
        if isinstance(entry, ToolResult):
            await written.commit()
    await written.commit()

    def insert(connection: sqlite3.Connection) -> None:
        connection.executemany(f"INSERT INTO heads ({HEAD}) VALUES ({MARKS})", map(row_of, heads()))

    await state.database.run(insert)


async def timed(work: Callable[[], Awaitable[object]], rounds: int = ROUNDS) -> float:
    """Return the median CPU time of `work` in seconds, of all threads."""
    took: list[float] = []
    for _ in range(rounds):
        began = time.process_time()
        await work()
        took.append(time.process_time() - began)
    return median(took)


def test_statistics_and_searches_over_100_000_runs(tmp_path: Path) -> None:
    asyncio.run(measure(tmp_path))


async def measure(folder: Path) -> None:
    clock = SetClock()
    with open_state(folder, clock) as state:
        await fill(state)
        runs = RunReader(state.stores, clock, {})
        one = await timed(lambda: runs.read(READ, OPERATOR), 20)

        async def count(by: By) -> None:
            found = await statistics(RunReadings(runs, OPERATOR, 0), 0, NOW, by)
            assert found.total.runs == RUNS
            assert forecast(found) is not None

        async def find(wanted: Wanted) -> None:
            await search(wanted, RunReadings(runs, OPERATOR, MOST_READ), 20)

        around = NOW - 3 * DAY_MS
        near = Wanted(since=around - 1_800_000, until=around + 1_800_000, around=around, tool="jira_create_issue")
        works: dict[str, Callable[[], Awaitable[object]]] = {
            "statistics by workflow": lambda: count("workflow"),
            "statistics by person": lambda: count("person"),
            "statistics by tool": lambda: count("tool"),
            "search around a time": lambda: find(near),
            "search of a tool": lambda: find(Wanted(tool="jira_create_issue", check="none")),
        }
        size = (folder / "gofer.db").stat().st_size + (folder / "gofer.db-wal").stat().st_size
        print(f"\n{RUNS:,} runs in a SQLite file of about {size / 1e6:.0f} MB, CPU, median of {ROUNDS}")
        print(f"  one journal of {CALLS} calls, read as a person reads it: {one * 1000:.1f} ms")
        for name, work in works.items():
            seconds = await timed(work)
            print(f"  {name:<24} {seconds:6.2f} s = {seconds / one:7.0f} journals of {RUNS:,}")
