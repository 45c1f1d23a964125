"""Run ids typed by an operator for a root run or one of its subagent runs."""

import pytest

from gofer.journal.coordination import Head
from gofer.journal.entries import RunAccepted, RunStarted, SubagentStarted
from gofer.journal.lineage import root_of
from gofer.journal.log import Pen, claim, open_journal
from gofer.runtime.listed_record import listed_record
from gofer.runtime.run_reader import OPERATOR, Ambiguous, RunReader
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import ConfigError
from support.stand_ins import SetClock, make_outside, mention

pytestmark = pytest.mark.anyio


async def reader() -> RunReader:
    """Return a reader of one run with two subagent runs, the second of which asked a third."""
    clock = SetClock()
    stores = Stores(MemoryStore(), MemoryBlobs(), MemoryQueue(clock))
    await write(stores, clock, "aa01", "aa01.17a", "aa01.17b")
    await stores.journals.create_head(Head("aa01", "w", "c:aa01", 1, private=False))
    await write(stores, clock, "aa01.17a")
    await write(stores, clock, "aa01.17b", "aa01.29c")
    await write(stores, clock, "aa01.29c")
    return RunReader(stores, clock, {})


async def write(stores: Stores, clock: SetClock, run: str, *subagents: str) -> None:
    pen = Pen("me", make_outside(clock))
    parent = root_of(run).removesuffix(run)
    await claim(run, RunAccepted(mention(), "w", parent=parent), pen, stores.journals, stores.blobs)
    journal, _ = await open_journal(run, stores.journals, stores.blobs, pen)
    journal.add(RunStarted("no bundle", private=False))
    for number, child in enumerate(subagents):
        journal.add(SubagentStarted(f"1.{number}", "reviewer", "a prompt", {}, child))
    await journal.commit()


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("aa", "aa01"),
        ("aa01.17a", "aa01.17a"),
        ("aa.17b", "aa01.17b"),
        ("aa01.2", "aa01.29c"),
    ],
)
async def test_beginning_of_an_id_names_a_run_or_a_subagent_run_at_any_depth(name: str, run: str) -> None:
    runs = await reader()
    assert (await listed_record(runs, name, OPERATOR)).run == run
    found = await runs.find(name, OPERATOR)
    assert found is not None
    assert found.run == run


async def test_beginning_of_several_subagent_runs_is_refused() -> None:
    with pytest.raises(Ambiguous, match=r"2 runs begin with 'aa01.17'; write more characters"):
        await listed_record(await reader(), "aa.17", OPERATOR)
    with pytest.raises(Ambiguous, match=r"2 runs begin with 'aa.17'; write more characters"):
        await (await reader()).find("aa.17", OPERATOR)


async def test_unknown_subagent_run_names_the_command_for_a_list() -> None:
    with pytest.raises(ConfigError, match=r"There is no subagent run 'aa01.3'; `gofer trace aa01` lists"):
        await listed_record(await reader(), "aa01.3", OPERATOR)
    assert await (await reader()).find("aa01.3", OPERATOR) is None
