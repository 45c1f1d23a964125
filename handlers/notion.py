"""The function at /notion/webhook."""

from gofer.bootstrap.functions.door import door

handler = door("NOTION_WEBHOOK_SECRET", "NOTION_BOT_ID")
