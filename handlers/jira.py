"""The function at /jira/webhook."""

from gofer.app.functions.foundation import stand
from gofer.app.functions.receiver import receiver

handler = receiver(stand(), "JIRA_WEBHOOK_SECRET", "JIRA_ACCOUNT_ID")
