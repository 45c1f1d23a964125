"""The texts about Notion in the help of commands."""

from gofer.sources.manual import Manual

NOTION = Manual(
    source="notion",
    system="Notion",
    settings="""\
  NOTION_TOKEN           for tools of Notion; --register-notion, or NOTION_WEBHOOK_SECRET, for /notion/webhook
""",
    payload="evals/payloads/review-rfc-comments-are-anchored.json",
    guide="docs/notion.md",
    serving="""\
  gofer serve --register-notion
                             take the verification token of a new subscription; docs/notion.md tells the steps
""",
)
