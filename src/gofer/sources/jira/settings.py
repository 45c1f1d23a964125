"""The settings of Jira."""

from gofer.sources.settings import credential_setting, secrets_setting, text_setting, url_setting

BASE_URL = url_setting("JIRA_BASE_URL")
"""The URL of the site, such as https://acme.atlassian.net, or of the gateway that scoped tokens need."""
EMAIL = text_setting("JIRA_EMAIL")
"""The email address of the API token's account."""
API_TOKEN = credential_setting("JIRA_API_TOKEN")
WEBHOOK_SECRETS = secrets_setting("JIRA_WEBHOOK_SECRET")
ACCOUNT_ID = text_setting("JIRA_ACCOUNT_ID")
"""The accountId of Gofer's own account. If the setting is empty, Gofer looks it up."""
