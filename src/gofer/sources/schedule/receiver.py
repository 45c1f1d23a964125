"""The event of a schedule's time, and the receiver of payloads that name such a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from typing_extensions import override

from gofer.sources.receiver import Ignored, RawRequest, Receiver, json_object
from gofer.values.canonical_json import as_text
from gofer.values.errors import BadRequest
from gofer.values.events import Actor, Event
from gofer.values.schedules.nominal_times import Schedule, local, next_after, previous_before, written, zone_name
from gofer.values.schedules.planned import Planned, fired

_YEARS = range(1970, 2200)
"""The years in which schedules have times."""


def scheduled(workflow: str, schedule: Schedule, nominal: datetime) -> Event:
    """Return the event of a workflow's schedule at a nominal time (aware)."""
    zone = zone_name(schedule)
    shown = local(schedule, nominal)
    return Event(
        source="schedule",
        kind="schedule",
        identity=(workflow, written(schedule), _written(nominal)),
        conversation=f"schedule:{workflow}",
        actor=Actor("schedule", "bot"),
        text=f"Scheduled for {shown.strftime('%A, %Y-%m-%d %H:%M')} ({zone}).",
        place={"scheduled": shown.isoformat()},
        private=False,
        facts={"workflow": workflow},
    )


@dataclass(frozen=True, slots=True)
class ScheduleReceiver(Receiver):
    """The receiver of schedules' payloads, which have one of two forms.

    People write `{"workflow": …, "scheduled": <ISO time>}` with a nominal time. EventBridge Scheduler sends the payload
    that `gofer publish` configured: `{"workflow": …, "schedule": <id>, "at": <ISO time>}`, and for its maintenance jobs
    `{"sweep": true}` and `{"purge": true}`.
    """

    plans: Sequence[Planned]

    @override
    def verify(self, request: RawRequest, now: float) -> None:
        # An external sender must never start a schedule.
        raise BadRequest(401, "Gofer accepts schedules from inside only.")

    @override
    def translate(self, request: RawRequest) -> Event | Ignored:
        match json_object(request.body):
            case {"sweep": True}:
                return Ignored("told_elsewhere", "it is the sweep, which enqueues abandoned runs and begins none")
            case {"purge": True}:
                return Ignored("told_elsewhere", "it is the purge, which deletes what is due and begins no run")
            case {"workflow": str(), "schedule": str(schedule), "at": str(at)}:
                return self._fired(as_text(schedule), fire_time(as_text(at)))
            case body:
                return self._named(as_text(body.get("workflow")), _nominal(as_text(body.get("scheduled"))))

    def _fired(self, schedule: str, at: datetime) -> Event | Ignored:
        """Return the event of a time that EventBridge Scheduler names, or the decision that starts nothing."""
        found = fired(self.plans, schedule, at, at)
        if isinstance(found, str):
            return Ignored("no_schedule", found)
        plan, nominal = found
        return scheduled(plan.workflow, plan.schedule, nominal)

    def _named(self, workflow: str, nominal: datetime) -> Event | Ignored:
        schedules = [plan.schedule for plan in self.plans if plan.workflow == workflow]
        if not schedules:
            return Ignored("no_schedule", f"no workflow {workflow[:40]!r} has a schedule")
        for schedule in schedules:
            if previous_before(schedule, nominal + timedelta(microseconds=1)) == nominal:
                return scheduled(workflow, schedule, nominal)
        reason = f"no schedule of {workflow} has a time then; {_around(schedules, nominal)}"
        return Ignored("no_schedule", reason)


def fire_time(text: str) -> datetime:
    """Return the time in a payload of EventBridge Scheduler, in UTC. Raises BadRequest(400)."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(400, "`at` is not a time; the schedule must send <aws.scheduler.scheduled-time>.") from error
    if time.year not in _YEARS:
        raise BadRequest(400, "`at` is not between 1970 and 2199; the schedule must send its scheduled time.")
    if time.tzinfo is None:
        return time.replace(tzinfo=UTC)
    return time.astimezone(UTC)


def _nominal(text: str) -> datetime:
    """Return the time in a payload by a person, in UTC. Raises BadRequest(400)."""
    if not text:
        raise BadRequest(400, "`scheduled` is missing or not text; write a time such as 2026-12-01T09:00:00Z.")
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(400, "`scheduled` is not a time; write one such as 2026-12-01T09:00:00Z.") from error
    if time.tzinfo is None or time.year not in _YEARS:
        raise BadRequest(400, "`scheduled` has no zone or is not between 1970 and 2199; write 2026-12-01T09:00:00Z.")
    return time.astimezone(UTC)


def _around(schedules: Sequence[Schedule], time: datetime) -> str:
    before = max(filter(None, (previous_before(one, time) for one in schedules)), default=None)
    after = min(filter(None, (next_after(one, time) for one in schedules)), default=None)
    last = f"the last one before is {_written(before)}" if before else "there is none before"
    return f"{last}, {f'the next is {_written(after)}' if after else 'there is none after'}"


def _written(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
