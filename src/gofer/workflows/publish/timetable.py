"""The timetable in EventBridge Scheduler: the schedules of published workflows, and no others."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from gofer.values.schedules.nominal_times import expression, next_after, zone_name
from gofer.values.schedules.planned import HEARD, Planned

NOMINAL = "<aws.scheduler.scheduled-time>"
"""The placeholder that Scheduler replaces by the scheduled time."""
OLDEST = timedelta(days=1)
"""How long Scheduler retries a delivery at most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule in EventBridge Scheduler. Its target is that of the schedule group."""

    name: str
    expression: str
    zone: str
    input: str
    """The input of the Lambda function, as JSON."""
    seconds: int
    """The maximum age of a delivery, in seconds."""
    starts: datetime | None = field(default=None, compare=False)
    """The first time of an interval schedule, which aligns it with Gofer's times; ignored in comparisons."""


class Timetable(Protocol):
    """The schedules of one stage. Every call may raise TemporaryError, and ConfigError when the stage is not set up."""

    async def names(self) -> Sequence[str]:
        """Return the names of all entries."""
        ...

    async def entry(self, name: str) -> Entry | None:
        """Return the entry of a name; None if it does not exist or has the wrong target."""
        ...

    async def put(self, entry: Entry) -> None:
        """Create or replace an entry."""
        ...

    async def delete(self, name: str) -> None:
        """Remove an entry if it exists."""
        ...


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes to make to a timetable."""

    added: Sequence[Entry] = ()
    changed: Sequence[Entry] = ()
    removed: Sequence[str] = ()
    """The names of entries to remove."""

    def to_json(self) -> dict[str, object]:
        """Return the changes as `gofer publish --json` prints them."""
        rows = [
            [{"name": entry.name, "expression": entry.expression, "zone": entry.zone} for entry in entries]
            for entries in (self.added, self.changed)
        ]
        return {"added": rows[0], "changed": rows[1], "removed": list(self.removed)}


def entry_of(plan: Planned, now: datetime) -> Entry:
    """Return the entry of a schedule. The name depends only on the workflow's name and the schedule."""
    name = f"{plan.workflow[:47]}-{hashlib.sha256(plan.id.encode()).hexdigest()[:16]}"
    event = json.dumps({"workflow": plan.workflow, "schedule": plan.id, "at": NOMINAL})
    starts = None
    if expression(plan.schedule).startswith("rate("):
        starts = next_after(plan.schedule, now)
    late = HEARD
    if plan.catch_up:
        late = OLDEST
    return Entry(
        name=name,
        expression=expression(plan.schedule),
        zone=zone_name(plan.schedule),
        input=event,
        seconds=int(late.total_seconds()),
        starts=starts,
    )


async def changes(plans: Sequence[Planned], timetable: Timetable, now: datetime) -> Changes:
    """Return the changes after which a timetable contains exactly these schedules.

    A schedule without a future time is not added. A schedule that ended less than OLDEST ago is kept, because its last
    delivery may be under way.
    """
    existing = set(await timetable.names())
    entries = [entry_of(plan, now) for plan in plans if next_after(plan.schedule, now)]
    coming = {entry.name: entry for entry in entries}
    recent = {entry_of(plan, now).name for plan in plans if next_after(plan.schedule, now - OLDEST)}
    both = sorted(coming.keys() & existing)
    stored = await asyncio.gather(*(timetable.entry(name) for name in both))
    return Changes(
        [coming[name] for name in sorted(coming.keys() - existing)],
        [coming[name] for name, entry in zip(both, stored, strict=True) if entry != coming[name]],
        sorted(existing - recent),
    )


async def write(wanted: Changes, timetable: Timetable) -> None:
    """Add and change schedules. `clear` removes old ones later, when no live workflow needs them."""
    for entry in (*wanted.added, *wanted.changed):
        await timetable.put(entry)


async def clear(wanted: Changes, timetable: Timetable) -> None:
    """Remove the schedules that no live workflow needs."""
    for name in wanted.removed:
        await timetable.delete(name)
