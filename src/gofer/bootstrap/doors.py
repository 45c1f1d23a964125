"""Which doors are there, on which path, and which of them let anybody in?

What is imported here is on the way of every cold start to its first 2xx.
"""

import logging
from collections.abc import Mapping

from gofer.bootstrap.settings import Settings
from gofer.triggers import slack_actions
from gofer.triggers.door import Door
from gofer.triggers.github import GitHubDoor
from gofer.triggers.jira import JiraDoor
from gofer.triggers.notion import NotionDoor
from gofer.triggers.slack import SlackDoor

PATHS: Mapping[str, str] = {
    "slack": "/slack/events",
    "jira": "/jira/webhook",
    "notion": "/notion/webhook",
    "github": "/github/webhook",
}
"""Where each source delivers."""

_log = logging.getLogger(__name__)


def doors(settings: Settings) -> dict[str, Door]:
    """The doors of the sources that are set up, by path; a source without a secret has none."""
    found: dict[str, Door] = {}
    if settings.slack_signing_secrets:
        found[PATHS["slack"]] = SlackDoor(settings.slack_signing_secrets)
        found[slack_actions.PATH] = slack_actions.SlackActionsDoor(settings.slack_signing_secrets)
    if settings.github_webhook_secrets:
        found[PATHS["github"]] = GitHubDoor(settings.github_webhook_secrets)
    if settings.jira_webhook_secrets:
        if not settings.jira_accounts:
            _log.warning("what Gofer writes in Jira may start runs again: set JIRA_ACCOUNT_ID to its account there")
        found[PATHS["jira"]] = JiraDoor(settings.jira_webhook_secrets, settings.jira_accounts)
    if settings.notion_webhook_secrets:
        found[PATHS["notion"]] = NotionDoor(settings.notion_webhook_secrets)
    return found


def open_doors() -> Mapping[str, Door]:
    """A door of each source that translates, and verifies nobody: for payloads that somebody has in a file."""
    return {"slack": SlackDoor(()), "jira": JiraDoor(()), "notion": NotionDoor(()), "github": GitHubDoor(())}
