"""The function at /hooks/<name>."""

from gofer.bootstrap.functions.ground import stand
from gofer.bootstrap.functions.hooks import hooks_door

handler = hooks_door(stand())
