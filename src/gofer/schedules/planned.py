"""Which workflow is a schedule for, and what becomes of times that were missed?"""

from collections.abc import Mapping
from dataclasses import dataclass

from gofer.canonical import as_object, as_text
from gofer.schedules.schedule import Kind, Schedule, expression, parse, zone_name


@dataclass(frozen=True, slots=True)
class Planned:
    """One schedule of one workflow."""

    workflow: str
    schedule: Schedule
    catch_up: bool = False
    """Whether there is one run for all the times at which nobody listened."""

    @property
    def id(self) -> str:
        """The same as long as neither the workflow's name nor its schedule changes."""
        return f"{self.workflow} {expression(self.schedule)} {zone_name(self.schedule)}"


def planned(workflow: str, compiled: object) -> Planned:
    """The schedule of a workflow from its compiled JSON, as `workflows.schedule` makes it. Raises NoSchedule."""
    value: Mapping[str, object] = as_object(compiled)
    kinds: Mapping[str, Kind] = {"cron": "cron", "every": "every", "at": "at"}
    kind = kinds.get(as_text(value.get("kind")), "cron")
    schedule = parse(kind, as_text(value.get("text")), as_text(value.get("zone")) or "UTC")
    return Planned(workflow, schedule, value.get("missed") == "catch_up")
