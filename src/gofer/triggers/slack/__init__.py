"""The Slack receiver: verifies and translates deliveries."""

from gofer.triggers.slack.door import WINDOW, SlackDoor, sign
from gofer.triggers.slack.posts import TEXT_LIMIT
from gofer.triggers.slack.subscriptions import INSTALLATION, STOPPING, SUBSCRIPTIONS, Subscription

__all__ = ["INSTALLATION", "STOPPING", "SUBSCRIPTIONS", "TEXT_LIMIT", "WINDOW", "SlackDoor", "Subscription", "sign"]
