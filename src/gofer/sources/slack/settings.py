"""The settings of Slack, and the sentences about missing and interchanged ones."""

import re
from collections.abc import Sequence

from gofer.sources.settings import (
    Setting,
    SourceSettings,
    credential_setting,
    read_url,
    secrets_setting,
    text_setting,
    url_setting,
)
from gofer.values.errors import ConfigError

APPS = "https://api.slack.com/apps"
_ID = re.compile(r"[TEUW][A-Z0-9]{1,20}", re.ASCII)


def _api_url(name: str, text: str) -> str:
    return read_url(name, text or "https://slack.com/api") + "/"


def _ids(name: str, text: str) -> frozenset[str]:
    """Return the ids of a workspace, its organisation and a bot user. Raises ConfigError for any other text."""
    found = frozenset(one.strip() for one in text.split(",") if one.strip())
    if not all(map(_ID.fullmatch, found)):
        raise ConfigError(f"{name} is not the id of a workspace; write one such as T0123ABCD, or T0123ABCD,E0123ABCD.")
    return found


def _listed(ids: frozenset[str]) -> str:
    return ",".join(sorted(ids))


SIGNING_SECRETS = secrets_setting("SLACK_SIGNING_SECRET")
BOT_TOKEN = credential_setting("SLACK_BOT_TOKEN")
APP_TOKEN = credential_setting("SLACK_APP_TOKEN")
"""The app-level token for Socket Mode, in which Gofer opens the connection and needs no public URL."""
API_URL: Setting[str] = Setting("SLACK_API_URL", _api_url, str)
TEAM_IDS: Setting[frozenset[str]] = Setting("SLACK_TEAM_ID", _ids, _listed)
"""The app's workspace, its organisation and its bot user. If the setting is empty, Gofer looks them up."""
WORKSPACE_URL = url_setting("SLACK_WORKSPACE_URL")
"""The address of the workspace, such as `https://acme.slack.com`. If the setting is empty, Gofer looks it up."""
CLIENT_ID = text_setting("SLACK_CLIENT_ID")
"""The app's client id, for the sign-in to Gofer's pages when they are not on the reader's own machine."""
CLIENT_SECRET = credential_setting("SLACK_CLIENT_SECRET")


def missing(settings: SourceSettings) -> Sequence[str]:
    """Return a sentence for each missing setting without which Gofer cannot serve Slack."""
    found: list[str] = []
    if not settings[BOT_TOKEN]:
        found.append(
            "SLACK_BOT_TOKEN is missing: copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions "
            f"of your app at {APPS}."
        )
    if not settings[APP_TOKEN] and not settings[SIGNING_SECRETS]:
        found.append(
            "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET is missing: under Basic Information of your app, generate an "
            "App-Level Token (xapp-…) with connections:write for Socket Mode, or copy the Signing Secret for HTTP."
        )
    return found


def confused(settings: SourceSettings) -> Sequence[str]:
    """Return a sentence for each token of the wrong kind, judged by its prefix only."""
    found: list[str] = []
    if settings[BOT_TOKEN].reveal().startswith(("xapp-", "xoxp-")):
        found.append("SLACK_BOT_TOKEN holds another kind of token: the Bot User OAuth Token starts with xoxb-.")
    if settings[APP_TOKEN].reveal().startswith("xox"):
        found.append("SLACK_APP_TOKEN holds another kind of token: an App-Level Token starts with xapp-.")
    return found
