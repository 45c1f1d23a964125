"""The manifest of the Slack app, with exactly the scopes, events and features that the workflows need."""

from collections.abc import Iterable, Mapping, Sequence

from gofer.sources.slack.answers import ANSWERS, IN_PLACE, private_tools
from gofer.sources.slack.approvals import APPROVALS
from gofer.sources.slack.attached_files import FETCH
from gofer.sources.slack.directory import GROUPS, PEOPLE
from gofer.sources.slack.interactivity import PATH
from gofer.sources.slack.places import PLACES
from gofer.sources.slack.source_context import READ_CHANNEL, READ_THREAD
from gofer.sources.slack.subscriptions import FEEDBACK, INSTALLATION, STOPPING, SUBSCRIPTIONS
from gofer.tools.definition import AnyTool
from gofer.values.errors import ConfigError
from gofer.workflows.grants import names_group
from gofer.workflows.schema import Workflow

SOURCE = "slack"
DIRECT = "slack.direct"
"""The kind of trigger that needs a writable messages tab and Slack's agent view."""
POSTING_DIRECT = "slack_post_direct"
"""The tool that writes to the messages tab."""
STOP = "stopping"
"""The name under which scopes for stopping runs are listed."""
OPINION = "feedback"
"""The name under which scopes for feedback on answers are listed."""
ASKING = "approvals"
"""The name under which scopes of approval tools are listed. Workflow files do not name these tools."""
DESCRIPTION = "Does small jobs where colleagues ask for them, by the workflows in this company's repository."


def needed(workflows: Iterable[Workflow], tools: Iterable[AnyTool]) -> Mapping[str, frozenset[str]]:
    """Return the needed scopes, each with the tools and triggers that need it. Unused and undefined tools need none."""
    workflows = list(workflows)
    tools = list(tools)
    used = {*_lookups(workflows, tools), READ_THREAD, FETCH, *ANSWERS.tools, *_all_used(workflows)}
    by_user = {
        tool.name: tool.target.scopes for tool in tools if tool.name in used and tool.name.startswith(f"{SOURCE}_")
    }
    by_user |= {kind: SUBSCRIPTIONS[kind].scopes for kind in _kinds(workflows)}
    if _kinds(workflows):
        by_user[STOP] = STOPPING.scopes
        by_user[OPINION] = FEEDBACK.scopes
    asking = _asking(workflows, tools)
    by_user |= {ASKING: frozenset(scope for tool in tools if tool.name in asking for scope in tool.target.scopes)}
    found = sorted({scope for scopes in by_user.values() for scope in scopes})
    return {scope: frozenset(user for user, scopes in by_user.items() if scope in scopes) for scope in found}


PAGES = ("channels:read", "groups:read", "users:read")
"""Scopes for the pages: they look up full members, the members of channels, and the private channels."""


def manifest(
    workflows: Iterable[Workflow], tools: Iterable[AnyTool], *, name: str, url: str, socket: bool, sign_in: str = ""
) -> dict[str, object]:
    """Return the manifest as plain JSON. `url` is Gofer's public URL; empty with `socket`.

    `sign_in` is the URL to which Slack sends people back after they sign in to Gofer's pages; empty without a sign-in.
    Raises ConfigError if no workflow is started by Slack.
    """
    workflows = list(workflows)
    tools = list(tools)
    events = {event for kind in _kinds(workflows) for event in SUBSCRIPTIONS[kind].events}
    if not events:
        raise ConfigError("No workflow is started by Slack; write a workflow with `when: [slack.mention]` first.")
    subscriptions: dict[str, object] = {
        "bot_events": sorted({*events, *STOPPING.events, *FEEDBACK.events, *INSTALLATION})
    }
    if url:
        subscriptions = {"request_url": f"{url}/slack/events", **subscriptions}
    return {
        "display_information": {"name": name, "description": DESCRIPTION},
        "features": {**_messages(workflows), "bot_user": {"display_name": name, "always_online": True}},
        "oauth_config": _oauth(list(needed(workflows, tools)), sign_in),
        "settings": {
            "event_subscriptions": subscriptions,
            **_interactivity(workflows, tools, url),
            "org_deploy_enabled": False,
            "socket_mode_enabled": socket,
            "token_rotation_enabled": False,
        },
    }


def _messages(workflows: Sequence[Workflow]) -> dict[str, object]:
    """Return the features for direct messages: the messages tab and, if people may write there, the agent view."""
    direct = DIRECT in _kinds(workflows)
    home: dict[str, object] = {
        "home_tab_enabled": False,
        "messages_tab_enabled": direct or POSTING_DIRECT in _all_used(workflows),
        "messages_tab_read_only_enabled": not direct,
    }
    if not direct:
        return {"app_home": home}
    return {"app_home": home, "agent_view": {"agent_description": DESCRIPTION}}


def _oauth(scopes: Sequence[str], sign_in: str) -> dict[str, object]:
    if not sign_in:
        return {"scopes": {"bot": scopes}}
    # The sign-in requests nothing of a person except the identity.
    return {"redirect_urls": [sign_in], "scopes": {"user": ["openid"], "bot": sorted({*scopes, *PAGES})}}


def _all_used(workflows: Iterable[Workflow]) -> set[str]:
    return {name for workflow in workflows for name in _used(workflow)}


def _used(workflow: Workflow) -> tuple[str, ...]:
    """Return the tools that a workflow grants, and the tools that its runs call by themselves."""
    kinds = {kind for trigger in workflow.when for kind, _ in trigger.compiled()}
    tools = (*workflow.tool_names, *_people(workflow), *private_tools(workflow.reply))
    if "slack.member_joined" in kinds:
        return (*tools, READ_CHANNEL)
    return tools


def _people(workflow: Workflow) -> tuple[str, ...]:
    """Return the tools that look up the person who started a run, and that notify a person who may not."""
    tools = (*PEOPLE.tools, IN_PLACE)
    if any(one.startswith("@") for one in workflow.who):
        return (*tools, *GROUPS.tools)
    return tools


def _interactivity(workflows: Sequence[Workflow], tools: Sequence[AnyTool], url: str) -> dict[str, object]:
    """Return the settings for presses of buttons; empty when no workflow ever asks for a decision."""
    if not _asking(workflows, tools):
        return {}
    settings: dict[str, object] = {"is_enabled": True}
    if url:
        settings["request_url"] = f"{url}{PATH}"
    return {"interactivity": settings}


def _lookups(workflows: Sequence[Workflow], tools: Sequence[AnyTool]) -> set[str]:
    """Return the tools that look up places; none when no workflow has a tool that acts on a place."""
    placed = {tool.name for tool in tools if tool.target.where is not None}
    used = any(placed & set(one.tool_names) for one in workflows)
    return set(PLACES.tools * used)


def _asking(workflows: Sequence[Workflow], tools: Sequence[AnyTool]) -> set[str]:
    """Return the tools that ask people for a decision; none when no workflow needs one."""
    writing = {tool.name for tool in tools if tool.effect != "read"}
    asked = {name for one in workflows if one.approve for name in one.approve.by}
    kept = any(writing & set(one.tool_names) for one in workflows)
    if not asked and not kept:
        return set()
    if names_group(sorted(asked)):
        return {*APPROVALS.tools, *APPROVALS.group_tools}
    return {*APPROVALS.tools}


def _kinds(workflows: Iterable[Workflow]) -> list[str]:
    kinds = {kind for workflow in workflows for trigger in workflow.when for kind, _ in trigger.compiled()}
    return sorted(kinds & SUBSCRIPTIONS.keys())
