"""The function at /github/webhook."""

from gofer.bootstrap.functions.door import door

handler = door("GITHUB_WEBHOOK_SECRET", "GITHUB_LOGIN")
