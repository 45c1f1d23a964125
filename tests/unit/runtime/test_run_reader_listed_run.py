"""Run ids typed by an operator: prefixes of recent runs, and whole ids of any run."""

from collections.abc import Sequence

import pytest

from gofer.journal.coordination import Head
from gofer.runtime.run_reader import listed_run
from gofer.stores.memory.journal import MemoryStore
from gofer.values.errors import ConfigError
from support.stand_ins import claimed

pytestmark = pytest.mark.anyio


class ShortList(MemoryStore):
    """A store that lists only the newest run."""

    async def heads(self, limit: int, *, private: bool = False) -> Sequence[Head]:
        return (await super().heads(limit, private=private))[:1]


async def stored() -> ShortList:
    store = ShortList()
    for run, at, private in (("aa01", 1, False), ("aa02", 2, False), ("bb01", 3, True)):
        await claimed(store, run)
        await store.create_head(Head(run, "w", f"c:{run}", at, private=private))
    return store


async def test_whole_run_id_finds_a_run_too_old_for_the_list() -> None:
    store = await stored()
    assert (await listed_run(store, "aa01")).run == "aa01"
    assert (await listed_run(store, "aa")).run == "aa02"


@pytest.mark.parametrize("typed", ["bb01", "bb", "cc", "aa0102"])
async def test_private_or_unknown_run_id_is_not_found(typed: str) -> None:
    with pytest.raises(ConfigError, match=f"There is no run '{typed}'; `gofer runs` lists the newest."):
        await listed_run(await stored(), typed)
