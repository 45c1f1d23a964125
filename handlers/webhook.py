"""The function at /hooks/<name>."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.webhook import webhook_receiver

handler = webhook_receiver(stand())
