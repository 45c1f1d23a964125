"""Which doors are there, on which path, and which of them let anybody in?

What is imported here is on the way of every cold start to its first 2xx.
"""

from collections.abc import Mapping

from gofer.bootstrap.notion_token import Registering
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


def doors(settings: Settings, window: Registering | None = None) -> dict[str, Door]:
    """The doors of the sources that are set up, by path; a source without a secret has none.

    With a window that of Notion is there without a secret, and takes one while the window is open.
    """
    found: dict[str, Door] = {}
    if settings.slack_signing_secrets:
        found[PATHS["slack"]] = SlackDoor(settings.slack_signing_secrets)
        found[slack_actions.PATH] = slack_actions.SlackActionsDoor(settings.slack_signing_secrets)
    if settings.github_webhook_secrets:
        found[PATHS["github"]] = GitHubDoor(
            settings.github_webhook_secrets, frozenset(_named(settings.github_login.lower()))
        )
    if settings.jira_webhook_secrets:
        found[PATHS["jira"]] = JiraDoor(settings.jira_webhook_secrets, _named(settings.jira_account_id))
    if window is not None:
        own = _named(settings.notion_bot_id)
        found[PATHS["notion"]] = NotionDoor(window.secrets, own, window.is_open)
    elif settings.notion_webhook_secrets:
        found[PATHS["notion"]] = NotionDoor(settings.notion_webhook_secrets, _named(settings.notion_bot_id))
    return found


def _named(account: str) -> tuple[str, ...]:
    return (account,) if account else ()
