"""The scheduler: begins runs when their time has come, and reads the wall clock anew after every sleep.

It reckons from nominal times only, so nothing drifts. Such a time is claimed by its identity: whatever clocks, crashes
and second looks do, it has one run. What is remembered (`marks`) only says what was missed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from gofer.sources.schedule.receiver import scheduled
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.events import Event
from gofer.values.outside import Clock
from gofer.values.schedules.nominal_times import next_after, previous_before
from gofer.values.schedules.planned import HEARD, Planned

LONGEST = 30.0
"""Seconds of sleep at most: a wall clock may be set, and a machine may be suspended."""
RETRY = 5.0
"""Seconds until what could not be stored is tried again."""

_log = logging.getLogger(__name__)


class Marks(Protocol):
    """Marks by the id of a schedule: the unix second up to which its times were begun or left out."""

    async def read(self) -> Mapping[str, int]:
        """All marks. Raises TemporaryError, Damaged."""
        ...

    async def write(self, marks: Mapping[str, int]) -> None:
        """Replaces all marks. Raises TemporaryError, Damaged."""
        ...


@dataclass(slots=True)
class Clockwork:
    """Begins the runs of schedules in one process, of which only one may be at work over a state."""

    plans: Sequence[Planned]
    start: Callable[[Event, str], Awaitable[str]]
    """Claims the run of a workflow for an event, as `dispatch.Ingress.start`."""
    marks: Marks
    clock: Clock
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _stored: Mapping[str, int] | None = None
    _marks: dict[str, int] = field(default_factory=dict[str, int])
    _owed: list[tuple[Planned, datetime]] = field(default_factory=list[tuple[Planned, datetime]])
    """What was due and has not been claimed yet."""

    async def serve(self) -> None:
        """Begins runs until it is cancelled; looks at least every 30 seconds, as its plans may change."""
        while True:
            try:
                pause = await self.look()
            except (TemporaryError, Corrupt) as error:
                _log.warning("schedules wait: %s", error)
                pause = RETRY
            await self.sleep(pause)

    def use(self, plans: Sequence[Planned]) -> None:
        """Begin the runs of these schedules from the next look on, as after a start with them."""
        self.plans = plans
        known = {plan.id for plan in plans}
        self._marks = {name: mark for name, mark in self._marks.items() if name in known}

    async def look(self) -> float:
        """Begins what is due, once; gives the seconds to sleep. Raises TemporaryError, Damaged: then look again."""
        if self._stored is None:
            self._stored = await self.marks.read()
            # Those of schedules that are gone are forgotten.
            self._marks = {plan.id: self._stored[plan.id] for plan in self.plans if plan.id in self._stored}
        now = datetime.fromtimestamp(self.clock.now(), UTC)
        for plan in self.plans:
            self._listen(plan, now)
        while self._owed:
            plan, nominal = self._owed[0]
            await self.start(scheduled(plan.workflow, plan.schedule, nominal), plan.workflow)
            del self._owed[0]
        if self._marks != self._stored:
            # Only now: what was not claimed before a crash is then still to be heard, or missed.
            await self.marks.write(self._marks)
            self._stored = dict(self._marks)
        coming = [next_after(plan.schedule, now) for plan in self.plans]
        return min([LONGEST, *((then - now).total_seconds() for then in coming if then is not None)])

    def _listen(self, plan: Planned, now: datetime) -> None:
        """Notes what has come due since the last look, and what was missed."""
        second = int(now.timestamp())
        # A schedule that is new missed nothing; a clock that was set back cannot hold up what comes next.
        mark = min(self._marks.get(plan.id, second), second)
        self._marks[plan.id] = mark
        latest = previous_before(plan.schedule, now + timedelta(microseconds=1))
        if latest is None or latest.timestamp() <= mark:
            return
        due = _prompt(plan, datetime.fromtimestamp(mark, UTC), now)
        if not due and plan.catch_up:
            due = [latest]
        elif not due:
            _log.info("%s was not begun for %s: nobody listened then", plan.workflow, latest.isoformat())
        self._owed += [(plan, nominal) for nominal in due]
        self._marks[plan.id] = int(latest.timestamp())


def _prompt(plan: Planned, mark: datetime, now: datetime) -> list[datetime]:
    """The nominal times after a mark that are heard in time."""
    found: list[datetime] = []
    nominal = next_after(plan.schedule, max(mark, now - HEARD))
    while nominal is not None and nominal <= now:
        found.append(nominal)
        nominal = next_after(plan.schedule, nominal)
    return found
