"""The scheduler: one run for each nominal time, despite restarts, wrong clocks and full disks."""

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
from gofer.values.installation_key import InstallationKey
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
class Host:
    """Stored state that outlives processes, and the scheduler on it."""

    clock: SetClock = field(default_factory=lambda: SetClock(NOON))
    store: MemoryStore = field(default_factory=MemoryStore)
    marks: MemoryMarks = field(default_factory=MemoryMarks)
    begun: list[str] = field(default_factory=list)
    """Workflow and nominal time of every start, with duplicates."""
    full: bool = False
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        outside, queue = make_outside(self.clock), MemoryQueue(self.clock)
        self.ingress = Ingress(
            {}, read_routes({}), Stores(self.store, MemoryBlobs(), queue), InstallationKey(Secret("key")), outside
        )

    async def start(self, event: Event, workflow: str) -> str:
        if self.full:
            raise TemporaryError("disk full")
        run = await self.ingress.start(event, workflow)
        said = f"{workflow} {event.place['scheduled'][:16]}"
        self.begun.append(said)
        return run

    async def run(self, *plans: Planned, seconds: float, each: Callable[[], None] = lambda: None) -> None:
        """Run a scheduler process for some seconds."""
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
        """Return the workflows of the claimed runs, oldest first."""
        heads = sorted(await self.store.heads(10_000), key=lambda head: head.accepted_at)
        return [head.workflow for head in heads]


def plan(kind: str, text: str, *, catch_up: bool = False, name: str = "w", zone: str = "UTC") -> Planned:
    return Planned(name, parse(kind, text, zone), catch_up)  # type: ignore[arg-type]


HOURLY = plan("cron", "0 * * * ? *")
CATCHING_UP = plan("cron", "0 * * * ? *", catch_up=True)


async def test_schedule_starts_a_run_at_each_nominal_time_and_not_before() -> None:
    host = Host()
    await host.run(plan("every", "10 minutes"), plan("cron", "15 12 * * ? *", name="v"), seconds=HOUR / 2)
    assert host.begun == [
        "w 2026-11-23T12:10",
        "v 2026-11-23T12:15",
        "w 2026-11-23T12:20",
    ]
    assert max(host.pauses) <= LONGEST


async def test_schedule_does_not_drift_over_a_day() -> None:
    host = Host()
    # Every look at the clock takes 0.7 seconds.
    await host.run(plan("every", "1 minute"), seconds=24 * HOUR, each=lambda: host.clock.advance(0.7))
    assert len(host.begun) == len(set(host.begun)) >= 24 * 60 - 1


async def test_new_schedule_has_no_missed_times() -> None:
    for one in (HOURLY, CATCHING_UP):
        host = Host(SetClock(NOON + 60))
        await host.run(one, seconds=HOUR / 2)
        assert host.begun == []


async def test_missed_times_are_skipped_or_caught_up_with_one_run() -> None:
    for one, expected in ((HOURLY, []), (CATCHING_UP, ["w 2026-11-24T08:00"])):
        host = Host()
        await host.run(one, seconds=60)
        host.clock.advance(20.5 * HOUR)
        await host.run(one, seconds=60)
        assert host.begun == expected
        await host.run(one, seconds=HOUR)
        assert host.begun == [*expected, "w 2026-11-24T09:00"]


async def test_missed_one_time_schedule_is_caught_up_once() -> None:
    host, once = Host(), plan("at", "2026-11-23T13:00", catch_up=True)
    await host.run(once, seconds=60)
    host.clock.advance(5 * HOUR)
    for _ in range(3):
        await host.run(once, seconds=60)
        host.clock.advance(60 * 24 * HOUR)
    # This holds after the claim was forgotten too.
    assert host.begun == ["w 2026-11-23T13:00"]


async def test_restart_right_after_a_nominal_time_starts_the_run() -> None:
    host = Host(SetClock(NOON - 60))
    await host.run(HOURLY, seconds=30)
    host.clock.advance(60)
    await host.run(HOURLY, seconds=60)
    assert host.begun == ["w 2026-11-23T12:00"]


async def test_crash_between_claim_and_mark_starts_no_second_run() -> None:
    host = Host(SetClock(NOON - 60))
    await host.run(HOURLY, seconds=10)
    before = host.marks.marks
    await host.run(HOURLY, seconds=60)
    host.marks.marks = before
    await host.run(HOURLY, seconds=10)
    assert host.begun == ["w 2026-11-23T12:00"] * 2
    assert await host.runs() == ["w"]


async def test_clock_set_back_neither_repeats_nor_blocks_scheduled_runs() -> None:
    host = Host(SetClock(NOON - 60))
    await host.run(HOURLY, seconds=2 * HOUR)
    host.clock.advance(-90 * 60)
    await host.run(HOURLY, seconds=3.5 * HOUR)
    assert await host.runs() == ["w"] * 4
    assert set(host.begun) == {f"w 2026-11-23T{hour}:00" for hour in (12, 13, 14, 15)}
    # The clock was years ahead, and has been corrected.
    host.clock.advance(3 * 365 * 24 * HOUR)
    await host.run(HOURLY, seconds=60)
    host.clock.advance(-3 * 365 * 24 * HOUR)
    await host.run(HOURLY, seconds=HOUR + 60)
    assert host.begun[-1] == "w 2026-11-23T17:00"


async def test_nominal_times_during_sleep_of_the_machine_count_as_missed() -> None:
    for one, expected in ((HOURLY, 0), (CATCHING_UP, 1)):
        host = Host(SetClock(NOON + 60))
        naps = iter([10.4 * HOUR])
        await host.run(one, seconds=10.5 * HOUR, each=partial(nap, host.clock, naps))
        assert len(host.begun) == expected


def nap(clock: SetClock, naps: Iterator[float]) -> None:
    clock.advance(next(naps, 0))


async def test_scheduler_retries_until_the_run_can_be_stored() -> None:
    host = Host(SetClock(NOON - 1))
    host.full = True
    waits: list[int] = []

    def recover() -> None:
        waits.append(1)
        # This is longer than a late start is tolerated.
        host.full = len(waits) < 50

    await host.run(HOURLY, plan("every", "1 day", name="v"), seconds=HOUR / 2, each=recover)
    assert host.pauses.count(RETRY) > 40
    assert host.begun == ["w 2026-11-23T12:00"]


async def test_marks_of_removed_schedules_are_forgotten() -> None:
    host = Host()
    await host.run(CATCHING_UP, seconds=60)
    await host.run(plan("every", "1 hour", name="v"), seconds=60)
    host.clock.advance(5 * HOUR)
    await host.run(CATCHING_UP, seconds=60)
    assert "w" not in await host.runs()


async def test_scheduler_writes_no_further_mark_between_nominal_times() -> None:
    host = Host()
    await host.run(HOURLY, seconds=HOUR - 60)
    assert host.marks.writes == 1


async def test_scheduler_without_schedules_writes_no_mark() -> None:
    host = Host()
    await host.run(seconds=HOUR)
    assert host.marks.writes == 0


async def test_schedules_of_edited_files_count_from_the_edit() -> None:
    host, added = Host(), plan("every", "10 minutes", catch_up=True, name="added")
    scheduler = Scheduler([CATCHING_UP], host.start, host.marks, host.clock)
    await scheduler.start_due()
    host.clock.advance(HOUR)
    await scheduler.start_due()
    scheduler.use([added])
    host.clock.advance(20)
    await scheduler.start_due()
    assert host.begun == ["w 2026-11-23T13:00"]
    host.clock.advance(HOUR / 6)
    await scheduler.start_due()
    assert host.begun == ["w 2026-11-23T13:00", "added 2026-11-23T13:10"]


async def test_schedule_that_was_removed_and_restored_has_no_missed_times() -> None:
    host = Host()
    scheduler = Scheduler([CATCHING_UP], host.start, host.marks, host.clock)
    await scheduler.start_due()
    scheduler.use([])
    await scheduler.start_due()
    host.clock.advance(5 * HOUR + 100)
    scheduler.use([CATCHING_UP])
    await scheduler.start_due()
    assert host.begun == []


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
async def test_nominal_time_never_has_two_runs_and_is_lost_only_by_downtime(
    steps: Sequence[tuple[str, float]], catch_up: bool, interval: str
) -> None:
    host, every = Host(), plan("every", interval, catch_up=catch_up)
    for kind, seconds in steps:
        if kind == "work":
            await host.run(every, seconds=seconds)
        else:
            host.clock.advance(seconds if kind == "down" else -seconds)
    assert len(await host.runs()) == len(set(host.begun))
    if all(kind == "work" for kind, _ in steps):
        step = every.schedule.step.total_seconds()  # type: ignore[union-attr]
        looked = host.clock.now()
        # The last process may have ended exactly at a nominal time, before its next look.
        await host.run(every, seconds=0)
        assert len(host.begun) == looked // step - NOON // step


async def test_schedule_marks_survive_reopening_the_database(tmp_path: Path) -> None:
    for expected, written in (({}, {"a": 1, "b": 2}), ({"a": 1, "b": 2}, {"b": 3}), ({"b": 3}, {})):
        database = Database(tmp_path / "gofer.db", sqlite_marks.SCHEMA)
        try:
            marks = SqliteMarks(database)
            assert await marks.read() == expected
            await marks.write(written)
        finally:
            database.close()
