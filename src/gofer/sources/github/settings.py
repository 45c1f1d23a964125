"""The settings of GitHub."""

from gofer.sources.settings import Setting, credential_setting, secrets_setting, url_setting


def _login(name: str, text: str) -> str:
    return text.strip().removeprefix("@")


TOKEN = credential_setting("GITHUB_TOKEN")
API_URL = url_setting("GITHUB_API_URL", "https://api.github.com")
"""The URL of the API; another one for GitHub Enterprise Server."""
WEBHOOK_SECRETS = secrets_setting("GITHUB_WEBHOOK_SECRET")
LOGIN: Setting[str] = Setting("GITHUB_LOGIN", _login, str)
"""The login of Gofer's own account. If the setting is empty, Gofer looks it up."""
