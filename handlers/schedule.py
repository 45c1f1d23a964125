"""The function that EventBridge Scheduler calls."""

from gofer.bootstrap.functions.ground import stand
from gofer.bootstrap.functions.schedule import schedule_function

handler = schedule_function(stand())
