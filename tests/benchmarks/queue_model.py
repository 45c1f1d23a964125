"""A model of the workers on Lambda: the billed time of a run, and the wait until a worker begins it.

Runs arrive as a Poisson process, and each takes a random time. There are two ways to take work:

- `batches`: the event source mapping hands over up to ten messages at once, and a worker takes nothing more until the
  slowest run of its batch has ended.
- `receiving`: each message begins a worker, which offers it to those with a free slot and enough time, and processes
  it only if there is none.
"""

import bisect
import heapq
import math
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

DAY = 86_400.0
"""Seconds of a day."""
LONGEST = 840.0
"""The most seconds of one run at a stretch; a longer run hands over to another worker."""


@dataclass(frozen=True, slots=True)
class Workers:
    """The rules of the workers. Times are in seconds."""

    most: int = 1_000
    """The most workers at once (`WorkerConcurrency`)."""
    slots: int = 10
    """The most conversations of one worker (`BatchSize`)."""
    window: float = 1.0
    """How long the mapping waits for a batch to fill. A receiving worker needs no full batch."""
    head_start: float = 0.25
    """How long a new worker waits for another one to take its offer."""
    passing: float = 1.25
    """What is paid for a new worker whose message another one took."""
    life: float = 840.0
    """How long a worker works until it hands its runs over."""
    room: float = 300.0
    """What must be left of its life for a worker to take another conversation."""
    oldest_first: bool = False
    """Whether the oldest worker with a free slot takes a message, and not one of them at random."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: when its message is sent, and how long it takes, in seconds."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the runs came to."""

    billed: float
    """Seconds of workers that are paid for each run."""
    invocations: float
    """Workers started for each run."""
    peak: int
    """The most workers at once."""
    waits: Sequence[float]
    """Seconds from a message to the beginning of its run, in order of size."""

    def wait(self, percent: int) -> float:
        """Return the wait that this percentage of the runs does not exceed."""
        return self.waits[min(len(self.waits) - 1, len(self.waits) * percent // 100)]


def poisson(per_day: float, count: int, mean: float, seed: int = 7) -> list[Run]:
    """Return runs that arrive at random, `per_day` on average, and take an exponential time, `mean` on average."""
    random_times, random_lengths = random.Random(seed), random.Random(seed + 1)
    runs: list[Run] = []
    now = 0.0
    for _ in range(count):
        now += random_times.expovariate(per_day / DAY)
        runs.append(Run(now, min(LONGEST, random_lengths.expovariate(1 / mean))))
    return runs


@dataclass(slots=True)
class _Measured:
    """The billed time and the waits while the runs are played."""

    billed: float = 0.0
    started: int = 0
    working: int = 0
    peak: int = 0
    waits: list[float] = field(default_factory=list[float])

    def start_worker(self) -> None:
        self.started += 1
        self.working += 1
        self.peak = max(self.peak, self.working)

    def pass_on(self, seconds: float) -> None:
        """Count a worker that is paid for these seconds, in which another one takes its message."""
        self.started += 1
        self.billed += seconds

    def outcome(self) -> Outcome:
        runs = len(self.waits)
        return Outcome(self.billed / runs, self.started / runs, self.peak, sorted(self.waits))


def batches(runs: Sequence[Run], workers: Workers) -> Outcome:
    """Return the outcome of runs in order of arrival when each worker takes one batch."""
    measured = _Measured()
    ends: list[float] = []
    """When each worker that works is free again: a heap."""
    first = 0
    free_at = 0.0
    while first < len(runs):
        last = min(first + workers.slots, len(runs))
        full_at = runs[last - 1].at if last - first == workers.slots else math.inf
        ready_at = min(full_at, runs[first].at + workers.window)
        ready_at = max(ready_at, free_at)
        while ends and ends[0] <= ready_at:
            heapq.heappop(ends)
        if len(ends) == workers.most:
            free_at = heapq.heappop(ends)
            ready_at = max(ready_at, free_at)
        batch = [run for run in runs[first:last] if run.at <= ready_at]
        measured.waits += [ready_at - run.at for run in batch]
        busy = max(run.seconds for run in batch)
        measured.billed += busy
        measured.working = len(ends)
        measured.start_worker()
        heapq.heappush(ends, ready_at + busy)
        first += len(batch)
    return measured.outcome()


@dataclass(slots=True)
class _Worker:
    """A worker that receives: its start, and its conversations."""

    started: float
    ready: float
    """When it begins to process."""
    conversations: int = 0
    is_open: bool = False
    """Whether it stands among the workers that may take another conversation."""


class _Receiving:
    """The workers that receive, while the runs are played in order."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._random = random.Random(9)
        self.measured = _Measured()
        self._ends: list[tuple[float, int, _Worker]] = []
        self._open: list[_Worker] = []
        """Workers with a free slot, the oldest first. Those without enough time left are dropped when they are met."""
        self._waiting: deque[Run] = deque()
        self._order = 0

    def arrive(self, run: Run) -> None:
        """Play all ends before this arrival, then give the run to a worker or let it wait."""
        self.play_until(run.at)
        self._waiting.append(run)
        self._give(run.at)

    def play_until(self, time: float) -> None:
        """Play the ends of conversations up to a time."""
        while self._ends and self._ends[0][0] <= time:
            now, _, worker = heapq.heappop(self._ends)
            worker.conversations -= 1
            self._free_slot(worker, now)
            self._give(now)
            if worker.conversations == 0:
                # A worker without a conversation ends, and is billed up to here.
                self.measured.billed += now - worker.started
                self.measured.working -= 1
                worker.started = -math.inf
                self._give(now)

    def _free_slot(self, worker: _Worker, now: float) -> None:
        if not worker.is_open and self._has_time(worker, now):
            self._push_open(worker)

    def _give(self, now: float) -> None:
        while self._waiting:
            worker = self._taker(now)
            if worker is None:
                return
            run = self._waiting.popleft()
            begins = max(now, worker.ready)
            self.measured.waits.append(begins - run.at)
            worker.conversations += 1
            self._order += 1
            heapq.heappush(self._ends, (begins + run.seconds, self._order, worker))

    def _taker(self, now: float) -> _Worker | None:
        """Return the oldest worker that may take a conversation now, or a new one; None if there are too many."""
        may_start = self.measured.working < self._workers.most
        while self._open:
            place = 0 if self._workers.oldest_first else self._random.randrange(len(self._open))
            worker = self._open[place]
            if self._has_time(worker, now) and worker.conversations < self._workers.slots:
                if may_start:
                    self.measured.pass_on(self._workers.passing)
                return worker
            worker.is_open = False
            del self._open[place]
        return self._start(now) if may_start else None

    def _start(self, now: float) -> _Worker:
        """Start a worker that finds no taker for its message."""
        self.measured.start_worker()
        worker = _Worker(now, now + self._workers.head_start)
        self._push_open(worker)
        return worker

    def _push_open(self, worker: _Worker) -> None:
        worker.is_open = True
        bisect.insort(self._open, worker, key=lambda one: one.started)

    def _has_time(self, worker: _Worker, now: float) -> bool:
        return now - worker.started < self._workers.life - self._workers.room


def receiving(runs: Sequence[Run], workers: Workers) -> Outcome:
    """Return the outcome of runs in order of arrival when workers with a free slot take the next message themselves."""
    played = _Receiving(workers)
    for run in runs:
        played.arrive(run)
    played.play_until(math.inf)
    return played.measured.outcome()
