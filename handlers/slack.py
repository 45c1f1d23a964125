"""The function at /slack/events and /slack/interactivity."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.receiver import source_receiver

handler = source_receiver(stand(), "slack")
