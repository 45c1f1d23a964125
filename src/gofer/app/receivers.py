"""The receivers that are set up, by path, and the settings that hold their secrets.

What is imported here is on the way of every cold start to its first 2xx.
"""

from collections.abc import Iterable, Mapping

from gofer.app.notion_token import Registering
from gofer.app.settings import Settings
from gofer.sources.github.receiver import GitHubReceiver
from gofer.sources.jira.receiver import JiraReceiver
from gofer.sources.notion.receiver import NotionReceiver
from gofer.sources.receiver import Receiver
from gofer.sources.slack import interactivity
from gofer.sources.slack.receiver import SlackReceiver
from gofer.sources.webhook.hook import Hook, variable

PATHS: Mapping[str, str] = {
    "slack": "/slack/events",
    "jira": "/jira/webhook",
    "notion": "/notion/webhook",
    "github": "/github/webhook",
}
"""Where each source delivers."""
_SETTINGS: Mapping[str, str] = {
    "slack": "SLACK_SIGNING_SECRET",
    "jira": "JIRA_WEBHOOK_SECRET",
    "notion": "NOTION_WEBHOOK_SECRET",
    "github": "GITHUB_WEBHOOK_SECRET",
}


def secret_settings(hooks: Iterable[Hook]) -> Mapping[str, str]:
    """Return the setting with the secret of every source by its path, also of those that are not set up."""
    found = {PATHS[source]: setting for source, setting in _SETTINGS.items()}
    found[interactivity.PATH] = _SETTINGS["slack"]
    for hook in hooks:
        found[hook.path] = f"{variable(hook.name)} or WEBHOOK_SECRET"
    return found


def receivers(settings: Settings, window: Registering | None = None) -> dict[str, Receiver]:
    """The doors of the sources that are set up, by path; a source without a secret has none.

    With a window that of Notion is there without a secret, and takes one while the window is open.
    """
    found: dict[str, Receiver] = {}
    if settings.slack_signing_secrets:
        found[PATHS["slack"]] = SlackReceiver(settings.slack_signing_secrets)
        found[interactivity.PATH] = interactivity.InteractivityReceiver(
            settings.slack_signing_secrets, settings.slack_team_ids
        )
    if settings.github_webhook_secrets:
        found[PATHS["github"]] = GitHubReceiver(
            settings.github_webhook_secrets, frozenset(_named(settings.github_login.lower()))
        )
    if settings.jira_webhook_secrets:
        found[PATHS["jira"]] = JiraReceiver(settings.jira_webhook_secrets, _named(settings.jira_account_id))
    if window is not None:
        own = _named(settings.notion_bot_id)
        found[PATHS["notion"]] = NotionReceiver(window.secrets, own, window.is_open)
    elif settings.notion_webhook_secrets:
        found[PATHS["notion"]] = NotionReceiver(settings.notion_webhook_secrets, _named(settings.notion_bot_id))
    return found


def _named(account: str) -> tuple[str, ...]:
    return (account,) if account else ()
