"""What happened when a schedule fired? The same event, however often and however late it is heard of."""

from datetime import UTC, datetime

from gofer.events import Actor, Event
from gofer.schedules.schedule import Schedule, expression, local, zone_name


def scheduled(workflow: str, schedule: Schedule, nominal: datetime) -> Event:
    """The event of a workflow's schedule at a nominal time (aware)."""
    zone, shown = zone_name(schedule), local(schedule, nominal)
    at = nominal.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Event(
        source="schedule",
        kind="schedule",
        identity=(workflow, f"{expression(schedule)} {zone}", at),
        conversation=f"schedule:{workflow}",
        actor=Actor("schedule", "bot"),
        text=f"Scheduled for {shown.strftime('%A, %Y-%m-%d %H:%M')} ({zone}).",
        place={"scheduled": shown.isoformat()},
        private=False,
        facts={"workflow": workflow},
    )
