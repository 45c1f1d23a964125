"""The texts about Slack in the help of commands."""

from gofer.sources.manual import Manual

SLACK = Manual(
    source="slack",
    system="Slack",
    settings="""\
  SLACK_BOT_TOKEN        the bot token, xoxb-…
  SLACK_APP_TOKEN        an app-level token, xapp-…: Socket Mode, no address needed
  SLACK_SIGNING_SECRET   for HTTP instead: Slack posts to /slack/events of your server
""",
    payload="evals/payloads/answer-here-linked-decision.json",
    guide="docs/slack-app.md",
    mock=(
        'slack_get_user: [{arguments: {name: "*Lee"}, details: {kind: guest}}, '
        "{refusal: There is no person of that name.}]"
    ),
)
