"""The manifest of the Slack app that workflows need: scopes, events and features by what runs do, and no others."""

from collections.abc import Iterable, Mapping, Sequence

from gofer.sources.slack.answers import ANSWERS, IN_PLACE, private_tools
from gofer.sources.slack.approvals import APPROVALS
from gofer.sources.slack.asker import GROUPS, PEOPLE
from gofer.sources.slack.attached_files import FETCH
from gofer.sources.slack.interactivity import PATH
from gofer.sources.slack.judged_places import PLACES
from gofer.sources.slack.source_context import READ_CHANNEL, READ_THREAD
from gofer.sources.slack.subscriptions import INSTALLATION, STOPPING, SUBSCRIPTIONS
from gofer.tools.definition import AnyTool
from gofer.values.errors import ConfigError
from gofer.workflows.grants import names_group
from gofer.workflows.schema import Workflow

SOURCE = "slack"
DIRECT = "slack.direct"
"""The kind of trigger that needs a messages tab to write in, and the pane of agents."""
POSTING_DIRECT = "slack_post_direct"
"""The tool that writes into the messages tab."""
STOP = "stopping"
"""Who needs what tells that a run is to stop."""
ASKING = "approvals"
"""Who needs what the tools are allowed that ask people for a decision, which no workflow names."""
DESCRIPTION = "Does small jobs where colleagues ask for them, by the workflows in this company's repository."


def needed(workflows: Iterable[Workflow], tools: Iterable[AnyTool]) -> Mapping[str, frozenset[str]]:
    """What Slack has to allow: who needs it, by scope. A tool nobody uses and nobody defined needs nothing."""
    workflows, tools = list(workflows), list(tools)
    used = {*_lookups(workflows, tools), READ_THREAD, FETCH, *ANSWERS.tools, *_all_used(workflows)}
    by_user = {tool.name: tool.scopes for tool in tools if tool.name in used and tool.name.startswith(f"{SOURCE}_")}
    by_user |= {kind: SUBSCRIPTIONS[kind].scopes for kind in _kinds(workflows)}
    by_user |= {STOP: STOPPING.scopes} if _kinds(workflows) else {}
    asking = _asking(workflows, tools)
    by_user |= {ASKING: frozenset(scope for tool in tools if tool.name in asking for scope in tool.scopes)}
    found = sorted({scope for scopes in by_user.values() for scope in scopes})
    return {scope: frozenset(user for user, scopes in by_user.items() if scope in scopes) for scope in found}


PAGES = ("channels:read", "groups:read", "users:read")
"""Scopes with which the pages find out who is a full member, who is in a channel and which channels are private."""


def manifest(
    workflows: Iterable[Workflow], tools: Iterable[AnyTool], *, name: str, url: str, socket: bool, sign_in: str = ""
) -> dict[str, object]:
    """The manifest as plain JSON. `url` is where Gofer can be reached; empty with `socket`.

    `sign_in` is the URL that Slack sends people back to who sign in to Gofer's pages; empty where nobody does. Raises
    ConfigError.
    """
    workflows = list(workflows)
    tools = list(tools)
    told = {event for kind in _kinds(workflows) for event in SUBSCRIPTIONS[kind].events}
    if not told:
        raise ConfigError("No workflow is started by Slack; write a workflow with `when: [slack.mention]` first.")
    subscriptions: dict[str, object] = {"bot_events": sorted({*told, *STOPPING.events, *INSTALLATION})}
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
    """Return who may write in the messages tab, and the pane of agents where people may."""
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
    # Of a person nothing is asked but who it is.
    return {"redirect_urls": [sign_in], "scopes": {"user": ["openid"], "bot": sorted({*scopes, *PAGES})}}


def _all_used(workflows: Iterable[Workflow]) -> set[str]:
    return {name for workflow in workflows for name in _used(workflow)}


def _used(workflow: Workflow) -> tuple[str, ...]:
    """The tools of a workflow, and those that its runs call by themselves for what its file says."""
    kinds = {kind for trigger in workflow.when for kind, _ in trigger.compiled()}
    reading = (READ_CHANNEL,) if "slack.member_joined" in kinds else ()
    return (*workflow.tool_names, *_people(workflow), *private_tools(workflow.reply), *reading)


def _people(workflow: Workflow) -> tuple[str, ...]:
    """Return the tools that look up who started a run, and the word to a person who may not."""
    tools = (*PEOPLE.tools, IN_PLACE)
    if any(one.startswith("@") for one in workflow.who):
        return (*tools, *GROUPS.tools)
    return tools


def _interactivity(workflows: Sequence[Workflow], tools: Sequence[AnyTool], url: str) -> dict[str, object]:
    """Where presses of buttons go; nothing when no workflow ever asks."""
    if not _asking(workflows, tools):
        return {}
    return {"interactivity": {"is_enabled": True, **({"request_url": f"{url}{PATH}"} if url else {})}}


def _lookups(workflows: Sequence[Workflow], tools: Sequence[AnyTool]) -> set[str]:
    """The tools that look up the places of calls; none when no workflow has a tool that acts on a place."""
    placed = {tool.name for tool in tools if tool.where is not None}
    used = any(placed & set(one.tool_names) for one in workflows)
    return set(PLACES.tools * used)


def _asking(workflows: Sequence[Workflow], tools: Sequence[AnyTool]) -> set[str]:
    """The tools that ask people for a decision; none when no workflow needs one."""
    writing = {tool.name for tool in tools if tool.effect != "read"}
    asked = {name for one in workflows if one.approve for name in one.approve.by}
    kept = any(writing & set(one.tool_names) for one in workflows)
    groups = APPROVALS.group_tools if names_group(sorted(asked)) else ()
    return {*APPROVALS.tools, *groups} if asked or kept else set()


def _kinds(workflows: Iterable[Workflow]) -> list[str]:
    kinds = {kind for workflow in workflows for trigger in workflow.when for kind, _ in trigger.compiled()}
    return sorted(kinds & SUBSCRIPTIONS.keys())
