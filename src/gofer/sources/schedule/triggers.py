"""The kind of triggers of schedules."""

from collections.abc import Sequence

from gofer.workflows.schedule_form import ScheduleForm
from gofer.workflows.when import TriggerKind

KINDS: Sequence[TriggerKind] = (TriggerKind("schedule", ScheduleForm),)
