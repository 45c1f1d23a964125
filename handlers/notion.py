"""The function at /notion/webhook."""

from gofer.bootstrap.functions.door import door
from gofer.bootstrap.functions.ground import stand

handler = door(stand(), "NOTION_WEBHOOK_SECRET", "NOTION_BOT_ID")
