"""The settings of Jira."""

from gofer.sources.settings import credential_setting, secrets_setting, text_setting, url_setting

BASE_URL = url_setting("JIRA_BASE_URL")
"""The site, as https://acme.atlassian.net, or the gateway that scoped tokens need."""
EMAIL = text_setting("JIRA_EMAIL")
"""The address of the account that the API token belongs to."""
API_TOKEN = credential_setting("JIRA_API_TOKEN")
WEBHOOK_SECRETS = secrets_setting("JIRA_WEBHOOK_SECRET")
ACCOUNT_ID = text_setting("JIRA_ACCOUNT_ID")
"""The account that Gofer acts with, as accountId; looked up when it is empty."""
