"""The schedules of workflows, and the runs of times that were missed or arrive late."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gofer.values.canonical_json import as_object, as_text
from gofer.values.schedules.nominal_times import (
    Kind,
    Schedule,
    expression,
    next_after,
    parse,
    previous_before,
    zone_name,
)

HEARD = timedelta(seconds=90)
"""How late a nominal time is heard without having been missed."""
RETRIED = timedelta(minutes=5)
"""How much later it is told again when it could not be begun: Lambda tries twice more within three minutes."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One schedule of one workflow."""

    workflow: str
    schedule: Schedule
    catch_up: bool = False
    """Whether there is one run for all the times that were missed."""

    @property
    def id(self) -> str:
        """The same as long as neither the workflow's name nor its schedule changes."""
        return f"{self.workflow} {expression(self.schedule)} {zone_name(self.schedule)}"


def planned(workflow: str, compiled: object) -> Planned:
    """Return the schedule of a workflow from its compiled JSON, as `workflows.schedule` makes it. Raises NoSchedule."""
    value: Mapping[str, object] = as_object(compiled)
    kinds: Mapping[str, Kind] = {"cron": "cron", "every": "every", "at": "at"}
    kind = kinds.get(as_text(value.get("kind")), "cron")
    schedule = parse(kind, as_text(value.get("text")), as_text(value.get("zone")) or "UTC")
    return Planned(workflow, schedule, value.get("missed") == "catch_up")


def fired(plans: Sequence[Planned], schedule: str, at: datetime, now: datetime) -> tuple[Planned, datetime] | str:
    """Return which schedule and which of its nominal times EventBridge Scheduler means; or why there is no run.

    `schedule` is its id, `at` the time (aware) it was to fire. An interval that is counted from elsewhere has its run
    for the nominal time before. Where missed times are left out Scheduler itself has left them out: what is late then
    was heard in time and is tried again. Where they are made up for, the last of them stands for all.
    """
    plan = next((plan for plan in plans if plan.id == schedule), None)
    if plan is None:
        return "no workflow has this schedule any more"
    nominal = previous_before(plan.schedule, at + timedelta(seconds=1))
    if nominal is None:
        return "the schedule has no such time"
    if not plan.catch_up or now - at <= HEARD + RETRIED:
        return plan, nominal
    later = next_after(plan.schedule, nominal)
    if later is None or later > now:
        return (plan, nominal)
    return "a later time stands for it"
