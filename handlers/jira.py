"""The function at /jira/webhook."""

from gofer.bootstrap.functions.door import door
from gofer.bootstrap.functions.ground import stand

handler = door(stand(), "JIRA_WEBHOOK_SECRET", "JIRA_ACCOUNT_ID")
