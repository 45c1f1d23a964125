"""The function at /notion/webhook."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.receiver import receiver

handler = receiver(stand(), "NOTION_WEBHOOK_SECRET", "NOTION_BOT_ID")
