"""The function at /hooks/<name>."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.webhook import hooks_door

handler = hooks_door(stand())
