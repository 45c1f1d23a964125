"""Runs of a backup or of restored tables: what is held, and what a restore that was killed leaves to the next one."""

from collections.abc import Sequence

import pytest
from typing_extensions import override

from gofer.journal.coordination import Head, Retention
from gofer.runtime.restored_memo import restored_from
from gofer.runtime.restored_runs import Held, hold_unfinished
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.values.errors import TemporaryError
from gofer.values.installation_key import InstallationKey
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret
from support.aws.memory_table import MemoryTable
from support.stand_ins import NOON, SetClock, claimed

pytestmark = pytest.mark.anyio

AT = int(NOON * 1000)
TOKENS = Tokens(InstallationKey(Secret("installation key")))


class KilledStore(DynamoStore):
    """A store of a process that is killed after some writes of heads."""

    def __init__(self, table: MemoryTable) -> None:
        super().__init__(table)
        self.left = 10**9

    @override
    async def put_head(self, head: Head) -> None:
        if not self.left:
            raise TemporaryError("killed")
        self.left -= 1
        await super().put_head(head)


class RestoredTable:
    """A restored table with unfinished and ended runs."""

    def __init__(self) -> None:
        self.table = MemoryTable()
        self.store = KilledStore(self.table)

    async def add(self, runs: Sequence[str], *, ended: bool = False, retention: Retention = "due") -> None:
        for run in runs:
            await claimed(self.store, run)
            await self.store.create_head(Head(run, "w", f"c:{run}", AT, private=False, updated_at=AT))
            if ended:
                await self.store.put_head(Head(run, "w", f"c:{run}", AT, "done", private=False, updated_at=AT))
                await self.store.retain(run, "due", retention)

    async def hold(self) -> Held:
        clock = SetClock()
        return await hold_unfinished(Stores(self.store, MemoryBlobs(), MemoryQueue(clock)), clock, TOKENS, AT)


def runs_of(held: Held) -> list[str]:
    return sorted(head.run for head in held.heads)


async def test_killed_restore_is_completed_by_the_next_one_which_tells_all_held_runs() -> None:
    made = RestoredTable()
    runs = [f"r{n:02d}" for n in range(40)]
    await made.add(runs)
    made.store.left = 25
    with pytest.raises(TemporaryError):
        await made.hold()
    made.store.left = 10**9
    assert runs_of(await made.hold()) == runs
    assert runs_of(await made.hold()) == runs
    assert {await restored_from(run, made.store) for run in runs} == {AT}


@pytest.mark.parametrize("retention", ["due", "kept", "unseen"])
async def test_ended_run_without_a_key_is_marked_for_deletion(retention: Retention) -> None:
    made = RestoredTable()
    await made.add(["r", "other"], ended=True, retention=retention)
    await made.store.destroy_key("r")
    assert list((await made.hold()).keyless) == ["r"]
    left = [await made.store.head(run) for run in ("r", "other")]
    assert [head.retention for head in left if head] == ["deleting", retention]


async def requests_of_a_restore(unfinished: int, ended: int) -> float:
    made = RestoredTable()
    await made.add([f"r{n}" for n in range(unfinished)])
    await made.add([f"e{n}" for n in range(ended)], ended=True)
    made.table.units.clear()
    await made.hold()
    return made.table.units["requests"]


async def test_requests_of_a_restore_grow_with_unfinished_runs_and_hardly_with_ended_ones() -> None:
    small, double, ended = [await requests_of_a_restore(*counts) for counts in ((200, 0), (400, 0), (200, 1_000))]
    assert double < 2.1 * small
    assert ended < small + 100
