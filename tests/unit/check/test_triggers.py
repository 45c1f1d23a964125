"""Overlapping triggers: the more specific one wins, and equal ones are a mistake."""

from pathlib import Path

import pytest

from gofer.app.catalog import mistakes

DEPLOYS = 'channels: "#deploys"'


def found(folder: Path, *triggers: str) -> list[str]:
    agents = folder / "agents"
    agents.mkdir()
    for number, trigger in enumerate(triggers):
        name = "abc"[number]
        (agents / f"{name}.yaml").write_text(f'description: Does it.\nowner: "#o"\nwhen:\n  - {trigger}\n')
        (agents / f"{name}.md").write_text("Do it.\n")
    return [str(one) for one in mistakes(agents) if one.rule == "duplicate-trigger"]


@pytest.mark.parametrize(
    "triggers",
    [
        ("slack.mention", f"slack.mention: {{{DEPLOYS}}}"),
        (f"slack.mention: {{{DEPLOYS}}}", "slack.mention"),
        ("slack.mention", "slack.mention: {channels: C0DEPLOY0}"),
        ("slack.mention: {channels: 'dep*'}", f"slack.mention: {{{DEPLOYS}}}"),
        ("slack.mention", "slack.mention: {channels: 'dep*'}", f"slack.mention: {{{DEPLOYS}}}"),
        ("slack.mention", f"slack.message: {{{DEPLOYS}, replies: true}}"),
        ("slack.mention: {follow_ups: true}", f"slack.mention: {{{DEPLOYS}, follow_ups: true}}"),
        ("slack.reaction: {emoji: x}", f"slack.reaction: {{emoji: [x, y], {DEPLOYS}}}"),
        ("slack.channel_created", "slack.channel_created: {name: proj-*}"),
        ("jira.issue_created", "jira.issue_created: {project: OPS}"),
        ("github.push: {repository: acme/*}", "github.push: {repository: acme/shop}"),
        ("schedule: {every: 1 day}", "schedule: {every: 1 day}"),
    ],
)
def test_overlapping_trigger_with_a_more_specific_place_is_accepted(tmp_path: Path, triggers: tuple[str, ...]) -> None:
    assert found(tmp_path, *triggers) == []


NARROWER = 'A trigger that names the place more specifically, such as `channels: "#deploys"`, wins over the other.'


@pytest.mark.parametrize(
    ("one", "other", "hint"),
    [
        ("slack.mention", "slack.mention", NARROWER),
        ("slack.mention: {channels: any}", "slack.mention: {channels: '*'}", NARROWER),
        (f"slack.mention: {{{DEPLOYS}}}", f"slack.message: {{{DEPLOYS}}}", NARROWER),
        ("slack.mention: {channels: ['#x', 'dep*']}", "slack.mention: {channels: [deploys, 'dep*']}", NARROWER),
        ("slack.mention: {channels: 'team-*'}", "slack.mention: {channels: '*-ops'}", NARROWER),
        (
            f"slack.mention: {{{DEPLOYS}}}",
            "slack.mention: {channels: C0DEPLOY0}",
            "Write the places of both by name, or of both by id; the check cannot compare a name with an id.",
        ),
        ("slack.direct", "slack.direct", "add conditions so that no event matches both."),
        ("jira.commented", "jira.commented", "such as `project: OPS`, wins over the other."),
        ("github.push: {branch: main}", "github.push: {branch: main}", "such as `repository: acme/shop`"),
    ],
)
def test_equally_specific_triggers_are_a_mistake_with_a_hint(tmp_path: Path, one: str, other: str, hint: str) -> None:
    (told,) = found(tmp_path, one, other)
    assert "b.yaml" in told
    assert "may also start the workflow in a.yaml" in told
    assert hint in told
