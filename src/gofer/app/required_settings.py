"""What does serving a real Slack need to be told, and where does an operator find it?"""

from gofer.app.settings import Settings
from gofer.values.errors import ConfigError

APPS = "https://api.slack.com/apps"


def check_complete(settings: Settings) -> None:
    """Raises ConfigError with one line for each setting that is missing or of the wrong kind."""
    wrong = [*_missing(settings), *_confused(settings)]
    if wrong:
        raise ConfigError("\n".join([*wrong, "Write them into .env or the environment; see docs/slack-app.md."]))


def _missing(settings: Settings) -> list[str]:
    missing: list[str] = []
    if not settings.slack_bot_token:
        missing.append(
            "SLACK_BOT_TOKEN is missing: copy the Bot User OAuth Token (xoxb-…) from OAuth & Permissions "
            f"of your app at {APPS}."
        )
    if not settings.slack_app_token and not settings.slack_signing_secrets:
        missing.append(
            "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET is missing: under Basic Information of your app, generate an "
            "App-Level Token (xapp-…) with connections:write for Socket Mode, or copy the Signing Secret for HTTP."
        )
    if not settings.has_model:
        missing.append(
            "OPENAI_API_KEY is missing: write your provider's key, or OPENAI_BASE_URL for a compatible endpoint, or "
            "MODEL_BASE_URLS for endpoints of agents/defaults.yaml."
        )
    return missing


def _confused(settings: Settings) -> list[str]:
    """Tokens that stand in each other's place; only their first letters are looked at, and none is shown."""
    confused: list[str] = []
    if settings.slack_bot_token.reveal().startswith(("xapp-", "xoxp-")):
        confused.append("SLACK_BOT_TOKEN holds another kind of token: the Bot User OAuth Token starts with xoxb-.")
    if settings.slack_app_token.reveal().startswith("xox"):
        confused.append("SLACK_APP_TOKEN holds another kind of token: an App-Level Token starts with xapp-.")
    return confused
