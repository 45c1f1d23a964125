"""The simulated Slack: the Web API, the Events API and a page for people, over one workspace in memory."""

from gofer_simulators.slack.delivery import Pace
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Channel, Message, SlackRefusal, User, Workspace

__all__ = ["Channel", "Message", "Pace", "SlackRefusal", "SlackSimulator", "User", "Workspace"]
