"""The function at /jira/webhook."""

from gofer.bootstrap.functions.door import door

handler = door("JIRA_WEBHOOK_SECRET", "JIRA_ACCOUNT_ID")
