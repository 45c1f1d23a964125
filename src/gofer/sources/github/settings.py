"""The settings of GitHub."""

from gofer.sources.settings import Setting, credential_setting, secrets_setting, url_setting


def _login(name: str, text: str) -> str:
    return text.strip().removeprefix("@")


TOKEN = credential_setting("GITHUB_TOKEN")
API_URL = url_setting("GITHUB_API_URL", "https://api.github.com")
"""Another one for GitHub Enterprise Server."""
WEBHOOK_SECRETS = secrets_setting("GITHUB_WEBHOOK_SECRET")
LOGIN: Setting[str] = Setting("GITHUB_LOGIN", _login, str)
"""The account that Gofer acts with; looked up when it is empty."""
