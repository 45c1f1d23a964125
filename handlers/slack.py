"""The function at /slack/events and /slack/interactivity."""

from gofer.bootstrap.functions.door import door
from gofer.bootstrap.functions.ground import stand

handler = door(stand(), "SLACK_SIGNING_SECRET", "SLACK_TEAM_ID")
