"""The kind of triggers of schedules."""

from gofer.workflows.schedule_form import ScheduleForm
from gofer.workflows.when import TriggerKind, TriggerSpec

SCHEDULE = TriggerSpec(kinds=(TriggerKind("schedule", ScheduleForm),))
