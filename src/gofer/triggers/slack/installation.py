"""Translates Slack's words about the app itself: it is rate limited, its tokens are revoked, it was uninstalled."""

from gofer.canonical import as_list, as_object
from gofer.triggers.door import Ignored
from gofer.triggers.slack.delivery import Delivery


def app_rate_limited() -> Ignored:
    """Return why Slack holds events back, and what the operator can do."""
    return Ignored(
        "slack_rate_limited",
        "Slack holds back events of this app, because more than 30,000 came in an hour or too few were answered "
        "with a 2xx; take events from the app that no workflow needs (`gofer manifest` lists those they need), and "
        "look for refused deliveries in this log",
    )


def tokens_revoked(delivery: Delivery) -> Ignored:
    """Return what to do about revoked tokens; those of people are not Gofer's."""
    if not as_list(as_object(delivery.event.get("tokens")).get("bot")):
        return Ignored("told_elsewhere", "it revokes tokens of people, which Gofer does not use")
    return Ignored(
        "slack_tokens_revoked",
        "Slack revoked the token of Gofer's bot; install the app again and set SLACK_BOT_TOKEN to its new token",
    )


def app_uninstalled(delivery: Delivery) -> Ignored:
    """Return what to do about an app that a workspace removed."""
    return Ignored(
        "slack_uninstalled",
        "the app was uninstalled from its workspace; install it again and set SLACK_BOT_TOKEN to its new token",
    )
