"""Publishing, rolling back and their schedules, over a bundle store and a timetable in memory."""

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.errors import ConfigError, TemporaryError
from gofer.workflows.publish.publisher import Overtaken, Published
from gofer.workflows.publish.timetable import Entry
from gofer.workflows.published import POINTER, Current, Found, bundle_key, encode_pointer, routes_key
from support.property_examples import examples
from support.workflows.publishing import House, MemoryBundleStore, MemoryTimetable, files, no_trouble

pytestmark = pytest.mark.anyio


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def live(house: House) -> str:
    return json.loads(house.bundles.objects[POINTER].body)["name"]


async def test_what_is_published_is_live_and_says_what_changed(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it.", b="Report."))
    assert (first.before, first.moved, first.workflows.added) == ("", True, ["a", "b"])
    house.clock.advance(60)
    second = await house.publisher.publish(files(a="Do it well.", c="Report."))
    assert second.before == first.name
    assert second.workflows.to_json() == {"added": ["c"], "changed": ["a"], "removed": ["b"]}
    assert live(house) == second.name
    bundle = json.loads(house.bundles.objects[bundle_key(second.name)].body)
    assert bundle["files"] == files(a="Do it well.", c="Report.")
    assert set(bundle["compiled"]) == {"routes", "hooks", "schedules"}


async def test_a_skill_the_preamble_or_the_defaults_change_every_workflow_that_reads_them(house: House) -> None:
    texts = {**files(a="Do it."), "agents/defaults.yaml": "preamble: p.md\n", "agents/p.md": "Be kind."}
    await house.publisher.publish(texts)
    changed = await house.publisher.publish({**texts, "agents/p.md": "Be brief."}, dry=True)
    assert changed.workflows.changed == ["a"]


async def test_the_same_files_again_move_nothing(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    house.clock.advance(60)
    again = await house.publisher.publish(files(a="Do it."))
    assert (again.name, again.moved) == (first.name, False)
    assert len(await house.bundles.keys("bundles/")) == 3


async def test_only_trying_writes_nothing(house: House) -> None:
    tried = await house.publisher.publish(files(a="Do it.", b="Report."), dry=True)
    assert (tried.workflows.added, len(tried.schedules.added)) == (["a", "b"], 1)
    assert (house.bundles.objects, house.timetable.entries) == ({}, {})


async def test_of_two_publishers_one_is_live_and_the_other_is_told(house: House) -> None:
    await house.publisher.publish(files(a="Do it."))
    waiting, arrived = asyncio.Event(), asyncio.Event()

    class Slow(MemoryBundleStore):
        async def swap(self, key: str, body: bytes, tag: str) -> bool:
            arrived.set()
            await waiting.wait()
            return await super().swap(key, body, tag)

    slow = House(house.code, house.clock, Slow(house.bundles.objects), house.timetable)
    losing = asyncio.create_task(slow.publisher.publish(files(a="Do it.", mine="Report.")))
    await arrived.wait()
    house.clock.advance(1)
    won = await house.publisher.publish(files(a="Do it now.", yours="Report."))
    waiting.set()
    with pytest.raises(Overtaken, match=f"Someone else published {won.name} at the same time"):
        await losing
    assert live(house) == won.name
    assert [name.startswith("yours-") for name in house.timetable.entries] == [True]


async def test_a_pointer_whose_answer_was_lost_is_looked_at(house: House) -> None:
    class Lossy(MemoryBundleStore):
        async def swap(self, key: str, body: bytes, tag: str) -> bool:
            # As a client that asks again after the first answer was lost.
            await super().swap(key, body, tag)
            return await super().swap(key, body, tag)

    lossy = House(house.code, house.clock, Lossy(), house.timetable)
    assert (await lossy.publisher.publish(files(a="Do it."))).name == live(lossy)


async def test_nothing_is_live_when_schedules_cannot_be_written(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    house.timetable.fails = True
    with pytest.raises(TemporaryError):
        await house.publisher.publish(files(a="Do it well."))
    assert live(house) == first.name
    house.timetable.fails = False
    await house.publisher.publish(files(a="Do it well."))
    assert live(house) != first.name


async def test_a_rollback_brings_the_schedules_back(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it.", weekly="Report."))
    before = dict(house.timetable.entries)
    house.clock.advance(60)
    second = await house.publisher.publish(files(a="Do it.", daily="Report."))
    assert set(house.timetable.entries).isdisjoint(before)
    back = await house.publisher.roll_back(first.name)
    assert (back.name, back.before, live(house)) == (first.name, second.name, first.name)
    assert house.timetable.entries == before
    assert back.workflows.to_json() == {"added": ["weekly"], "changed": [], "removed": ["daily"]}
    names, current = await house.publisher.listing(10)
    assert names == [second.name, first.name]
    assert current is not None
    assert current.name == first.name


@pytest.mark.parametrize("name", ["nonsense", "../../blobs/x", "20261121T120000Z-000000000000", "current"])
async def test_a_bundle_that_is_not_there_is_no_way_back(house: House, name: str) -> None:
    with pytest.raises(ConfigError, match="gofer publish --list"):
        await house.publisher.roll_back(name)


async def test_a_damaged_bundle_is_no_way_back_and_is_replaced(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    found = house.bundles.objects[bundle_key(first.name)]
    house.bundles.objects[bundle_key(first.name)] = type(found)(found.body.replace(b"Do it.", b"Do ti."), found.tag)
    with pytest.raises(ConfigError, match="was changed after it was published"):
        await house.publisher.roll_back(first.name)
    house.clock.advance(1)
    again = await house.publisher.publish(files(a="Do it."))
    assert (again.moved, live(house)) == (True, again.name)


async def test_a_small_part_that_is_missing_is_written_by_the_way_back(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    small = house.bundles.objects.pop(routes_key(first.name))
    await house.publisher.roll_back(first.name)
    assert house.bundles.objects[routes_key(first.name)].body == small.body


async def test_a_damaged_pointer_is_listed_as_nothing_and_replaced(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    house.bundles.objects[POINTER] = Found(b"nonsense", "x")
    assert await house.publisher.listing(10) == ([first.name], None)
    house.clock.advance(1)
    again = await house.publisher.publish(files(a="Do it."))
    assert (again.before, live(house)) == ("", again.name)


async def test_a_bundle_of_that_name_with_other_contents_is_never_replaced(house: House) -> None:
    tried = await house.publisher.publish(files(a="Do it."), dry=True)
    house.bundles.objects[bundle_key(tried.name)] = Found(b"another", "x")
    with pytest.raises(TemporaryError, match="holds a different object under"):
        await house.publisher.publish(files(a="Do it."))
    assert POINTER not in house.bundles.objects


async def test_a_publisher_that_was_lost_before_the_pointer_goes_on_where_it_was(house: House) -> None:
    def lost(call: str, key: str) -> None:
        if call == "swap":
            raise TemporaryError("lost")

    house.bundles.trouble = lost
    with pytest.raises(TemporaryError):
        await house.publisher.publish(files(a="Do it."))
    house.bundles.trouble = no_trouble
    done = await house.publisher.publish(files(a="Do it."))
    assert (done.moved, live(house)) == (True, done.name)


async def test_a_winner_that_cannot_be_read_has_its_schedules_left_alone(house: House) -> None:
    class Late(MemoryBundleStore):
        async def swap(self, key: str, body: bytes, tag: str) -> bool:
            # Somebody else is first, and what they published is not there.
            self._write(POINTER, encode_pointer(Current("20261121T120000Z-000000000000", "")))
            return False

    late = House(house.code, house.clock, Late(), house.timetable)
    with pytest.raises(Overtaken, match="20261121T120000Z-000000000000"):
        await late.publisher.publish(files(a="Do it.", b="Report."))


async def test_who_is_overtaken_again_and_again_gives_up(house: House) -> None:
    class Busy(MemoryTimetable):
        async def names(self) -> Sequence[str]:
            # Whenever schedules are looked at something else is live.
            await house.publisher.bundles.swap(POINTER, house.bundles.objects[POINTER].body, "x")
            house.bundles.objects[POINTER] = Found(encode_pointer(Current(next(turns), "")), "x")
            return await super().names()

    names = [(await house.publisher.publish(files(a=text))).name for text in ("one", "two")]
    turns = itertools.cycle(names)
    busy = House(house.code, house.clock, house.bundles, Busy())
    with pytest.raises(TemporaryError, match="Others are publishing at the same time"):
        await busy.publisher.publish(files(a="two"))


async def wait(turns: Callable[[], int]) -> None:
    for _ in range(turns()):
        await asyncio.sleep(0)


class Interleaved(MemoryBundleStore):
    """A bundle store whose callers get on in any order: each call waits for a number of turns that was drawn."""

    def __init__(self, turns: Callable[[], int]) -> None:
        super().__init__()
        self.turns = turns
        self.lived: list[str] = []
        """What the pointer ever named."""

    def _write(self, key: str, body: bytes) -> bool:
        if key == POINTER:
            self.lived.append(json.loads(body)["name"])
        return super()._write(key, body)

    async def read(self, key: str) -> Found | None:
        await wait(self.turns)
        return await super().read(key)

    async def swap(self, key: str, body: bytes, tag: str) -> bool:
        await wait(self.turns)
        return await super().swap(key, body, tag)


class InterleavedTimetable(MemoryTimetable):
    """A timetable, likewise."""

    def __init__(self, turns: Callable[[], int]) -> None:
        super().__init__()
        self.turns = turns

    async def names(self) -> Sequence[str]:
        await wait(self.turns)
        return await super().names()

    async def put(self, entry: Entry) -> None:
        await wait(self.turns)
        await super().put(entry)

    async def delete(self, name: str) -> None:
        await wait(self.turns)
        await super().delete(name)


@examples(4)
@given(st.integers(0, 2**32))
def test_whoever_publishes_at_once_the_schedules_are_those_of_what_is_live(seed: int) -> None:
    """In every order of their steps: who was told that it is live was, who was overtaken never was."""
    chance = random.Random(seed)
    bundles = Interleaved(lambda: chance.choice([0, 1, 3, 10, 40, 150]))
    house = House(Path("nowhere"), bundles=bundles, timetable=InterleavedTimetable(bundles.turns))
    wanted = {f"text{n}": files(a=f"text{n}", **{f"own{n}": "Report.", "shared": "Report."}) for n in range(3)}

    async def play() -> list[Published | BaseException]:
        tasks = (house.publisher.publish(texts) for texts in wanted.values())
        return await asyncio.gather(*tasks, return_exceptions=True)

    told = asyncio.run(play())
    assert {one.name for one in told if isinstance(one, Published)} == set(bundles.lived)
    assert all(isinstance(one, Published | Overtaken) for one in told)
    bundle = json.loads(house.bundles.objects[bundle_key(live(house))].body)
    entries = [json.loads(entry.input)["workflow"] for entry in house.timetable.entries.values()]
    assert sorted(entries) == sorted(name for name, _ in bundle["compiled"]["schedules"])


TEXTS = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), st.sampled_from(["x", "y"]), min_size=1)


@given(st.lists(st.tuples(TEXTS, st.booleans()), min_size=1, max_size=5))
def test_the_timetable_always_is_that_of_what_is_live(steps: list[tuple[dict[str, str], bool]]) -> None:
    """Whatever is published and rolled back: each scheduled workflow has its entry, and nobody else has one."""
    house = House(Path("nowhere"))
    names: list[str] = []
    texts: dict[str, set[str]] = {}

    async def play() -> None:
        for prompts, back in steps:
            house.clock.advance(1)
            if back and names:
                await house.publisher.roll_back(names[0])
            else:
                made = await house.publisher.publish(files(**prompts))
                names.append(made.name)
                texts[made.name] = set(list(prompts)[1:])
            entries = {json.loads(entry.input)["workflow"] for entry in house.timetable.entries.values()}
            assert entries == texts[live(house)]

    asyncio.run(play())
