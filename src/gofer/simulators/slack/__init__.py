"""What does Slack know, answer and send?

The Web API, the Events API and a page for people, over one workspace in memory. Written after the vendor's
wire formats; nothing of ours but errors and the room's own values is imported.
"""

from gofer.simulators.slack.delivery import Pace
from gofer.simulators.slack.simulator import SlackSimulator
from gofer.simulators.slack.workspace import Channel, Message, SlackRefusal, User, Workspace

__all__ = ["Channel", "Message", "Pace", "SlackRefusal", "SlackSimulator", "User", "Workspace"]
