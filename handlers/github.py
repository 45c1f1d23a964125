"""The function at /github/webhook."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.receiver import receiver

handler = receiver(stand(), "GITHUB_WEBHOOK_SECRET", "GITHUB_LOGIN")
