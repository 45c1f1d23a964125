"""The function that EventBridge Scheduler calls."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.schedule import schedule_function

handler = schedule_function(stand())
