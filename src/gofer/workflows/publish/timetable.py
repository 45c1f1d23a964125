"""The timetable in EventBridge Scheduler: the schedules of published workflows, and no others."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from gofer.values.schedules.nominal_times import Every, expression, next_after, zone_name
from gofer.values.schedules.planned import HEARD, Planned

NOMINAL = "<aws.scheduler.scheduled-time>"
"""What Scheduler replaces by the time a firing is meant for."""
OLDEST = timedelta(days=1)
"""How long Scheduler tries to deliver at most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule as it stands there; to whom it goes is the group's."""

    name: str
    expression: str
    zone: str
    input: str
    """What the function is told, as JSON."""
    seconds: int
    """How late it may still be delivered."""
    starts: datetime | None = field(default=None, compare=False)
    """The first time of an interval, so that it keeps to our times; it means nothing later on."""


class Timetable(Protocol):
    """The schedules of one stage. Every call may raise TemporaryError, and ConfigError when it is not set up."""

    async def names(self) -> Sequence[str]:
        """Return the names of all of them."""
        ...

    async def entry(self, name: str) -> Entry | None:
        """Return what stands under a name; None for nothing, and for what does not go to where it should."""
        ...

    async def put(self, entry: Entry) -> None:
        """Write an entry, whether there is one of that name or not."""
        ...

    async def delete(self, name: str) -> None:
        """Remove an entry; nothing happens when there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Changes:
    """What has to be done to a timetable."""

    added: Sequence[Entry] = ()
    changed: Sequence[Entry] = ()
    removed: Sequence[str] = ()
    """Names."""

    def to_json(self) -> dict[str, object]:
        """Return changes by name, and what is new with its expression."""
        shown = [
            [{"name": one.name, "expression": one.expression, "zone": one.zone} for one in entries]
            for entries in (self.added, self.changed)
        ]
        return {"added": shown[0], "changed": shown[1], "removed": list(self.removed)}


def entry_of(plan: Planned, now: datetime) -> Entry:
    """Return the entry of a schedule. Its name stays the same while the workflow's name and the schedule do."""
    name = f"{plan.workflow[:47]}-{hashlib.sha256(plan.id.encode()).hexdigest()[:16]}"
    told = json.dumps({"workflow": plan.workflow, "schedule": plan.id, "at": NOMINAL})
    if isinstance(plan.schedule, Every):
        starts = next_after(plan.schedule, now)
    else:
        starts = None
    late = OLDEST if plan.catch_up else HEARD
    return Entry(
        name=name,
        expression=expression(plan.schedule),
        zone=zone_name(plan.schedule),
        input=told,
        seconds=int(late.total_seconds()),
        starts=starts,
    )


async def changes(plans: Sequence[Planned], timetable: Timetable, now: datetime) -> Changes:
    """Return what is to be changed so that a timetable holds these schedules and nothing else.

    A schedule without a time to come is left out; one that was over only lately stays, for it may be under delivery.
    """
    there = set(await timetable.names())
    coming = {one.name: one for plan in plans if next_after(plan.schedule, now) for one in [entry_of(plan, now)]}
    lately = {entry_of(plan, now).name for plan in plans if next_after(plan.schedule, now - OLDEST)}
    both = sorted(coming.keys() & there)
    standing = await asyncio.gather(*(timetable.entry(name) for name in both))
    return Changes(
        [coming[name] for name in sorted(coming.keys() - there)],
        [coming[name] for name, entry in zip(both, standing, strict=True) if entry != coming[name]],
        sorted(there - lately),
    )


async def write(wanted: Changes, timetable: Timetable) -> None:
    """Add and change schedules; `clear` removes the others, when no workflow relies on them."""
    for entry in (*wanted.added, *wanted.changed):
        await timetable.put(entry)


async def clear(wanted: Changes, timetable: Timetable) -> None:
    """Remove what is not wanted."""
    for name in wanted.removed:
        await timetable.delete(name)
