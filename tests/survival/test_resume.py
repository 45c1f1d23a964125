"""Crashed owners: their runs resume within three minutes, on the semantics of DynamoDB and SQS."""

import asyncio
import logging
import random
from collections.abc import Iterator, Sequence

import pytest

from gofer.journal.entries import Recorded, RunChecked, RunFinished, RunHandedOver, RunParked
from gofer.journal.log import read_journal
from support.simulation.judge import Report
from support.simulation.schedule import Schedule
from support.simulation.virtual_time import START

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

WITHIN = 180.0
"""Seconds from the crash to the first frame of the next owner."""
SCHEDULES = 100
KINDS = ("crash", "pause", "throttle", "lost", "refused", "late", "absent")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


class OneCrash(Schedule):
    """A schedule with a single fault: one worker crashes, at a time drawn from the seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, "dynamodb")
        for kind in KINDS:
            setattr(self.faults, kind, 0.0)
        self.at = random.Random(f"crash {seed}").uniform(0.05, 40)
        self.journals: Sequence[Sequence[Recorded]] = ()
        self.victim = 0

    async def _play(self) -> Report:
        killing = asyncio.create_task(self._kill())
        report = await super()._play()
        await killing
        runs = sorted(run for found in self.accepted.values() for run in found)
        self.journals = [await read_journal(run, self.copy, self.blobs) for run in runs]
        return report

    async def _kill(self) -> None:
        await asyncio.sleep(self.at)
        machine = self.serving[0]
        self.victim = machine.number
        machine.dead.set()

    @property
    def waits(self) -> Sequence[float]:
        """Return the seconds without an owner for each run of the dead machine."""
        crash, dead = (START + self.at) * 1000, f"m{self.victim}-"
        found: list[float] = []
        for journal in self.journals:
            last = next((recorded for recorded in reversed(journal) if recorded.at <= crash), None)
            # Runs that were parked, handed over or finished had no owner.
            if (
                last
                and last.owner.startswith(dead)
                and not isinstance(last.entry, RunFinished | RunChecked | RunHandedOver | RunParked)
            ):
                found.append(next(recorded.at - crash for recorded in journal if recorded.at > crash) / 1000)
        return found


def test_crashed_run_resumes_within_three_minutes(everywhere: bool) -> None:
    waits: list[float] = []
    seeds = range(SCHEDULES) if everywhere else range(SCHEDULES // 2)
    for seed in seeds:
        schedule = OneCrash(seed)
        assert schedule.run().violations == [], f"seed {seed}"
        assert all(wait <= WITHIN for wait in schedule.waits), f"seed {seed}: {schedule.waits}"
        waits += schedule.waits
    # Most crashes hit the run of a worker, and then it has no owner until its lease ends and its message comes back.
    assert len(waits) > len(seeds) / 3
    assert max(waits) > 30
