"""The schedules of workflows, and the decision whether a late firing starts a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gofer.values.canonical_json import as_object, as_text
from gofer.values.schedules.nominal_times import (
    Counted,
    Kind,
    Schedule,
    next_after,
    parse,
    previous_before,
    written,
)

HEARD = timedelta(seconds=90)
"""The delay up to which a firing counts as on time and not as missed."""
RETRIED = timedelta(minutes=5)
"""The additional delay of a retried firing. Lambda retries twice within three minutes."""

NOT_COUNTED = "the interval of the schedule does not end on this day"
"""Why most firings of EventBridge for an interval of days from a first time start no run."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One schedule of one workflow."""

    workflow: str
    schedule: Schedule
    catch_up: bool = False
    """Whether one run makes up for all missed times."""

    @property
    def id(self) -> str:
        """The id, which changes only with the workflow's name or its schedule."""
        return f"{self.workflow} {written(self.schedule)}"


def planned(workflow: str, compiled: object) -> Planned:
    """Return the schedule of a workflow from the compiled JSON of `workflows.schedule_form`. Raises NoSchedule."""
    value: Mapping[str, object] = as_object(compiled)
    kinds: Mapping[str, Kind] = {"cron": "cron", "every": "every", "at": "at"}
    kind = kinds.get(as_text(value.get("kind")), "cron")
    zone = as_text(value.get("zone")) or "UTC"
    schedule = parse(kind, as_text(value.get("text")), zone, as_text(value.get("first")))
    return Planned(workflow, schedule, value.get("missed") == "catch_up")


def fired(plans: Sequence[Planned], schedule: str, at: datetime, now: datetime) -> tuple[Planned, datetime] | str:
    """Return the schedule and the nominal time of a firing of EventBridge Scheduler, or the reason why no run starts.

    `schedule` is the id of the schedule, `at` the aware time at which it should have fired. EventBridge counts an
    interval from another start, so the run gets the nominal time before `at`. Without `catch_up` EventBridge itself
    drops missed times, so a late firing is a retry of a firing that was on time. With `catch_up` the last of the missed
    times starts the one run for all of them.
    """
    plan = next((plan for plan in plans if plan.id == schedule), None)
    if plan is None:
        return "no workflow has this schedule any more"
    nominal = previous_before(plan.schedule, at + timedelta(seconds=1))
    by_days = isinstance(plan.schedule, Counted) and plan.schedule.every.unit == "day"
    if by_days and (nominal is None or at - nominal >= timedelta(days=1)):
        # EventBridge fires on every day, or in every week, that may count.
        return NOT_COUNTED
    if nominal is None:
        return "the schedule has no such time"
    if not plan.catch_up or now - at <= HEARD + RETRIED:
        return plan, nominal
    later = next_after(plan.schedule, nominal)
    if later is None or later > now:
        return (plan, nominal)
    return "the run of a later time makes up for this one"
