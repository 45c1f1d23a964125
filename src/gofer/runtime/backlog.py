"""The backlog: how many runs wait, for what, and since when the oldest. No place, person or workflow is named.

`/readyz`, the page of runs, `gofer runs --stuck` and the log show the same sentences. Runs whose place is not known
yet stand in no list, and count here too.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from gofer.journal.coordination import Head
from gofer.journal.store import Store
from gofer.projections.waits import cause_in, moment
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.outside import Clock

EVERY = 60.0
"""Seconds between two lines in the log."""
TRUSTED = 10.0
"""Seconds for which a reading counts, so that strangers cannot make the store busy."""
LATE_MS = 60_000
"""The milliseconds that a run waits before the log says so."""
_PAGE = 500
_EVER = 10**14
"""A time after that of every run, unix milliseconds."""
_FREE_WORKER = "a free worker"
_WAITS = "waits "

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The runs that wait for the same."""

    cause: str
    count: int
    oldest: int
    """The time at which the oldest of them was accepted, unix milliseconds."""

    @property
    def is_trouble(self) -> bool:
        """Whether they wait for a worker or a system, and not for people, another run or a time."""
        return not self.cause.startswith(_WAITS)

    def sentence(self, now: int) -> str:
        """Return the text for operators; `now` is in unix milliseconds."""
        runs = f"{self.count:,} runs wait"
        if self.count == 1:
            runs = "1 run waits"
        since = f"the oldest since {moment(self.oldest, now)}"
        if not self.is_trouble:
            return f"{runs} {self.cause.removeprefix(_WAITS)}, {since}."
        if self.cause == _FREE_WORKER:
            return f"{runs} for {_FREE_WORKER}, {since}."
        return f"{runs} ({self.cause}), {since}."


async def read_backlog(store: Store) -> Sequence[Waiting]:
    """Return what runs wait for, most runs first. Raises TemporaryError."""
    found: dict[str, Waiting] = {}
    last: Head | None = None
    while page := await store.unfinished(_EVER, _PAGE, after=last):
        for head in page:
            if head.status != "running":
                cause = _cause(head)
                known = found.get(cause, Waiting(cause, 0, head.accepted_at))
                found[cause] = Waiting(cause, known.count + 1, min(known.oldest, head.accepted_at))
        last = page[-1]
    return sorted(found.values(), key=lambda waiting: (-waiting.count, waiting.cause))


def _cause(head: Head) -> str:
    if head.status == "queued":
        return _FREE_WORKER
    return cause_in(head.reason)


def backlog_lines(backlog: Sequence[Waiting], clock: Clock) -> Sequence[str]:
    """Return one sentence for each cause."""
    now = int(clock.now() * 1000)
    return [waiting.sentence(now) for waiting in backlog]


@dataclass(slots=True)
class BacklogWatch:
    """The backlog of one process, read at most once in TRUSTED seconds, and logged once a minute while it lasts."""

    store: Store
    clock: Clock
    _read_at: float | None = None
    _backlog: Sequence[Waiting] = ()
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def serve(self) -> None:
        """Log the backlog once a minute until cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            try:
                await self.log()
            except (TemporaryError, Corrupt) as error:
                _log.warning("the backlog could not be read: %s", error)

    async def log(self) -> None:
        """Write one line if runs wait for a worker or a system for longer than a minute. Raises TemporaryError."""
        before = int(self.clock.now() * 1000) - LATE_MS
        late = [waiting for waiting in await self.current() if waiting.is_trouble and waiting.oldest < before]
        if late:
            count = sum(waiting.count for waiting in late)
            _log.warning("%s", " ".join(backlog_lines(late, self.clock)), extra={"fields": {"count": count}})

    async def current(self) -> Sequence[Waiting]:
        """Return the backlog as it was at most TRUSTED seconds ago. Raises TemporaryError."""
        async with self._reading:
            now = self.clock.monotonic()
            if self._read_at is None or now - self._read_at >= TRUSTED:
                self._backlog = await read_backlog(self.store)
                self._read_at = now
        return self._backlog
