"""Runs as people read them: who may read a run, the part of a damaged run, and shortened ids."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from typing_extensions import override

from gofer.journal.coordination import Head
from gofer.journal.entries import Entry, MessageReceived, RunAccepted, RunFinished, RunOwned, RunStarted
from gofer.journal.hidden_runs import hide
from gofer.journal.log import Pen, claim, open_journal
from gofer.runtime.run_reader import OPERATOR, Ambiguous, Operator, Reader, RunReader
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import Corrupt
from gofer.values.events import Event
from support.stand_ins import SetClock, make_outside, mention

pytestmark = pytest.mark.anyio
WORDS: Sequence[Entry] = (RunOwned(), MessageReceived("the first words"), MessageReceived("the last words"))


class DamagedStore(MemoryStore):
    """A store whose frames can be damaged."""

    def damage(self, run: str, n: int) -> None:
        """Change a byte of frame `n`, counted from 1."""
        frame = self._frames[run][n - 1]
        self._frames[run][n - 1] = frame[:-1] + bytes([frame[-1] ^ 1])


class Member(Operator):
    """A signed-in member of every place."""

    @override
    async def sees(self, event: Event) -> bool:
        return True


class Stranger(Operator):
    """A signed-in person who is in no place."""


class AfterTheChange(Operator):
    """A person who reads when the place of every run became private."""

    @override
    async def became_private(self, event: Event) -> bool:
        return True


@dataclass
class Written:
    """Runs in a memory store, and their reader."""

    store: DamagedStore
    runs: RunReader
    pen: Pen
    blobs: MemoryBlobs

    async def run(self, run: str, *entries: Entry, private: bool = False, parent: str = "") -> None:
        """Write a run with one entry in each frame after the claim."""
        event = replace(mention(), private=private)
        await claim(run, RunAccepted(event, "w", parent=parent), self.pen, self.store, self.blobs)
        if not parent:
            await self.store.create_head(Head(run, "w", f"c:{run}", 1, private=private))
        journal, _ = await open_journal(run, self.store, self.blobs, self.pen)
        for entry in (RunStarted("no bundle", private), *entries):
            journal.add(entry)
            await journal.commit()

    async def reads(self, run: str, reader: Reader) -> bool:
        """Return whether a reader sees the words of a run."""
        record = await self.runs.read(run, reader)
        if record is None:
            return False
        return any("the last words" in step.input for step in record.steps())


def written() -> Written:
    store, blobs, clock = DamagedStore(), MemoryBlobs(), SetClock()
    runs = RunReader(Stores(store, blobs, MemoryQueue(clock)), clock, {})
    return Written(store, runs, Pen("me", make_outside(clock)), blobs)


@pytest.mark.parametrize("end", [(), (RunFinished("done"),)], ids=["before the end", "after the end"])
@pytest.mark.parametrize(("reader", "seen"), [(Member(), True), (Stranger(), False), (OPERATOR, False)])
async def test_private_run_is_read_by_members_only_before_and_after_its_end(
    reader: Reader, seen: bool, end: Sequence[Entry]
) -> None:
    made = written()
    await made.run("run1", *WORDS, *end, private=True)
    assert await made.reads("run1", reader) is seen


@pytest.mark.parametrize("reader", [Member(), Stranger(), OPERATOR])
async def test_public_run_is_read_by_everyone(reader: Reader) -> None:
    made = written()
    await made.run("run1", *WORDS)
    assert await made.reads("run1", reader)


async def test_run_hidden_since_its_end_is_hidden_from_the_operator() -> None:
    made = written()
    await made.run("run1", *WORDS, RunFinished("done"))
    await hide("run1", made.store, 1)
    assert (await made.reads("run1", OPERATOR), await made.reads("run1", Member())) == (False, True)


async def test_run_of_a_place_made_private_is_hidden_at_its_next_reading() -> None:
    made = written()
    await made.run("run1", *WORDS)
    assert not await made.reads("run1", AfterTheChange())
    assert not await made.reads("run1", OPERATOR)
    head = await made.store.head("run1")
    assert head is not None
    assert head.private


async def test_damaged_run_of_a_place_made_private_is_hidden_with_its_neighbours() -> None:
    made = written()
    await made.run("run1", *WORDS)
    await made.run("run2", *WORDS)
    made.store.damage("run2", 4)
    assert not await made.reads("run1", AfterTheChange())
    assert await made.runs.read("run2", OPERATOR) is None


@pytest.mark.parametrize("private", [True, False])
async def test_subagent_run_is_read_by_the_readers_of_its_root(private: bool) -> None:
    made = written()
    await made.run("run1", private=private)
    await made.run("run1.a", *WORDS, private=private, parent="run1")
    assert await made.reads("run1.a", OPERATOR) is not private


async def test_subagent_run_of_a_hidden_root_is_hidden() -> None:
    made = written()
    await made.run("run1")
    await made.run("run1.a", *WORDS, parent="run1")
    await hide("run1", made.store, 1)
    assert not await made.reads("run1.a", OPERATOR)


async def test_damaged_run_is_read_up_to_its_damage() -> None:
    made = written()
    await made.run("run1", *WORDS)
    made.store.damage("run1", 5)
    record = await made.runs.read("run1", OPERATOR)
    assert record is not None
    assert record.damage.startswith("Run run1 is damaged at frame 5")
    found = record.steps()
    assert [step.input for step in found if step.kind == "message.received"] == ["the first words"]
    assert (found[-1].kind, found[-1].output) == ("damage", record.damage)


async def test_damaged_private_run_stays_hidden() -> None:
    made = written()
    await made.run("run1", *WORDS, private=True)
    for frame in (5, 2, 1):
        made.store.damage("run1", frame)
        assert await made.runs.read("run1", OPERATOR) is None


async def test_listed_run_without_a_readable_first_frame_names_the_restore() -> None:
    made = written()
    await made.run("run1", *WORDS)
    made.store.damage("run1", 1)
    with pytest.raises(Corrupt, match=r"Run run1 is damaged at frame 1.*gofer restore"):
        await made.runs.read("run1", OPERATOR)


async def test_damaged_subagent_run_is_read_up_to_its_damage() -> None:
    made = written()
    await made.run("run1")
    await made.run("run1.a", *WORDS, parent="run1")
    made.store.damage("run1.a", 5)
    record = await made.runs.read("run1.a", OPERATOR)
    assert record is not None
    assert record.steps()[-1].kind == "damage"


async def test_run_is_found_by_a_unique_beginning_of_its_id() -> None:
    made = written()
    await made.run("ab12", *WORDS)
    await made.run("ab34")
    record = await made.runs.find("ab1", OPERATOR)
    assert record is not None
    assert record.run == "ab12"
    with pytest.raises(Ambiguous, match=r"2 runs begin with 'ab'; write more characters"):
        await made.runs.find("ab", OPERATOR)


@pytest.mark.parametrize("name", ["ab", "ab1", ""])
async def test_beginning_of_the_id_of_a_private_run_finds_no_run(name: str) -> None:
    made = written()
    await made.run("ab12", *WORDS, private=True)
    assert await made.runs.find(name, Member()) is None
    assert await made.runs.find("ab12", Member()) is not None


async def test_private_run_makes_no_beginning_ambiguous() -> None:
    made = written()
    await made.run("ab12", private=True)
    await made.run("ab34")
    record = await made.runs.find("ab", OPERATOR)
    assert record is not None
    assert record.run == "ab34"
