"""Which Slack app do these workflows need? Its manifest: scopes and events by what runs do, and nothing beyond."""

from collections.abc import Iterable, Mapping
from typing import Any

from gofer import deliver
from gofer.engine import admission
from gofer.errors import ConfigError
from gofer.tools.tool import Tool
from gofer.triggers.slack import SUBSCRIPTIONS
from gofer.workflows.schema import Workflow

SOURCE = "slack"
DESCRIPTION = "Does small jobs where colleagues ask for them, by the workflows in this company's repository."


def needed(workflows: Iterable[Workflow], tools: Iterable[Tool[Any]]) -> Mapping[str, frozenset[str]]:
    """What Slack has to allow: who needs it, by scope. A tool nobody uses and nobody defined needs nothing."""
    workflows = list(workflows)
    used = {*admission.TOOLS, *deliver.TOOLS, *(name for workflow in workflows for name in workflow.tool_names)}
    by_user = {tool.name: tool.scopes for tool in tools if tool.name in used and tool.name.startswith(f"{SOURCE}_")}
    by_user |= {kind: SUBSCRIPTIONS[kind].scopes for kind in _kinds(workflows)}
    found = sorted({scope for scopes in by_user.values() for scope in scopes})
    return {scope: frozenset(user for user, scopes in by_user.items() if scope in scopes) for scope in found}


def manifest(
    workflows: Iterable[Workflow], tools: Iterable[Tool[Any]], *, name: str, url: str, socket: bool
) -> dict[str, object]:
    """The manifest as plain JSON. `url` is where Gofer can be reached; empty with `socket`. Raises ConfigError."""
    workflows = list(workflows)
    events = sorted({event for kind in _kinds(workflows) for event in SUBSCRIPTIONS[kind].events})
    if not events:
        raise ConfigError("No workflow is started by Slack; write a workflow with `when: [slack.mention]` first.")
    subscriptions: dict[str, object] = {"bot_events": events}
    if url:
        subscriptions = {"request_url": f"{url}/slack/events", **subscriptions}
    return {
        "display_information": {"name": name, "description": DESCRIPTION},
        "features": {"bot_user": {"display_name": name, "always_online": True}},
        "oauth_config": {"scopes": {"bot": list(needed(workflows, tools))}},
        "settings": {
            "event_subscriptions": subscriptions,
            "org_deploy_enabled": False,
            "socket_mode_enabled": socket,
            "token_rotation_enabled": False,
        },
    }


def _kinds(workflows: Iterable[Workflow]) -> list[str]:
    kinds = {kind for workflow in workflows for trigger in workflow.when for kind, _ in trigger.compiled()}
    return sorted(kinds & SUBSCRIPTIONS.keys())
