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
from gofer.workflows.publish.publisher import (
    LiveWithoutSchedules,
    NotLive,
    Overtaken,
    Published,
    UnknownWhetherLive,
)
from gofer.workflows.publish.timetable import Entry
from gofer.workflows.published import POINTER, Current, Found, bundle_key, encode_pointer, routes_key
from support.property_examples import examples
from support.workflows.publishing import MemoryBundleStore, MemoryTimetable, PublisherSetup, files, no_trouble

pytestmark = pytest.mark.anyio


@pytest.fixture
def setup(tmp_path: Path) -> PublisherSetup:
    return PublisherSetup(tmp_path)


def live(setup: PublisherSetup) -> str:
    return json.loads(setup.bundles.objects[POINTER].body)["name"]


async def test_published_version_is_live_and_lists_the_changed_workflows(setup: PublisherSetup) -> None:
    first = await setup.publisher.publish(files(a="Do it.", b="Report."))
    assert (first.before, first.moved, first.workflows.added) == ("", True, ["a", "b"])
    setup.clock.advance(60)
    second = await setup.publisher.publish(files(a="Do it well.", c="Report."))
    assert second.before == first.name
    assert second.workflows.to_json() == {"added": ["c"], "changed": ["a"], "removed": ["b"]}
    assert live(setup) == second.name
    bundle = json.loads(setup.bundles.objects[bundle_key(second.name)].body)
    assert bundle["files"] == files(a="Do it well.", c="Report.")
    assert set(bundle["compiled"]) == {"routes", "hooks", "schedules"}


async def test_changed_preamble_counts_as_a_change_of_each_workflow_with_that_preamble(setup: PublisherSetup) -> None:
    texts = {**files(a="Do it."), "agents/defaults.yaml": "preamble: p.md\n", "agents/p.md": "Be kind."}
    await setup.publisher.publish(texts)
    changed = await setup.publisher.publish({**texts, "agents/p.md": "Be brief."}, dry=True)
    assert changed.workflows.changed == ["a"]


async def test_unchanged_files_are_not_published_again(setup: PublisherSetup) -> None:
    first = await setup.publisher.publish(files(a="Do it."))
    setup.clock.advance(60)
    again = await setup.publisher.publish(files(a="Do it."))
    assert (again.name, again.moved) == (first.name, False)
    assert len(await setup.bundles.keys("bundles/")) == 3


async def test_dry_publish_writes_no_object_and_no_schedule(setup: PublisherSetup) -> None:
    tried = await setup.publisher.publish(files(a="Do it.", b="Report."), dry=True)
    assert (tried.workflows.added, len(tried.schedules.added)) == (["a", "b"], 1)
    assert (setup.bundles.objects, setup.timetable.entries) == ({}, {})


async def test_overtaken_publisher_gets_an_error_and_leaves_the_winner_live(setup: PublisherSetup) -> None:
    await setup.publisher.publish(files(a="Do it."))
    waiting, arrived = asyncio.Event(), asyncio.Event()

    class Slow(MemoryBundleStore):
        async def swap(self, key: str, body: bytes, tag: str) -> bool:
            arrived.set()
            await waiting.wait()
            return await super().swap(key, body, tag)

    slow = PublisherSetup(setup.code, setup.clock, Slow(setup.bundles.objects), setup.timetable)
    losing = asyncio.create_task(slow.publisher.publish(files(a="Do it.", mine="Report.")))
    await arrived.wait()
    setup.clock.advance(1)
    won = await setup.publisher.publish(files(a="Do it now.", yours="Report."))
    waiting.set()
    with pytest.raises(Overtaken, match=f"Someone else published {won.name} at the same time"):
        await losing
    assert live(setup) == won.name
    assert [name.startswith("yours-") for name in setup.timetable.entries] == [True]


async def test_pointer_write_with_a_lost_answer_counts_as_published(setup: PublisherSetup) -> None:
    class Lossy(MemoryBundleStore):
        async def swap(self, key: str, body: bytes, tag: str) -> bool:
            # A client that repeats a request after the first answer was lost.
            await super().swap(key, body, tag)
            return await super().swap(key, body, tag)

    lossy = PublisherSetup(setup.code, setup.clock, Lossy(), setup.timetable)
    assert (await lossy.publisher.publish(files(a="Do it."))).name == live(lossy)


class LosesAnswers(MemoryBundleStore):
    """Writes the pointer and then loses the answer; or, with `writes` false, loses the request."""

    writes = True
    blind = False

    async def swap(self, key: str, body: bytes, tag: str) -> bool:
        if self.writes:
            await super().swap(key, body, tag)
        if self.blind:
            self.trouble = _silent
        raise TemporaryError("AWS did not answer put_object")


def _silent(call: str, key: str) -> None:
    raise TemporaryError("AWS did not answer get_object")


async def test_pointer_that_was_written_without_an_answer_is_read_back_as_live(setup: PublisherSetup) -> None:
    setup.bundles = LosesAnswers()
    done = await setup.publisher.publish(files(a="Do it.", b="Report."))
    assert (done.moved, live(setup)) == (True, done.name)
    assert len(setup.timetable.entries) == 1


async def test_failed_pointer_write_names_the_bundle_still_live(setup: PublisherSetup) -> None:
    first = await setup.publisher.publish(files(a="Do it."))
    setup.bundles = LosesAnswers(setup.bundles.objects)
    setup.bundles.writes = False
    setup.clock.advance(60)
    with pytest.raises(NotLive, match=f"is not live; {first.name} still is"):
        await setup.publisher.publish(files(a="Do it well."))
    assert live(setup) == first.name


async def test_pointer_that_can_neither_be_written_nor_read_is_reported_as_unknown(setup: PublisherSetup) -> None:
    setup.bundles = LosesAnswers()
    setup.bundles.blind = True
    with pytest.raises(UnknownWhetherLive, match="gofer publish --list"):
        await setup.publisher.publish(files(a="Do it."))


async def test_schedule_that_cannot_be_removed_is_reported_together_with_the_live_bundle(setup: PublisherSetup) -> None:
    class KeepsSchedules(MemoryTimetable):
        async def delete(self, name: str) -> None:
            raise TemporaryError("AWS did not answer delete_schedule")

    setup.timetable = KeepsSchedules()
    await setup.publisher.publish(files(a="Do it.", b="Report."))
    setup.clock.advance(60)
    with pytest.raises(LiveWithoutSchedules, match=r"is live, but its schedules may be wrong.*delete_schedule"):
        await setup.publisher.publish(files(a="Do it."))
    assert json.loads(setup.bundles.objects[bundle_key(live(setup))].body)["files"] == files(a="Do it.")


async def test_failed_schedule_write_keeps_the_previous_version_live(setup: PublisherSetup) -> None:
    first = await setup.publisher.publish(files(a="Do it."))
    setup.timetable.fails = True
    with pytest.raises(TemporaryError):
        await setup.publisher.publish(files(a="Do it well."))
    assert live(setup) == first.name
    setup.timetable.fails = False
    await setup.publisher.publish(files(a="Do it well."))
    assert live(setup) != first.name


async def test_rollback_restores_the_schedules(setup: PublisherSetup) -> None:
    first = await setup.publisher.publish(files(a="Do it.", weekly="Report."))
    before = dict(setup.timetable.entries)
    setup.clock.advance(60)
    second = await setup.publisher.publish(files(a="Do it.", daily="Report."))
    assert set(setup.timetable.entries).isdisjoint(before)
    back = await setup.publisher.roll_back(first.name)
    assert (back.name, back.before, live(setup)) == (first.name, second.name, first.name)
    assert setup.timetable.entries == before
    assert back.workflows.to_json() == {"added": ["weekly"], "changed": [], "removed": ["daily"]}
    names, current = await setup.publisher.listing(10)
    assert names == [second.name, first.name]
    assert current is not None
    assert current.name == first.name


@pytest.mark.parametrize("name", ["nonsense", "../../blobs/x", "20261121T120000Z-000000000000", "current"])
async def test_rollback_to_an_unknown_bundle_is_refused(setup: PublisherSetup, name: str) -> None:
    with pytest.raises(ConfigError, match="gofer publish --list"):
        await setup.publisher.roll_back(name)


async def test_damaged_bundle_is_refused_for_rollback_and_replaced_by_publishing(setup: PublisherSetup) -> None:
    first = await setup.publisher.publish(files(a="Do it."))
    found = setup.bundles.objects[bundle_key(first.name)]
    setup.bundles.objects[bundle_key(first.name)] = type(found)(found.body.replace(b"Do it.", b"Do ti."), found.tag)
    with pytest.raises(ConfigError, match="does not match its checksum"):
        await setup.publisher.roll_back(first.name)
    setup.clock.advance(1)
    again = await setup.publisher.publish(files(a="Do it."))
    assert (again.moved, live(setup)) == (True, again.name)


async def test_rollback_rewrites_a_missing_routes_file(setup: PublisherSetup) -> None:
    first = await setup.publisher.publish(files(a="Do it."))
    small = setup.bundles.objects.pop(routes_key(first.name))
    await setup.publisher.roll_back(first.name)
    assert setup.bundles.objects[routes_key(first.name)].body == small.body


async def test_damaged_pointer_is_listed_as_no_version_and_replaced_by_publishing(setup: PublisherSetup) -> None:
    first = await setup.publisher.publish(files(a="Do it."))
    setup.bundles.objects[POINTER] = Found(b"nonsense", "x")
    assert await setup.publisher.listing(10) == ([first.name], None)
    setup.clock.advance(1)
    again = await setup.publisher.publish(files(a="Do it."))
    assert (again.before, live(setup)) == ("", again.name)


async def test_bundle_of_the_same_name_with_other_contents_is_never_replaced(setup: PublisherSetup) -> None:
    tried = await setup.publisher.publish(files(a="Do it."), dry=True)
    setup.bundles.objects[bundle_key(tried.name)] = Found(b"another", "x")
    with pytest.raises(TemporaryError, match="holds a different object under"):
        await setup.publisher.publish(files(a="Do it."))
    assert POINTER not in setup.bundles.objects


async def test_interrupted_publishing_is_completed_by_the_next_attempt(setup: PublisherSetup) -> None:
    def lost(call: str, key: str) -> None:
        if call == "swap":
            raise TemporaryError("lost")

    setup.bundles.trouble = lost
    with pytest.raises(TemporaryError):
        await setup.publisher.publish(files(a="Do it."))
    setup.bundles.trouble = no_trouble
    done = await setup.publisher.publish(files(a="Do it."))
    assert (done.moved, live(setup)) == (True, done.name)


async def test_unreadable_winner_is_reported_to_the_overtaken_publisher(setup: PublisherSetup) -> None:
    class Late(MemoryBundleStore):
        async def swap(self, key: str, body: bytes, tag: str) -> bool:
            # Another publisher is first, and its bundle is missing.
            self._write(POINTER, encode_pointer(Current("20261121T120000Z-000000000000", "")))
            return False

    late = PublisherSetup(setup.code, setup.clock, Late(), setup.timetable)
    with pytest.raises(Overtaken, match="20261121T120000Z-000000000000"):
        await late.publisher.publish(files(a="Do it.", b="Report."))


async def test_publisher_stops_after_being_overtaken_repeatedly(setup: PublisherSetup) -> None:
    class Busy(MemoryTimetable):
        async def names(self) -> Sequence[str]:
            # Each time the schedules are read, another version is live.
            await setup.publisher.bundles.swap(POINTER, setup.bundles.objects[POINTER].body, "x")
            setup.bundles.objects[POINTER] = Found(encode_pointer(Current(next(turns), "")), "x")
            return await super().names()

    names = [(await setup.publisher.publish(files(a=text))).name for text in ("one", "two")]
    turns = itertools.cycle(names)
    busy = PublisherSetup(setup.code, setup.clock, setup.bundles, Busy())
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
    setup = PublisherSetup(Path("nowhere"), bundles=bundles, timetable=InterleavedTimetable(bundles.turns))
    wanted = {f"text{n}": files(a=f"text{n}", **{f"own{n}": "Report.", "shared": "Report."}) for n in range(3)}

    async def play() -> list[Published | BaseException]:
        tasks = (setup.publisher.publish(texts) for texts in wanted.values())
        return await asyncio.gather(*tasks, return_exceptions=True)

    told = asyncio.run(play())
    assert {one.name for one in told if isinstance(one, Published)} == set(bundles.lived)
    assert all(isinstance(one, Published | Overtaken) for one in told)
    bundle = json.loads(setup.bundles.objects[bundle_key(live(setup))].body)
    entries = [json.loads(entry.input)["workflow"] for entry in setup.timetable.entries.values()]
    assert sorted(entries) == sorted(name for name, _ in bundle["compiled"]["schedules"])


TEXTS = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), st.sampled_from(["x", "y"]), min_size=1)


@given(st.lists(st.tuples(TEXTS, st.booleans()), min_size=1, max_size=5))
def test_schedules_match_the_live_version_after_each_publish_or_rollback(
    steps: list[tuple[dict[str, str], bool]],
) -> None:
    """Each scheduled workflow has an entry, and no other workflow has one."""
    setup = PublisherSetup(Path("nowhere"))
    names: list[str] = []
    texts: dict[str, set[str]] = {}

    async def play() -> None:
        for prompts, back in steps:
            setup.clock.advance(1)
            if back and names:
                await setup.publisher.roll_back(names[0])
            else:
                made = await setup.publisher.publish(files(**prompts))
                names.append(made.name)
                texts[made.name] = set(list(prompts)[1:])
            entries = {json.loads(entry.input)["workflow"] for entry in setup.timetable.entries.values()}
            assert entries == texts[live(setup)]

    asyncio.run(play())
