"""A folder with a workflow that has every trigger, laid out as a repository."""

from pathlib import Path

WORKFLOW = """\
description: Everything starts it.
owner: "#dev-experience"
when:
  - slack.mention
  - slack.message: {channels: any}
  - slack.direct
  - slack.reaction: {emoji: ticket}
  - slack.channel_created
  - slack.member_joined
  - jira.issue_created
  - jira.issue_updated: {project: OPS, field: status, to: In Progress}
  - jira.commented
  - jira.attachment_added
  - notion.page_created
  - notion.properties_updated
  - notion.content_updated
  - notion.commented
  - github.pull_request: {action: "*"}
  - github.issue: {action: "*"}
  - github.comment
  - github.review
  - github.push
"""
HOOKS = """\
description: A webhook or the clock starts it.
owner: "#dev-experience"
when:
  - webhook: {name: new-hire, auth: bearer, key: /id}
  - webhook: {name: alarm}
  - webhook: {name: form, auth: bearer, private: true}
  - schedule: {cron: "0 9 ? * MON *", zone: Europe/Berlin}
  - schedule: {every: 7 days}
"""


def every_trigger(root: Path) -> Path:
    """Write the folder; return `agents/` in it."""
    agents = root / "agents"
    agents.mkdir()
    for name, text in (("everything", WORKFLOW), ("called", HOOKS)):
        (agents / f"{name}.yaml").write_text(text)
        (agents / f"{name}.md").write_text("Say what happened.\n")
    return agents
