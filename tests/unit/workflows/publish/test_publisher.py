"""Publishing and rollback of workflows with their schedules, on stores in memory."""

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


async def test_published_version_is_live_and_lists_the_changed_workflows(house: House) -> None:
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


async def test_changed_preamble_counts_as_a_change_of_each_workflow_with_that_preamble(house: House) -> None:
    texts = {**files(a="Do it."), "agents/defaults.yaml": "preamble: p.md\n", "agents/p.md": "Be kind."}
    await house.publisher.publish(texts)
    changed = await house.publisher.publish({**texts, "agents/p.md": "Be brief."}, dry=True)
    assert changed.workflows.changed == ["a"]


async def test_unchanged_files_are_not_published_again(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    house.clock.advance(60)
    again = await house.publisher.publish(files(a="Do it."))
    assert (again.name, again.moved) == (first.name, False)
    assert len(await house.bundles.keys("bundles/")) == 3


async def test_dry_publish_writes_no_object_and_no_schedule(house: House) -> None:
    tried = await house.publisher.publish(files(a="Do it.", b="Report."), dry=True)
    assert (tried.workflows.added, len(tried.schedules.added)) == (["a", "b"], 1)
    assert (house.bundles.objects, house.timetable.entries) == ({}, {})


async def test_overtaken_publisher_gets_an_error_and_leaves_the_winner_live(house: House) -> None:
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


async def test_pointer_write_with_a_lost_answer_counts_as_published(house: House) -> None:
    class Lossy(MemoryBundleStore):
        async def swap(self, key: str, body: bytes, tag: str) -> bool:
            # A client that repeats a request after the first answer was lost.
            await super().swap(key, body, tag)
            return await super().swap(key, body, tag)

    lossy = House(house.code, house.clock, Lossy(), house.timetable)
    assert (await lossy.publisher.publish(files(a="Do it."))).name == live(lossy)


async def test_failed_schedule_write_keeps_the_previous_version_live(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    house.timetable.fails = True
    with pytest.raises(TemporaryError):
        await house.publisher.publish(files(a="Do it well."))
    assert live(house) == first.name
    house.timetable.fails = False
    await house.publisher.publish(files(a="Do it well."))
    assert live(house) != first.name


async def test_rollback_restores_the_schedules(house: House) -> None:
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
async def test_rollback_to_an_unknown_bundle_is_refused(house: House, name: str) -> None:
    with pytest.raises(ConfigError, match="gofer publish --list"):
        await house.publisher.roll_back(name)


async def test_damaged_bundle_is_refused_for_rollback_and_replaced_by_publishing(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    found = house.bundles.objects[bundle_key(first.name)]
    house.bundles.objects[bundle_key(first.name)] = type(found)(found.body.replace(b"Do it.", b"Do ti."), found.tag)
    with pytest.raises(ConfigError, match="was changed after it was published"):
        await house.publisher.roll_back(first.name)
    house.clock.advance(1)
    again = await house.publisher.publish(files(a="Do it."))
    assert (again.moved, live(house)) == (True, again.name)


async def test_rollback_rewrites_a_missing_routes_file(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    small = house.bundles.objects.pop(routes_key(first.name))
    await house.publisher.roll_back(first.name)
    assert house.bundles.objects[routes_key(first.name)].body == small.body


async def test_damaged_pointer_is_listed_as_no_version_and_replaced_by_publishing(house: House) -> None:
    first = await house.publisher.publish(files(a="Do it."))
    house.bundles.objects[POINTER] = Found(b"nonsense", "x")
    assert await house.publisher.listing(10) == ([first.name], None)
    house.clock.advance(1)
    again = await house.publisher.publish(files(a="Do it."))
    assert (again.before, live(house)) == ("", again.name)


async def test_bundle_of_the_same_name_with_other_contents_is_never_replaced(house: House) -> None:
    tried = await house.publisher.publish(files(a="Do it."), dry=True)
    house.bundles.objects[bundle_key(tried.name)] = Found(b"another", "x")
    with pytest.raises(TemporaryError, match="holds a different object under"):
        await house.publisher.publish(files(a="Do it."))
    assert POINTER not in house.bundles.objects


async def test_interrupted_publishing_is_completed_by_the_next_attempt(house: House) -> None:
    def lost(call: str, key: str) -> None:
        if call == "swap":
            raise TemporaryError("lost")

    house.bundles.trouble = lost
    with pytest.raises(TemporaryError):
        await house.publisher.publish(files(a="Do it."))
    house.bundles.trouble = no_trouble
    done = await house.publisher.publish(files(a="Do it."))
    assert (done.moved, live(house)) == (True, done.name)


async def test_unreadable_winner_is_reported_to_the_overtaken_publisher(house: House) -> None:
    class Late(MemoryBundleStore):
        async def swap(self, key: str, body: bytes, tag: str) -> bool:
            # Another publisher is first, and its bundle is missing.
            self._write(POINTER, encode_pointer(Current("20261121T120000Z-000000000000", "")))
            return False

    late = House(house.code, house.clock, Late(), house.timetable)
    with pytest.raises(Overtaken, match="20261121T120000Z-000000000000"):
        await late.publisher.publish(files(a="Do it.", b="Report."))


async def test_publisher_stops_after_being_overtaken_repeatedly(house: House) -> None:
    class Busy(MemoryTimetable):
        async def names(self) -> Sequence[str]:
            # Each time the schedules are read, another version is live.
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
    """A bundle store whose callers proceed in any order: each call waits for a random number of turns."""

    def __init__(self, turns: Callable[[], int]) -> None:
        super().__init__()
        self.turns = turns
        self.lived: list[str] = []
        """Every version that the pointer has named."""

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
    """A timetable whose callers proceed in any order."""

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
def test_schedules_match_the_live_version_after_concurrent_publishing(seed: int) -> None:
    """In every order of their steps: a publisher that succeeded was live, and an overtaken one never was."""
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
def test_schedules_match_the_live_version_after_each_publish_or_rollback(
    steps: list[tuple[dict[str, str], bool]],
) -> None:
    """Each scheduled workflow has an entry, and no other workflow has one."""
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
