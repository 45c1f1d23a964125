"""The function at /notion/webhook."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.receiver import source_receiver

handler = source_receiver(stand(), "notion")
