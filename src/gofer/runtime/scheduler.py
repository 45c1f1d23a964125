"""The scheduler: starts runs at their times, and reads the clock again after every sleep.

All times are computed from nominal times, so nothing drifts. A run is claimed by its nominal time, so no clock, crash
or repeated look starts a second run for it. The marks only tell which times were missed.
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
"""The longest sleep in seconds: a clock may be set, and a machine may be suspended."""
RETRY = 5.0
"""Seconds until the next attempt after the store failed."""

_log = logging.getLogger(__name__)


class Marks(Protocol):
    """Marks by the id of a schedule: the unix second up to which its times were started or left out."""

    async def read(self) -> Mapping[str, int]:
        """Return all marks. Raises TemporaryError, Corrupt."""
        ...

    async def write(self, marks: Mapping[str, int]) -> None:
        """Replace all marks. Raises TemporaryError, Corrupt."""
        ...


@dataclass(slots=True)
class Scheduler:
    """The scheduler of one process; only one may run over a state."""

    plans: Sequence[Planned]
    start: Callable[[Event, str], Awaitable[str]]
    """Claim the run of a workflow for an event, as `receive.Ingress.start` does."""
    marks: Marks
    clock: Clock
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _stored: Mapping[str, int] | None = None
    _marks: dict[str, int] = field(default_factory=dict[str, int])
    _due: list[tuple[Planned, datetime]] = field(default_factory=list[tuple[Planned, datetime]])
    """The times that are due and not yet claimed."""

    async def serve(self) -> None:
        """Start runs until cancelled; sleep at most 30 seconds, because the schedules may change."""
        while True:
            try:
                pause = await self.start_due()
            except (TemporaryError, Corrupt) as error:
                _log.warning("the scheduler could not start runs, and tries again: %s", error)
                pause = RETRY
            await self.sleep(pause)

    def use(self, plans: Sequence[Planned]) -> None:
        """Replace the schedules, as a restart with them would."""
        self.plans = plans
        known = {plan.id for plan in plans}
        self._marks = {name: mark for name, mark in self._marks.items() if name in known}

    async def start_due(self) -> float:
        """Start all runs that are due, and return the seconds to sleep.

        Raises TemporaryError and Corrupt; the next call then starts the remaining runs.
        """
        if self._stored is None:
            self._stored = await self.marks.read()
            # Drop the marks of removed schedules.
            self._marks = {plan.id: self._stored[plan.id] for plan in self.plans if plan.id in self._stored}
        now = datetime.fromtimestamp(self.clock.now(), UTC)
        for plan in self.plans:
            self._collect_due(plan, now)
        while self._due:
            plan, nominal = self._due[0]
            await self.start(scheduled(plan.workflow, plan.schedule, nominal), plan.workflow)
            del self._due[0]
        if self._marks != self._stored:
            # Written after the claims, so that a crash before them does not lose a run.
            await self.marks.write(self._marks)
            self._stored = dict(self._marks)
        coming = [next_after(plan.schedule, now) for plan in self.plans]
        return min([LONGEST, *((then - now).total_seconds() for then in coming if then is not None)])

    def _collect_due(self, plan: Planned, now: datetime) -> None:
        """Add the times that came due since the last look, and log missed ones."""
        second = int(now.timestamp())
        # A new schedule has missed nothing, and a clock that was set back must not delay the next time.
        mark = min(self._marks.get(plan.id, second), second)
        self._marks[plan.id] = mark
        latest = previous_before(plan.schedule, now + timedelta(microseconds=1))
        if latest is None or latest.timestamp() <= mark:
            return
        due = _nominal_times(plan, datetime.fromtimestamp(mark, UTC), now)
        if not due and plan.catch_up:
            due = [latest]
        elif not due:
            _log.info(
                "workflow %s was not started for %s: its time was missed",
                plan.workflow,
                latest.isoformat(),
            )
        self._due += [(plan, nominal) for nominal in due]
        self._marks[plan.id] = int(latest.timestamp())


def _nominal_times(plan: Planned, mark: datetime, now: datetime) -> list[datetime]:
    """Return the nominal times after a mark that are not too late to start."""
    found: list[datetime] = []
    nominal = next_after(plan.schedule, max(mark, now - HEARD))
    while nominal is not None and nominal <= now:
        found.append(nominal)
        nominal = next_after(plan.schedule, nominal)
    return found
