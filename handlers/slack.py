"""The function at /slack/events and /slack/interactivity."""

from gofer.bootstrap.functions.door import door

handler = door("SLACK_SIGNING_SECRET")
