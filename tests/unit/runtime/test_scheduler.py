"""One run for each nominal time, whatever the clock, the process and the disk do in between."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.runtime.receive import Ingress
from gofer.runtime.scheduler import LONGEST, RETRY, Scheduler
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.stores.sqlite import schedule_marks as sqlite_marks
from gofer.stores.sqlite.database import Database
from gofer.stores.sqlite.schedule_marks import SqliteMarks
from gofer.values.errors import TemporaryError
from gofer.values.events import Event
from gofer.values.schedules.nominal_times import parse
from gofer.values.schedules.planned import Planned
from gofer.values.secret import Secret
from gofer.workflows.routes import read_routes
from support.property_examples import examples
from support.stand_ins import SetClock, make_outside

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
"""A Monday."""
HOUR = 3600.0


class Stopped(Exception):
    pass


class MemoryMarks:
    def __init__(self) -> None:
        self.marks: Mapping[str, int] = {}
        self.writes = 0

    async def read(self) -> Mapping[str, int]:
        return self.marks

    async def write(self, marks: Mapping[str, int]) -> None:
        self.marks = dict(marks)
        self.writes += 1


@dataclass
class House:
    """A state that outlives processes, and the scheduler over it."""

    clock: SetClock = field(default_factory=lambda: SetClock(NOON))
    store: MemoryStore = field(default_factory=MemoryStore)
    marks: MemoryMarks = field(default_factory=MemoryMarks)
    begun: list[str] = field(default_factory=list)
    """What was told to begin, duplicates too: workflow and nominal time."""
    full: bool = False
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        outside, queue = make_outside(self.clock), MemoryQueue(self.clock)
        self.ingress = Ingress({}, read_routes({}), Stores(self.store, MemoryBlobs(), queue), Secret("key"), outside)

    async def start(self, event: Event, workflow: str) -> str:
        if self.full:
            raise TemporaryError("disk full")
        run = await self.ingress.start(event, workflow)
        said = f"{workflow} {event.place['scheduled'][:16]}"
        self.begun.append(said)
        return run

    async def run(self, *plans: Planned, seconds: float, each: Callable[[], None] = lambda: None) -> None:
        """A process that lives so long."""
        end = self.clock.now() + seconds

        async def sleep(pause: float) -> None:
            self.pauses.append(pause)
            self.clock.advance(pause)
            each()
            if self.clock.now() >= end:
                raise Stopped

        with pytest.raises(Stopped):
            await Scheduler(plans, self.start, self.marks, self.clock, sleep).serve()

    async def runs(self) -> Sequence[str]:
        """The runs that were claimed, by workflow, oldest first."""
        heads = sorted(await self.store.heads(10_000), key=lambda head: head.accepted_at)
        return [head.workflow for head in heads]


def plan(kind: str, text: str, *, catch_up: bool = False, name: str = "w", zone: str = "UTC") -> Planned:
    return Planned(name, parse(kind, text, zone), catch_up)  # type: ignore[arg-type]


HOURLY = plan("cron", "0 * * * ? *")
CATCHING_UP = plan("cron", "0 * * * ? *", catch_up=True)


async def test_a_run_begins_at_each_nominal_time_and_not_before() -> None:
    house = House()
    await house.run(plan("every", "10 minutes"), plan("cron", "15 12 * * ? *", name="v"), seconds=HOUR / 2)
    assert house.begun == [
        "w 2026-11-23T12:10",
        "v 2026-11-23T12:15",
        "w 2026-11-23T12:20",
    ]
    assert max(house.pauses) <= LONGEST


async def test_nothing_drifts_over_a_day() -> None:
    house = House()
    # Every look at the clock takes a while.
    await house.run(plan("every", "1 minute"), seconds=24 * HOUR, each=lambda: house.clock.advance(0.7))
    assert len(house.begun) == len(set(house.begun)) >= 24 * 60 - 1


async def test_a_schedule_that_is_new_missed_nothing() -> None:
    for one in (HOURLY, CATCHING_UP):
        house = House(SetClock(NOON + 60))
        await house.run(one, seconds=HOUR / 2)
        assert house.begun == []


async def test_what_was_missed_is_skipped_or_gets_one_run() -> None:
    for one, expected in ((HOURLY, []), (CATCHING_UP, ["w 2026-11-24T08:00"])):
        house = House()
        await house.run(one, seconds=60)
        house.clock.advance(20.5 * HOUR)
        await house.run(one, seconds=60)
        assert house.begun == expected
        await house.run(one, seconds=HOUR)
        assert house.begun == [*expected, "w 2026-11-24T09:00"]


async def test_one_time_that_was_missed_is_caught_up_once() -> None:
    house, once = House(), plan("at", "2026-11-23T13:00", catch_up=True)
    await house.run(once, seconds=60)
    house.clock.advance(5 * HOUR)
    for _ in range(3):
        await house.run(once, seconds=60)
        house.clock.advance(60 * 24 * HOUR)
    # Also after the claim itself was forgotten.
    assert house.begun == ["w 2026-11-23T13:00"]


async def test_a_restart_right_after_the_nominal_time_loses_nothing() -> None:
    house = House(SetClock(NOON - 60))
    await house.run(HOURLY, seconds=30)
    house.clock.advance(60)
    await house.run(HOURLY, seconds=60)
    assert house.begun == ["w 2026-11-23T12:00"]


async def test_a_crash_between_the_claim_and_its_mark_doubles_nothing() -> None:
    house = House(SetClock(NOON - 60))
    await house.run(HOURLY, seconds=10)
    before = house.marks.marks
    await house.run(HOURLY, seconds=60)
    house.marks.marks = before
    await house.run(HOURLY, seconds=10)
    assert house.begun == ["w 2026-11-23T12:00"] * 2
    assert await house.runs() == ["w"]


async def test_a_clock_that_is_set_back_doubles_nothing_and_holds_up_nothing() -> None:
    house = House(SetClock(NOON - 60))
    await house.run(HOURLY, seconds=2 * HOUR)
    house.clock.advance(-90 * 60)
    await house.run(HOURLY, seconds=3.5 * HOUR)
    assert await house.runs() == ["w"] * 4
    assert set(house.begun) == {f"w 2026-11-23T{hour}:00" for hour in (12, 13, 14, 15)}
    # It was years ahead, and has been set right.
    house.clock.advance(3 * 365 * 24 * HOUR)
    await house.run(HOURLY, seconds=60)
    house.clock.advance(-3 * 365 * 24 * HOUR)
    await house.run(HOURLY, seconds=HOUR + 60)
    assert house.begun[-1] == "w 2026-11-23T17:00"


async def test_a_machine_that_slept_has_missed_what_was_meanwhile() -> None:
    for one, expected in ((HOURLY, 0), (CATCHING_UP, 1)):
        house = House(SetClock(NOON + 60))
        naps = iter([10.4 * HOUR])
        await house.run(one, seconds=10.5 * HOUR, each=partial(nap, house.clock, naps))
        assert len(house.begun) == expected


def nap(clock: SetClock, naps: Iterator[float]) -> None:
    clock.advance(next(naps, 0))


async def test_while_nothing_can_be_stored_it_waits_and_then_begins() -> None:
    house = House(SetClock(NOON - 1))
    house.full = True
    waits: list[int] = []

    def recover() -> None:
        waits.append(1)
        # For longer than a time is heard late.
        house.full = len(waits) < 50

    await house.run(HOURLY, plan("every", "1 day", name="v"), seconds=HOUR / 2, each=recover)
    assert house.pauses.count(RETRY) > 40
    assert house.begun == ["w 2026-11-23T12:00"]


async def test_marks_of_schedules_that_are_gone_are_forgotten() -> None:
    house = House()
    await house.run(CATCHING_UP, seconds=60)
    await house.run(plan("every", "1 hour", name="v"), seconds=60)
    house.clock.advance(5 * HOUR)
    await house.run(CATCHING_UP, seconds=60)
    assert "w" not in await house.runs()


async def test_nothing_is_written_while_nothing_happens() -> None:
    house = House()
    await house.run(HOURLY, seconds=HOUR - 60)
    assert house.marks.writes == 1


async def test_without_schedules_nothing_is_written() -> None:
    house = House()
    await house.run(seconds=HOUR)
    assert house.marks.writes == 0


async def test_schedules_of_edited_files_count_from_then_on_and_missed_nothing() -> None:
    house, added = House(), plan("every", "10 minutes", catch_up=True, name="added")
    scheduler = Scheduler([CATCHING_UP], house.start, house.marks, house.clock)
    await scheduler.start_due()
    house.clock.advance(HOUR)
    await scheduler.start_due()
    scheduler.use([added])
    house.clock.advance(20)
    await scheduler.start_due()
    assert house.begun == ["w 2026-11-23T13:00"]
    house.clock.advance(HOUR / 6)
    await scheduler.start_due()
    assert house.begun == ["w 2026-11-23T13:00", "added 2026-11-23T13:10"]


async def test_a_schedule_that_was_taken_away_and_comes_back_missed_nothing() -> None:
    house = House()
    scheduler = Scheduler([CATCHING_UP], house.start, house.marks, house.clock)
    await scheduler.start_due()
    scheduler.use([])
    await scheduler.start_due()
    house.clock.advance(5 * HOUR + 100)
    scheduler.use([CATCHING_UP])
    await scheduler.start_due()
    assert house.begun == []


JUMPS = st.lists(
    st.one_of(
        st.tuples(st.just("work"), st.floats(1, 5 * HOUR)),
        st.tuples(st.just("down"), st.floats(1, 30 * HOUR)),
        st.tuples(st.just("back"), st.floats(1, 3 * HOUR)),
    ),
    min_size=1,
    max_size=6,
)


@examples(0.7)
@given(JUMPS, st.booleans(), st.sampled_from(["1 hour", "7 minutes", "1 day"]))
@example([("work", 17_971.0)], False, "1 hour")
async def test_no_nominal_time_ever_has_two_runs_and_only_downtime_loses_any(
    steps: Sequence[tuple[str, float]], catch_up: bool, interval: str
) -> None:
    house, every = House(), plan("every", interval, catch_up=catch_up)
    for kind, seconds in steps:
        if kind == "work":
            await house.run(every, seconds=seconds)
        else:
            house.clock.advance(seconds if kind == "down" else -seconds)
    assert len(await house.runs()) == len(set(house.begun))
    if all(kind == "work" for kind, _ in steps):
        step = every.schedule.step.total_seconds()  # type: ignore[union-attr]
        looked = house.clock.now()
        # The last process may have ended at a nominal time, before it looked.
        await house.run(every, seconds=0)
        assert len(house.begun) == looked // step - NOON // step


async def test_marks_stand_in_the_database(tmp_path: Path) -> None:
    for expected, written in (({}, {"a": 1, "b": 2}), ({"a": 1, "b": 2}, {"b": 3}), ({"b": 3}, {})):
        database = Database(tmp_path / "gofer.db", sqlite_marks.SCHEMA)
        try:
            marks = SqliteMarks(database)
            assert await marks.read() == expected
            await marks.write(written)
        finally:
            database.close()
