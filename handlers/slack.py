"""The function at /slack/events and /slack/interactivity."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.receiver import receiver

handler = receiver(stand(), "SLACK_SIGNING_SECRET", "SLACK_TEAM_ID")
