"""The texts about Jira in the help of commands."""

from gofer.sources.manual import Manual

JIRA = Manual(
    source="jira",
    system="Jira",
    settings="""\
  JIRA_API_TOKEN         with JIRA_BASE_URL and JIRA_EMAIL; JIRA_WEBHOOK_SECRET for what posts to /jira/webhook
""",
    payload="evals/payloads/answer-in-jira-may-it-go-out.json",
    mock='jira_create_issue: {refusal: The project takes no issues now., code: "400"}',
)
