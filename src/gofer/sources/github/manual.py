"""The texts about GitHub in the help of commands."""

from gofer.sources.manual import Manual

GITHUB = Manual(
    source="github",
    system="GitHub",
    settings="""\
  GITHUB_TOKEN           for tools of GitHub; GITHUB_WEBHOOK_SECRET for what posts to /github/webhook
""",
    payload="evals/payloads/assign-reviewers-chosen-among-candidates.json",
)
