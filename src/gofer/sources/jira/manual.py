"""The texts about Jira in the help of commands."""

from gofer.sources.manual import Manual

JIRA = Manual(
    source="jira",
    system="Jira",
    settings="""\
  JIRA_API_TOKEN         with JIRA_BASE_URL and JIRA_EMAIL; JIRA_WEBHOOK_SECRET for what posts to /jira/webhook
""",
    payload="tests/events/jira_issue_updated.json",
    mock='jira_create_issue: {refusal: The project takes no issues now., code: "400"}',
)
