"""The function at /hooks/<name>."""

from gofer.bootstrap.functions.hooks import hooks_door

handler = hooks_door()
