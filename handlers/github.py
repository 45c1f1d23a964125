"""The function at /github/webhook."""

from gofer.bootstrap.functions.door import door
from gofer.bootstrap.functions.ground import stand

handler = door(stand(), "GITHUB_WEBHOOK_SECRET", "GITHUB_LOGIN")
