"""The kind of trigger for schedules."""

from gofer.workflows.schedule_form import ScheduleForm
from gofer.workflows.when import TriggerKind, TriggerSpec

SCHEDULE = TriggerSpec(
    kinds=(
        TriggerKind(
            "schedule",
            ScheduleForm,
            foreign="cron every at",
            instead="`schedule: {cron: …}`, or `every` or `at` in place of `cron`",
        ),
    ),
)
